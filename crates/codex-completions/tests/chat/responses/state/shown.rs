//! Responses that are asked for again, listed and deleted.

use serde_json::{Value, json};

use super::{assert_no_previous, assert_unknown};
use crate::asking::{streamed, with};
use crate::proxy::Proxy;
use crate::responses::asking::{ask, with_tools};
use crate::responses::client::{Responder, after, id_of, items_of, text_of};

/// What is told of an item in a list, and its id.
fn told(item: &Value) -> (String, String) {
    let text = match item["type"].as_str().unwrap() {
        "message" => format!("{}: {}", item["role"], item["content"][0]["text"]),
        kind => kind.to_owned(),
    };
    (text.replace('"', ""), item["id"].as_str().unwrap().to_owned())
}

fn told_of(list: &Value) -> Vec<(String, String)> {
    list["data"].as_array().unwrap().iter().map(told).collect()
}

on_one_server! {
    a_response_is_shown_as_it_was_answered,
    the_input_of_a_response_is_the_whole_conversation_before_it,
    what_cannot_be_listed_is_refused,
    a_deleted_response_is_unknown_and_ends_its_conversation,
    items_are_found_by_their_ids,
    items_that_a_client_sends_back_have_ids_of_their_own,
}

async fn a_response_is_shown_as_it_was_answered(proxy: &Proxy) {
    let client = Responder::new(proxy);
    let plain = with_tools(ask("[[mixed-reasoning]]"));
    let include = json!({"include": ["reasoning.encrypted_content"]});
    for (request, query) in
        [(plain.clone(), ""), (with(plain, include), "?include[]=reasoning.encrypted_content")]
    {
        let encrypted = if query.is_empty() { Value::Null } else { json!("ENCRYPTED_BLOB") };
        for request in [streamed(request.clone()), request] {
            let response = client.completed(&request).await;
            assert_eq!(response["store"], true);
            let kinds = ["reasoning", "message", "function_call", "function_call"];
            let output = response["output"].as_array().unwrap();
            assert!(output.iter().map(|item| &item["type"]).eq(kinds), "{response}");
            assert_eq!(output[0]["encrypted_content"], encrypted);
            let shown = client.get(&format!("{}{query}", id_of(&response))).await;
            assert_eq!((shown.status, shown.json()), (200, response));
        }
    }
}

async fn the_input_of_a_response_is_the_whole_conversation_before_it(proxy: &Proxy) {
    let client = Responder::new(proxy);
    let first = client.completed(&ask("[[reasoning]] one")).await;
    let second = client.completed(&after(&first, ask("[[text:2]] two"))).await;
    let third = client.completed(&after(&second, ask("[[text:3]] three"))).await;

    let list = |query: &'static str| {
        let path = format!("{}/input_items{query}", id_of(&third));
        let client = &client;
        async move { client.get(&path).await.json() }
    };
    let newest_first = list("").await;
    let whole = list("?order=asc").await;
    let texts: Vec<_> = told_of(&whole).into_iter().map(|(text, _)| text).collect();
    assert_eq!(
        texts,
        [
            "user: [[reasoning]] one",
            "reasoning",
            "assistant: Answer after reasoning.",
            "user: [[text:2]] two",
            "assistant: 2",
            "user: [[text:3]] three",
        ]
    );
    let items = whole["data"].as_array().unwrap();
    assert_eq!(items[1], first["output"][0]);
    assert_eq!(items[2], first["output"][1]);
    let reversed: Vec<_> = items.iter().rev().cloned().collect();
    assert_eq!(newest_first["data"], Value::from(reversed));
    assert_eq!(
        (&whole["object"], &whole["first_id"], &whole["last_id"], &whole["has_more"]),
        (&json!("list"), &items[0]["id"], &items[5]["id"], &json!(false))
    );

    // Page by page nothing is missed and nothing comes twice.
    let mut paged = Vec::new();
    let mut page = list("?order=asc&limit=4").await;
    for (number, has_more) in [(4, true), (2, false)] {
        assert_eq!(page["has_more"], has_more);
        assert_eq!(page["data"].as_array().unwrap().len(), number);
        paged.extend(page["data"].as_array().unwrap().iter().cloned());
        let end = page["last_id"].as_str().unwrap();
        let path = format!("{}/input_items?order=asc&limit=4&after={end}", id_of(&third));
        page = client.get(&path).await.json();
    }
    assert_eq!(&paged, items);
    let end = json!({
        "object": "list", "data": [], "first_id": null, "last_id": null, "has_more": false,
    });
    assert_eq!(page, end);

    let encrypted = list("?order=asc&include=reasoning.encrypted_content").await;
    assert_eq!(encrypted["data"][1]["encrypted_content"], "ENCRYPTED_BLOB");
    assert_eq!(items[1].get("encrypted_content"), None);
}

async fn what_cannot_be_listed_is_refused(proxy: &Proxy) {
    let client = Responder::new(proxy);
    let response = client.completed(&ask("[[text]]")).await;
    let id = id_of(&response);
    for (query, param) in [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("limit=many", "limit"),
        ("order=random", "order"),
        ("after=msg_0", "after"),
    ] {
        let answer = client.get(&format!("{id}/input_items?{query}")).await;
        assert_eq!(answer.error(), (400, json!(param), json!("invalid_value")), "{query}");
    }
    let answer = client.get(&format!("{id}?stream=true")).await;
    assert_eq!(answer.error(), (400, json!("stream"), json!("invalid_value")));
    for path in ["resp_0", "resp_0/input_items", "%ff", "resp%2f0"] {
        assert_unknown(&client.get(path).await);
    }
}

async fn a_deleted_response_is_unknown_and_ends_its_conversation(proxy: &Proxy) {
    let client = Responder::new(proxy);
    let first = client.completed(&ask("[[text:1]]")).await;
    let second = client.completed(&after(&first, ask("[[text:2]]"))).await;
    let id = id_of(&first);
    let deleted = client.delete(id).await;
    let told = json!({"id": id, "object": "response", "deleted": true});
    assert_eq!((deleted.status, deleted.json()), (200, told));

    assert_unknown(&client.get(id).await);
    assert_unknown(&client.get(&format!("{id}/input_items")).await);
    assert_unknown(&client.delete(id).await);
    assert_unknown(&client.cancel(id).await);
    assert_no_previous(&client.create(&after(&first, ask("[[text]]"))).await);

    // What came after it is there, but not whole.
    assert_eq!(client.get(id_of(&second)).await.json(), second);
    let broken = client.create(&after(&second, streamed(ask("[[text]]")))).await;
    assert_no_previous(&broken);
    assert!(broken.body.contains(id), "{broken:?}");
    let input = client.get(&format!("{}/input_items", id_of(&second))).await;
    assert_unknown(&input);
    assert!(input.body.contains(id), "{input:?}");
    assert_eq!(proxy.model.requests(), 2);
}

/// Its own items can be referred to, also after the response that they came with.
async fn items_are_found_by_their_ids(proxy: &Proxy) {
    let client = Responder::new(proxy);
    let first = client.completed(&ask("[[reasoning]] one")).await;
    let [reasoning] = &items_of(&first, "reasoning")[..] else { panic!("{first}") };
    let [message] = &items_of(&first, "message")[..] else { panic!("{first}") };
    let input = json!([
        {"role": "user", "content": "zero"},
        // As SDKs send back what they were given.
        reasoning,
        {"type": "item_reference", "id": message["id"]},
        {"role": "user", "content": "[[text]] two"},
    ]);
    let second = client.completed(&ask(input)).await;
    let seen = crate::to_the_model::seen(proxy);
    assert_eq!(seen.len(), 4);
    assert!(seen[1].contains("ENCRYPTED_BLOB"), "{seen:?}");
    assert_eq!(seen[2], "assistant: Answer after reasoning.");
    // The list has the items, not the references.
    let mut listed = client.input_of(id_of(&second)).await;
    let mut said = first["output"].as_array().unwrap().clone();
    for item in listed.iter_mut().chain(&mut said) {
        item["id"].take();
    }
    assert_eq!(listed[1..3], said);
}

async fn items_that_a_client_sends_back_have_ids_of_their_own(proxy: &Proxy) {
    let client = Responder::new(proxy);
    let first = client.completed(&ask("[[text:1]] one")).await;
    let said = &first["output"][0];
    let input = json!([said, said, {"role": "user", "id": said["id"], "content": "[[text:2]]"}]);
    let second = client.completed(&after(&first, with(ask(""), json!({"input": input})))).await;
    let mut ids = Vec::new();
    let mut after = String::new();
    loop {
        let path = format!("{}/input_items?limit=2&order=asc{after}", id_of(&second));
        let page = client.get(&path).await.json();
        ids.extend(told_of(&page).into_iter().map(|(_, id)| id));
        if page["has_more"] == false {
            break;
        }
        after = format!("&after={}", page["last_id"].as_str().unwrap());
    }
    assert_eq!(ids.len(), 5);
    assert_eq!(ids.iter().collect::<std::collections::BTreeSet<_>>().len(), 5);
    // The id leads to what the model said, whoever else has used it.
    let reference = json!([{"type": "item_reference", "id": said["id"]}, {"role": "user", "content": "[[recall]]"}]);
    let recalled = client.completed(&with(ask(""), json!({"input": reference}))).await;
    assert!(text_of(&recalled).starts_with("assistant: 1"), "{recalled}");
}
