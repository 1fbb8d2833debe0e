//! Conversations that are too old, or too many.

use std::time::{Duration, SystemTime};

use rusqlite::Connection;
use store::{Conversation, Held, StoreError, StoredResponse};
use testkit::until;

use super::{broken, item, response, said_in, survivors};
use crate::folder::Folder;

const DAY: Duration = Duration::from_hours(24);
const PLENTY: u64 = 1 << 40;

fn aged(id: &str, previous: Option<&str>, days: u32) -> StoredResponse {
    StoredResponse { created_at: SystemTime::now() - days * DAY, ..response(id, previous) }
}

fn count(database: &Connection, table: &str) -> i64 {
    database.query_row(&format!("SELECT COUNT(*) FROM {table}"), (), |row| row.get(0)).unwrap()
}

/// Waits until nothing of what has expired is left in the file.
async fn swept(folder: &Folder, responses: i64) {
    let database = folder.other();
    let is_swept = async || {
        count(&database, "responses") == responses
            && count(&database, "conversations WHERE expired") == 0
    };
    until(&format!("{responses} are left"), is_swept).await;
}

#[tokio::test]
async fn a_conversation_goes_as_a_whole_so_long_after_its_last_use() {
    let folder = Folder::new();
    let responses = folder.open().responses();
    for response in [
        aged("old", None, 12),
        aged("old-too", Some("old"), 11),
        aged("used", None, 20),
        aged("used-again", Some("used"), 9),
        aged("young", None, 1),
        // Used before it was made: a clock was set. The later time counts.
        aged("young-too", Some("young"), 15),
    ] {
        responses.keep(response).await.unwrap();
    }
    let ids = ["old", "old-too", "used", "used-again", "young", "young-too"];
    assert_eq!(survivors(&responses, &ids, 6).await, ids, "for ever, until it is told");
    responses.keep_within(10 * DAY, PLENTY);
    assert_eq!(survivors(&responses, &ids, 4).await, ids[2..]);
    let used = responses.conversation("default", "used-again").await.unwrap();
    assert_eq!(used, said_in(&["used", "used-again"]));
    // What continues an expired one begins anew.
    responses.keep(aged("late", Some("old-too"), 0)).await.unwrap();
    assert_eq!(responses.conversation("default", "late").await.unwrap(), broken("old-too"));
    assert_eq!(responses.conversation("default", "old-too").await.unwrap(), Conversation::Unknown);
    responses.keep_within(5 * DAY, PLENTY);
    assert_eq!(survivors(&responses, &ids, 3).await, ids[4..]);
    swept(&folder, 3).await;
}

#[tokio::test]
async fn those_unused_for_longest_make_room() {
    let folder = Folder::new();
    let responses = folder.open().responses();
    responses.keep(aged("a", None, 9)).await.unwrap();
    let one = responses.held().await.unwrap().bytes;
    responses.keep_within(100 * DAY, 4 * one + one / 2);
    for response in [aged("b", None, 8), aged("c", None, 7), aged("d", Some("a"), 6)] {
        responses.keep(response).await.unwrap();
    }
    let ids = ["a", "b", "c", "d", "e", "f"];
    assert_eq!(survivors(&responses, &ids, 4).await, ["a", "b", "c", "d"]);
    responses.keep(aged("e", None, 5)).await.unwrap();
    assert_eq!(survivors(&responses, &ids, 4).await, ["a", "c", "d", "e"]);
    // One goes as a whole: of "a" and "d" both.
    responses.keep(aged("f", Some("c"), 0)).await.unwrap();
    assert_eq!(survivors(&responses, &ids, 3).await, ["c", "e", "f"]);
    responses.keep_within(100 * DAY, 2 * one + one / 2);
    assert_eq!(survivors(&responses, &ids, 2).await, ["c", "f"]);
    responses.keep_within(100 * DAY, 0);
    assert_eq!(survivors(&responses, &ids, 0).await, [""; 0]);
    assert_eq!(responses.held().await.unwrap(), Held { responses: 0, bytes: 0 });
    swept(&folder, 0).await;
}

#[tokio::test]
async fn nobody_pushes_out_what_others_have() {
    let folder = Folder::new();
    let responses = folder.open().responses();
    responses.keep(aged("a", None, 9)).await.unwrap();
    let one = responses.held().await.unwrap().bytes;
    responses.keep_within(100 * DAY, 4 * one + one / 2);
    let of_other = |id: &str, previous: Option<&str>| StoredResponse {
        key: "other".to_owned(),
        ..aged(id, previous, 0)
    };
    for id in ["b", "c", "d", "e", "f"] {
        responses.keep(of_other(id, None)).await.unwrap();
    }
    assert_eq!(survivors(&responses, &["a"], 4).await, ["a"]);
    // A conversation that is larger than everything may be is refused, and costs nobody anything.
    let long = StoredResponse {
        body: "x".repeat(usize::try_from(one).unwrap() * 5),
        ..of_other("long", Some("f"))
    };
    assert!(matches!(responses.keep(long).await, Err(StoreError::TooLarge)));
    assert_eq!(survivors(&responses, &["a"], 4).await, ["a"]);
    assert_eq!(responses.find("other", "long").await.unwrap(), None);
    assert_ne!(responses.find("other", "f").await.unwrap(), None);
}

/// More responses, items and bytes than are deleted at once; and the file gives its room back.
#[tokio::test]
async fn much_goes_step_by_step_and_the_file_shrinks() {
    let folder = Folder::new();
    let store = folder.open();
    let responses = store.responses();
    let many = |id: &str| (0..1_300).map(|_| item(id, "x")).collect::<Vec<_>>();
    let long = "x".repeat(5 << 20);
    let mut previous = None;
    for number in 0..700 {
        let id = number.to_string();
        responses.keep(aged(&id, previous.as_deref(), 50)).await.unwrap();
        previous = Some(id);
    }
    for number in 0..600 {
        responses.keep(aged(&format!("alone-{number}"), None, 50)).await.unwrap();
    }
    let wide = StoredResponse { input: many("in"), output: many("out"), ..aged("wide", None, 50) };
    let large = StoredResponse { body: long.clone(), ..aged("large", None, 50) };
    let larger = StoredResponse { output: vec![item("out", &long)], ..aged("l2", None, 50) };
    for response in [wide, large, larger, aged("young", None, 0)] {
        responses.keep(response).await.unwrap();
    }
    let size = |folder: &Folder| std::fs::metadata(folder.path()).unwrap().len();
    store.settle().await;
    let before = size(&folder);
    responses.keep_within(10 * DAY, PLENTY);
    assert_eq!(survivors(&responses, &["0", "wide", "young"], 1).await, ["young"]);
    swept(&folder, 1).await;
    assert_eq!(count(&folder.other(), "response_items"), 2);
    let has_shrunk = async || {
        store.settle().await;
        size(&folder) < before / 2
    };
    until("the file shrinks", has_shrunk).await;
    println!("{before} bytes have become {}", size(&folder));
    assert_eq!(responses.conversation("default", "young").await.unwrap(), said_in(&["young"]));
}
