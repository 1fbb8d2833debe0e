//! Responses that are not kept, or no longer.

use std::path::Path;

use serde_json::{Value, json};
use testkit::until;

use super::{assert_no_previous, assert_unknown};
use crate::asking::{items, streamed, with};
use crate::proxy::Proxy;
use crate::responses::asking::ask;
use crate::responses::client::{Responder, after, id_of, text_of};

/// Words that the model is asked for and says, and are found nowhere else.
const QUESTION: &str = "Querschnittsfrage";
const ANSWER: &str = "Quittenantwort";

/// A question that holds both.
fn secret() -> Value {
    let said = items(&[json!({"reasoning": ANSWER}), json!(ANSWER)]);
    ask(format!("{QUESTION} {said}"))
}

/// The files below a folder that hold a word.
fn files_with(folder: &Path, word: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else if let Ok(bytes) = std::fs::read(&path)
                && bytes.windows(word.len()).any(|part| part == word.as_bytes())
            {
                found.push(path.file_name().unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found
}

fn secrets_in(folder: &Path) -> [Vec<String>; 2] {
    [QUESTION, ANSWER].map(|word| files_with(folder, word))
}

const NONE: [Vec<String>; 2] = [Vec::new(), Vec::new()];

#[tokio::test]
async fn a_response_that_is_not_to_be_stored_is_on_no_disk() {
    let mut proxy = Proxy::start(&[]).await;
    let client = Responder::new(&proxy);
    let request = with(secret(), json!({"store": false}));
    for request in [streamed(request.clone()), request] {
        let response = client.completed(&request).await;
        assert_eq!((&response["store"], text_of(&response).as_str()), (&json!(false), ANSWER));
        assert_unknown(&client.get(id_of(&response)).await);
        assert_no_previous(&client.create(&after(&response, ask("[[text]]"))).await);
    }
    // One that fails is not stored, whatever was asked for.
    let failed = client.create(&ask(format!("{QUESTION} [[http:500]]"))).await;
    assert_eq!(failed.status, 502);
    proxy.stop().await;
    assert_eq!(secrets_in(proxy.folder()), NONE);
}

#[tokio::test]
async fn what_is_deleted_is_gone_from_the_files() {
    let mut proxy = Proxy::start(&[]).await;
    let client = Responder::new(&proxy);
    let response = client.completed(&secret()).await;
    let other = client.completed(&ask("[[text]] Bleibewort")).await;
    // It was there.
    assert!(secrets_in(proxy.folder()).iter().all(|files| !files.is_empty()));
    assert_eq!(client.delete(id_of(&response)).await.status, 200);
    assert_eq!(client.get(id_of(&other)).await.json(), other);
    proxy.stop().await;
    assert_eq!(secrets_in(proxy.folder()), NONE);
    assert_eq!(files_with(proxy.folder(), "Bleibewort"), ["codex-completions.sqlite3"]);
}

#[tokio::test]
async fn storing_can_be_switched_off_and_on() {
    let mut proxy = Proxy::start(&[]).await;
    let config = proxy.folder().join("config.toml");
    let client = Responder::new(&proxy);
    let kept = client.completed(&ask("[[text]]")).await;
    std::fs::write(&config, "responses_store = false\n").unwrap();
    let changed = proxy.logged_times("settings have changed", 1).await;
    assert_eq!(changed["changed"], "PROXY_RESPONSES_STORE=false");

    for request in [streamed(secret()), with(secret(), json!({"store": true}))] {
        let response = client.completed(&request).await;
        assert_eq!(response["store"], false);
        assert_unknown(&client.get(id_of(&response)).await);
    }
    // What was kept before is there until it expires.
    assert_eq!(client.get(id_of(&kept)).await.json(), kept);
    let next = client.completed(&after(&kept, ask("[[text]]"))).await;
    assert_eq!(next["store"], false);

    std::fs::remove_file(config).unwrap();
    proxy.logged_times("settings have changed", 2).await;
    let again = client.completed(&after(&kept, ask("[[text]]"))).await;
    assert_eq!(client.get(id_of(&again)).await.json(), again);
    proxy.stop().await;
    assert_eq!(secrets_in(proxy.folder()), NONE);
}

#[tokio::test]
async fn when_there_is_too_much_the_conversations_unused_for_longest_go() {
    let proxy = Proxy::start(&[("PROXY_RESPONSES_STORE_MAX_BYTES", "1048576")]).await;
    let client = Responder::new(&proxy);
    let used = client.completed(&ask("[[text]]")).await;
    let unused = client.completed(&ask("[[big:400000]]")).await;
    let next = client.completed(&after(&used, ask("[[text]]"))).await;
    for _ in 0..3 {
        client.completed(&ask("[[big:300000]]")).await;
    }
    let is_gone = async || client.get(id_of(&unused)).await.status != 200;
    until("the unused conversation is gone", is_gone).await;
    assert_unknown(&client.get(id_of(&unused)).await);
    assert_no_previous(&client.create(&after(&unused, ask("[[text]]"))).await);
    // It is older, but its conversation was used.
    assert_eq!(client.get(id_of(&used)).await.json(), used);
    assert_eq!(client.input_of(id_of(&next)).await.len(), 3);
}
