//! `models`.

use crate::user::{User, err, out};

#[tokio::test]
async fn models_are_listed_with_their_other_names() {
    let user = User::new().await;
    let list = user.run(&["models"]);
    assert!(out(&list).contains("\ndemo "), "{}", out(&list));
    assert!(out(&list).contains("\nchat-low "), "{}", out(&list));
    let json = user
        .command(&["models", "--json"])
        .env("CODEX_MODEL", "gpt-5.5")
        .env("PROXY_MODEL_ALIASES", "fast=demo:low")
        .output()
        .unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let find = |list: &str, key: &str, name: &str| {
        let all = json[list].as_array().unwrap();
        all.iter().find(|entry| entry[key] == name).unwrap_or_else(|| panic!("{json}")).clone()
    };
    assert_eq!(find("models", "id", "gpt-5.5")["default"], true);
    assert_eq!(find("models", "id", "demo")["default"], false);
    assert_eq!(find("aliases", "name", "codex-5")["model"], "gpt-5.5");
    let fast = serde_json::json!({"name": "fast", "model": "demo", "effort": "low"});
    assert_eq!(find("aliases", "name", "fast"), fast);

    let ask = user
        .command(&["ask", "--model", "fast", "[[text:by another name]]"])
        .env("PROXY_MODEL_ALIASES", "fast=demo:low")
        .output()
        .unwrap();
    assert_eq!(out(&ask), "by another name\n", "{}", err(&ask));
}
