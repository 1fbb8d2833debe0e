//! The page in a real browser, in front of the real Codex.

mod faults;
mod sign_in;

use testkit::write_altered_codex;

use crate::browser::{KEY, drive};
use crate::server::Server;
use crate::user::{User, err, out};

/// A server that knows the owner's key.
fn server_of(user: &User, more: &[(&str, &str)]) -> Server {
    Server::start(user, &[&[("PROXY_API_KEY", KEY)], more].concat())
}

/// A program that wants nothing of the test.
fn alone(wish: &str) -> String {
    panic!("nobody can {wish}")
}

#[tokio::test]
async fn the_key_is_asked_for_and_kept() {
    let user = User::new().await;
    let added = user.run(&["key", "add", "phone"]);
    assert!(added.status.success(), "{}", err(&added));
    let of_a_client = out(&added);
    let of_a_client = of_a_client.split_whitespace().find(|word| word.starts_with("sk-")).unwrap();
    drive("key.mjs", &server_of(&user, &[]).address, |wish| match wish {
        "the key of a client" => of_a_client.to_owned(),
        _ => alone(wish),
    });
}

#[tokio::test]
async fn calls_are_answered_by_hand_in_the_playground() {
    let user = User::new().await;
    drive("playground.mjs", &server_of(&user, &[]).address, alone);
}

#[tokio::test]
async fn turns_appear_as_they_happen() {
    let user = User::new().await;
    drive("turns.mjs", &server_of(&user, &[]).address, alone);
}

#[tokio::test]
async fn models_clients_and_settings_are_those_of_the_api() {
    let user = User::new().await;
    drive("views.mjs", &server_of(&user, &[]).address, alone);
}

#[tokio::test]
async fn nobody_is_shut_out() {
    let user = User::new().await;
    drive("looks.mjs", &server_of(&user, &[]).address, alone);
}

#[tokio::test]
async fn only_allowed_hosts_and_the_page_itself_are_served() {
    let user = User::new().await;
    let server = server_of(&user, &[("PROXY_ALLOWED_HOSTS", "home.test")]);
    drive("origins.mjs", &server.address, alone);
}

#[tokio::test]
async fn row_24_a_broken_promise_is_named() {
    let mut user = User::new().await;
    let altered = user.folder.path().join("codex");
    let prompt = r#"s/"baseInstructions":""/"baseInstructions":"You are Codex"/"#;
    write_altered_codex(&altered, &user.codex, &format!("sed -u '{prompt}' | CODEX"));
    user.codex = altered;
    drive("untested.mjs", &server_of(&user, &[]).address, alone);
}
