//! What was deleted is gone from the file.

use std::collections::BTreeSet;

use proptest::prelude::*;
use store::StoredResponse;
use testkit::until;

use super::{item, response};
use crate::folder::Folder;

/// Of many lengths: some stand in the tree of a table, others would have pages of their own.
fn lengths() -> impl Strategy<Value = usize> {
    prop_oneof![0..60_usize, 0..600_usize, 0..4_000_usize, 0..20_000_usize]
}

fn secret(number: usize, length: usize) -> StoredResponse {
    let text = format!("secret-{number}-{}", "x".repeat(length));
    StoredResponse {
        body: text.clone(),
        input: vec![item("a", &text), item("b", &text)],
        output: vec![item("c", &text)],
        ..response(&number.to_string(), None)
    }
}

/// The numbers behind every `secret-` in these bytes.
fn secrets(bytes: &[u8]) -> BTreeSet<usize> {
    let text = String::from_utf8_lossy(bytes);
    let number = |rest: &str| rest.split('-').next().and_then(|number| number.parse().ok());
    text.split("secret-").skip(1).filter_map(number).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn nothing_of_a_deleted_response_stays_in_the_file(
        steps in proptest::collection::vec((lengths(), proptest::option::weighted(0.7, any::<prop::sample::Index>())), 200..400),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let folder = Folder::new();
        let mut left = Vec::new();
        runtime.block_on(async {
            let store = folder.open();
            let responses = store.responses();
            for (number, (length, victim)) in steps.into_iter().enumerate() {
                responses.keep(secret(number, length)).await.unwrap();
                left.push(number);
                if let Some(victim) = victim {
                    let victim = left.swap_remove(victim.index(left.len()));
                    assert!(responses.delete("default", &victim.to_string()).await.unwrap());
                }
            }
            store.settle().await;
        });
        let file = std::fs::read(folder.path()).unwrap();
        prop_assert_eq!(secrets(&file), left.into_iter().collect());
    }
}

/// Nobody has to settle it for that.
#[tokio::test]
async fn soon_it_is_gone_from_the_log_too() {
    let folder = Folder::new();
    let responses = folder.open().responses();
    for number in 0..3 {
        responses.keep(secret(number, 10)).await.unwrap();
    }
    let log = folder.path().with_file_name("codex-completions.sqlite3-wal");
    assert!(!secrets(&std::fs::read(&log).unwrap()).is_empty(), "it is written there first");
    assert!(responses.delete("default", "1").await.unwrap());
    let is_gone = async || !secrets(&std::fs::read(&log).unwrap()).contains(&1);
    until("it is gone from the log", is_gone).await;
    assert_eq!(secrets(&std::fs::read(folder.path()).unwrap()), [0, 2].into());
}
