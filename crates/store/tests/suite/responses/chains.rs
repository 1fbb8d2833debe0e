//! Responses, and what was said before them.

use std::collections::HashMap;
use std::time::Instant;

use store::{Conversation, Listed, Order, Page, Responses, StoredResponse};

use super::{broken, found, item, response, said_in};
use crate::folder::Folder;

/// The whole list.
async fn input_of(responses: &Responses, key: &str, id: &str) -> Conversation {
    let page = Page { order: Order::FirstFirst, after: None, items: usize::MAX, bytes: usize::MAX };
    match responses.input_of(key, id, page).await.unwrap() {
        Listed::Page { items, has_more } => {
            assert!(!has_more);
            Conversation::Whole(items)
        }
        Listed::NoSuchItem => panic!("no item was asked for"),
        Listed::Unknown => Conversation::Unknown,
        Listed::Broken { missing } => Conversation::Broken { missing },
    }
}

#[tokio::test]
async fn what_was_kept_is_found_again() {
    let folder = Folder::new();
    let kept = StoredResponse {
        body: "{\"text\":\"ä\u{0}🦀\"}".to_owned(),
        input: vec![item("i1", "größer"), item("i2", ""), item("i1", "🦀")],
        output: vec![item("o1", "日本"), item("o2", "x")],
        ..response("a", None)
    };
    let empty = StoredResponse {
        body: String::new(),
        input: Vec::new(),
        output: Vec::new(),
        ..response("empty", None)
    };
    for response in [&kept, &empty] {
        folder.open().responses().keep(response.clone()).await.unwrap();
    }
    // By another server, after a restart.
    let responses = folder.open().responses();
    for response in [&kept, &empty] {
        assert_eq!(responses.find("default", &response.id).await.unwrap(), found(response));
        let said = [response.input.clone(), response.output.clone()].concat();
        let conversation = responses.conversation("default", &response.id).await.unwrap();
        assert_eq!(conversation, Conversation::Whole(said));
        let input = input_of(&responses, "default", &response.id).await;
        assert_eq!(input, Conversation::Whole(response.input.clone()));
    }
    assert_eq!(responses.find("default", "b").await.unwrap(), None);
    assert_eq!(responses.conversation("default", "b").await.unwrap(), Conversation::Unknown);
    assert_eq!(input_of(&responses, "default", "b").await, Conversation::Unknown);
    assert!(!responses.delete("default", "b").await.unwrap());
}

#[tokio::test]
async fn items_are_found_by_their_ids() {
    let folder = Folder::new();
    let responses = folder.open().responses();
    responses.keep(response("a", None)).await.unwrap();
    // The client sends an item back, and says something else under its id.
    let later = StoredResponse {
        input: vec![item("a-out", "said otherwise"), item("b-in", "asked")],
        ..response("b", None)
    };
    responses.keep(later).await.unwrap();
    let ids = ["a-in", "a-out", "b-in", "c-in"].map(str::to_owned).to_vec();
    let expected = [item("a-in", "asked"), item("a-out", "said otherwise"), item("b-in", "asked")];
    let expected: HashMap<_, _> = expected.map(|item| (item.id, item.json)).into();
    assert_eq!(responses.items("default", ids.clone()).await.unwrap(), expected);
    assert_eq!(responses.items("other", ids).await.unwrap(), HashMap::new());
}

#[tokio::test]
async fn nobody_finds_what_belongs_to_another_key() {
    let folder = Folder::new();
    let responses = folder.open().responses();
    let own = response("a", None);
    responses.keep(own.clone()).await.unwrap();
    assert_eq!(responses.find("other", "a").await.unwrap(), None);
    assert_eq!(responses.conversation("other", "a").await.unwrap(), Conversation::Unknown);
    assert_eq!(input_of(&responses, "other", "a").await, Conversation::Unknown);
    assert!(!responses.delete("other", "a").await.unwrap());
    // Nor can he continue it, even if he has one with the same id.
    let theirs =
        |id, previous| StoredResponse { key: "other".to_owned(), ..response(id, previous) };
    responses.keep(theirs("b", Some("a"))).await.unwrap();
    responses.keep(theirs("a", None)).await.unwrap();
    assert_eq!(responses.conversation("other", "b").await.unwrap(), broken("a"));
    assert!(responses.delete("other", "a").await.unwrap());
    assert_eq!(responses.find("default", "a").await.unwrap(), found(&own));
}

#[tokio::test]
async fn one_response_can_be_continued_by_several() {
    let folder = Folder::new();
    let responses = folder.open().responses();
    for (id, previous) in [("a", None), ("b", Some("a")), ("c", Some("a")), ("d", Some("b"))] {
        responses.keep(response(id, previous)).await.unwrap();
    }
    for chain in [&["a"][..], &["a", "b"], &["a", "c"], &["a", "b", "d"]] {
        let last = chain.last().unwrap();
        let conversation = responses.conversation("default", last).await.unwrap();
        assert_eq!(conversation, said_in(chain));
    }
    let Conversation::Whole(mut input) = said_in(&["a", "b", "d"]) else { unreachable!() };
    input.pop();
    let told = input_of(&responses, "default", "d").await;
    assert_eq!(told, Conversation::Whole(input));
}

#[tokio::test]
async fn what_continues_a_deleted_response_is_broken_and_can_be_found() {
    let folder = Folder::new();
    let responses = folder.open().responses();
    for (id, previous) in [("a", None), ("b", Some("a")), ("c", Some("b")), ("d", Some("a"))] {
        responses.keep(response(id, previous)).await.unwrap();
    }
    assert!(responses.delete("default", "b").await.unwrap());
    assert!(!responses.delete("default", "b").await.unwrap());
    assert_eq!(responses.conversation("default", "b").await.unwrap(), Conversation::Unknown);
    assert_eq!(responses.conversation("default", "c").await.unwrap(), broken("b"));
    assert_eq!(input_of(&responses, "default", "c").await, broken("b"));
    let last = response("c", Some("b"));
    assert_eq!(responses.find("default", "c").await.unwrap(), found(&last));
    assert_eq!(responses.conversation("default", "d").await.unwrap(), said_in(&["a", "d"]));
}

/// It was deleted while its continuation was being made, and comes back, which does not happen.
#[tokio::test]
async fn what_was_not_there_in_time_stays_missing() {
    let folder = Folder::new();
    let responses = folder.open().responses();
    responses.keep(response("b", Some("a"))).await.unwrap();
    responses.keep(response("a", Some("b"))).await.unwrap();
    responses.keep(response("c", Some("c"))).await.unwrap();
    assert_eq!(responses.conversation("default", "a").await.unwrap(), broken("a"));
    assert_eq!(responses.conversation("default", "b").await.unwrap(), broken("a"));
    assert_eq!(responses.conversation("default", "c").await.unwrap(), broken("c"));
}

#[tokio::test]
async fn an_id_is_given_once() {
    let folder = Folder::new();
    let responses = folder.open().responses();
    let first = response("a", None);
    responses.keep(first.clone()).await.unwrap();
    let held = responses.held().await.unwrap();
    let second = StoredResponse { body: "other".to_owned(), ..response("a", Some("a")) };
    let error = responses.keep(second).await.unwrap_err();
    assert!(error.to_string().contains("UNIQUE constraint failed"), "{error}");
    assert_eq!(responses.find("default", "a").await.unwrap(), found(&first));
    assert_eq!(responses.held().await.unwrap(), held);
}

#[tokio::test]
async fn a_conversation_can_be_very_long() {
    const LONG: usize = 10_000;
    let folder = Folder::new();
    let responses = folder.open().responses();
    let ids: Vec<_> = (0..LONG).map(|number| number.to_string()).collect();
    // Handed over in their order, and committed together.
    for ids in (0..LONG).collect::<Vec<_>>().chunks(100) {
        let keep = |number: &usize| {
            let previous = number.checked_sub(1).map(|previous| previous.to_string());
            let response = response(&number.to_string(), previous.as_deref());
            let responses = responses.clone();
            async move { responses.keep(response).await.unwrap() }
        };
        futures_util::future::join_all(ids.iter().map(keep)).await;
    }
    let begun = Instant::now();
    let told = responses.conversation("default", &ids[LONG - 1]).await.unwrap();
    println!("a conversation of {LONG} responses was read in {:?}", begun.elapsed());
    let ids: Vec<_> = ids.iter().map(String::as_str).collect();
    assert_eq!(told, said_in(&ids));
}

#[tokio::test]
async fn a_list_comes_in_pages_of_so_many_items_and_bytes() {
    let folder = Folder::new();
    let responses = folder.open().responses();
    responses.keep(response("a", None)).await.unwrap();
    responses.keep(response("b", Some("a"))).await.unwrap();
    let of = |order, after: Option<&str>, items, bytes| {
        let page = Page { order, after: after.map(str::to_owned), items, bytes };
        let responses = &responses;
        async move {
            match responses.input_of("default", "b", page).await.unwrap() {
                Listed::Page { items, has_more } => {
                    (items.into_iter().map(|item| item.id).collect::<Vec<_>>(), has_more)
                }
                other => panic!("{other:?}"),
            }
        }
    };
    let (first, last) = (Order::FirstFirst, Order::LastFirst);
    let ids = |ids: &[&str]| ids.iter().map(ToString::to_string).collect::<Vec<_>>();
    let all = usize::MAX;
    assert_eq!(of(first, None, all, all).await, (ids(&["a-in", "a-out", "b-in"]), false));
    assert_eq!(of(last, None, 2, all).await, (ids(&["b-in", "a-out"]), true));
    assert_eq!(of(last, Some("a-out"), 2, all).await, (ids(&["a-in"]), false));
    assert_eq!(of(first, None, all, 1).await, (ids(&["a-in"]), true));
    let two = item("a-in", "asked").json.len() + item("a-out", "said").json.len();
    assert_eq!(of(first, None, all, two).await, (ids(&["a-in", "a-out"]), true));
    let page = Page { order: first, after: Some("nothing".to_owned()), items: 1, bytes: all };
    assert_eq!(responses.input_of("default", "b", page).await.unwrap(), Listed::NoSuchItem);
}

#[tokio::test]
async fn what_will_be_read_can_be_measured() {
    let folder = Folder::new();
    let responses = folder.open().responses();
    responses.keep(response("a", None)).await.unwrap();
    responses.keep(response("b", Some("a"))).await.unwrap();
    let Conversation::Whole(said) = responses.conversation("default", "b").await.unwrap() else {
        panic!("a conversation")
    };
    let whole: usize = said.iter().map(|item| item.json.len()).sum();
    let measure = |previous: Option<&str>, ids: &[&str]| {
        let ids = ids.iter().map(ToString::to_string).collect();
        responses.measure("default", previous.map(str::to_owned), ids)
    };
    assert_eq!(measure(Some("b"), &[]).await.unwrap(), whole as u64);
    let one = item("a-in", "asked").json.len();
    let thrice = measure(None, &["a-in", "a-in", "none", "a-in"]).await.unwrap();
    assert_eq!(thrice, 3 * one as u64);
    assert_eq!(responses.items("default", vec!["a-in".to_owned(); 3]).await.unwrap().len(), 1);
    assert_eq!(measure(Some("none"), &[]).await.unwrap(), 0);
}
