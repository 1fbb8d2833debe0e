//! Many who keep responses at the same time.

use std::time::{Duration, Instant};

use store::{Conversation, Store, StoredItem, StoredResponse};
use tokio::task::JoinSet;

use super::{found, item, response};
use crate::folder::Folder;

const WRITERS: usize = 16;
const EACH: usize = 150;

/// A response of several kilobytes, none of which stands in another one.
fn long(writer: usize, number: usize) -> StoredResponse {
    let id = |number: usize| format!("resp_{writer}_{number}");
    let previous = number.checked_sub(1).map(id);
    let items = |side: &str| -> Vec<StoredItem> {
        let id = |at| format!("{side}_{writer}_{number}_{at}");
        (0..4).map(|at| item(&id(at), &id(at).repeat(40))).collect()
    };
    StoredResponse {
        key: format!("key-{}", writer % 3),
        input: items("in"),
        output: items("out"),
        ..response(&id(number), previous.as_deref())
    }
}

/// Everything that each writer has kept is there, whole and in order.
async fn assert_all_there(store: &Store) {
    let responses = store.responses();
    for writer in 0..WRITERS {
        let kept: Vec<_> = (0..EACH).map(|number| long(writer, number)).collect();
        for response in &kept {
            let told = responses.find(&response.key, &response.id).await.unwrap();
            assert_eq!(told, found(response));
        }
        let last = kept.last().unwrap();
        let said =
            kept.iter().flat_map(|response| [&response.input[..], &response.output].concat());
        let told = responses.conversation(&last.key, &last.id).await.unwrap();
        assert_eq!(told, Conversation::Whole(said.collect()));
    }
    assert_eq!(responses.held().await.unwrap().responses, (WRITERS * EACH) as u64);
}

/// How long a writer waited for each response.
async fn write_all(store_of: impl Fn(usize) -> Store) -> Duration {
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let responses = store_of(writer).responses();
        writers.spawn(async move {
            for number in 0..EACH {
                let kept = long(writer, number);
                responses.keep(kept.clone()).await.unwrap();
                // At once, and not only later.
                let told = responses.find(&kept.key, &kept.id).await.unwrap();
                assert_eq!(told, found(&kept));
            }
        });
    }
    let begun = Instant::now();
    writers.join_all().await;
    begun.elapsed()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn everything_that_was_acknowledged_is_found() {
    let folder = Folder::new();
    let store = folder.open();
    let took = write_all(|_| store.clone()).await;
    println!("{} responses were kept and found again in {took:?}", WRITERS * EACH);
    assert_all_there(&store).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_servers_keep_responses_in_the_same_file() {
    let folder = Folder::new();
    let stores = [folder.open(), folder.open()];
    // Each conversation goes through one of them, and can be read through the other.
    let took = write_all(|writer| stores[writer % 2].clone()).await;
    println!("{} responses were kept and found again in {took:?}", WRITERS * EACH);
    for store in &stores {
        assert_all_there(store).await;
    }
}

/// Figures only.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn figures_of_an_acknowledged_response() {
    let folder = Folder::new();
    let responses = folder.open().responses();
    let begun = Instant::now();
    for number in 0..EACH {
        responses.keep(long(0, number)).await.unwrap();
    }
    println!("alone: {:?} a response", begun.elapsed() / 150);
    let mut writers = JoinSet::new();
    let begun = Instant::now();
    for writer in 1..=WRITERS {
        let responses = responses.clone();
        writers.spawn(async move {
            let mut longest = Duration::ZERO;
            for number in 0..EACH {
                let begun = Instant::now();
                responses.keep(long(writer, number)).await.unwrap();
                longest = longest.max(begun.elapsed());
            }
            longest
        });
    }
    let longest = writers.join_all().await.into_iter().max();
    let each = begun.elapsed() / 150;
    println!("{WRITERS} writers: each waits {each:?} a response, {longest:?} at most");
    assert_eq!(responses.held().await.unwrap().responses, ((WRITERS + 1) * EACH) as u64);
}
