//! Keys, responses and usage that 0.1.0 has left, when responses belonged to the names of keys.

use serde_json::{Value, json};

use super::{Home, assert_unknown, connect, database};
use crate::asking::with;
use crate::proxy::Proxy;
use crate::responses::asking::ask;
use crate::responses::client::{Responder, after, id_of};
use crate::usage::of_key;

/// The secret of the key `phone`, and its SHA-256 in base64.
const SECRET: &str = "sk-proxy-of-0.1.0";
const SHA256: &str = "AAXBMI7mMZkJbxnsHsskTUnc1buUZbRFCJNK5_Opdmw";

/// Responses and usage of two keys, in the schema of 0.1.0.
const ROWS: &str = r#"
    PRAGMA application_id = 0x43784370;
    PRAGMA user_version = 2;
    INSERT INTO conversations VALUES (1, 'phone', @now, 1, 5000, 0), (2, 'default', @now, 1, 5000, 0);
    INSERT INTO responses
        SELECT number, 'resp_of_' || key_name, key_name, @now, NULL, number, 5000, zeroblob(4096),
            '{"id":"resp_of_' || key_name || '","object":"response","status":"completed"}',
            '{"type":"message","id":"msg_in_' || key_name || '","role":"user","content":"[[text]]"}'
        FROM conversations;
    INSERT INTO response_items (response, side, position, id, start, bytes)
        SELECT number, 0, 0, 'msg_in_' || key_name, 0, length(items) FROM responses;
    UPDATE responses_held SET responses = 2, bytes = 10000;
    INSERT INTO usage
        SELECT number, @now, 'req_1', 0, key_name, 'chat', 'gpt-5.5', 'responses', 0, 'openai-json',
            'burst', 'completed', 0, 0, 0, 123, 100, 45, 7, 0, NULL, 34
        FROM conversations;
"#;

fn leave(home: &Home) {
    let folder = home.folder.path();
    std::fs::create_dir(database(folder).parent().unwrap()).unwrap();
    let older = connect(folder);
    let now = now_in_millis();
    for step in [
        include_str!("../../../../../store/src/migrations/1_usage.sql"),
        include_str!("../../../../../store/src/migrations/2_responses.sql"),
        &ROWS.replace("@now", &now.to_string()),
    ] {
        older.execute_batch(step).unwrap();
    }
    let phone = json!({"name": "phone", "sha256": SHA256, "since": "2026-01-31T00:00:00Z"});
    let keys = json!({"version": 1, "keys": [phone]});
    std::fs::write(folder.join("keys.json"), keys.to_string()).unwrap();
}

fn now_in_millis() -> u128 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.unwrap().as_millis()
}

/// Turns of a key by its id.
async fn turns(proxy: &Proxy, id: &str) -> Value {
    let usage = proxy.get("/v1/usage").await.json();
    of_key(&usage, id)["turns"].clone()
}

#[tokio::test]
async fn row_22_keys_of_0_1_0_keep_their_responses_and_usage_until_they_are_revoked() {
    let home = Home::new().await;
    leave(&home);
    let proxy = home.start().await;
    let owner = Responder::new(&proxy);
    assert_eq!(owner.get("resp_of_default").await.json()["status"], "completed");
    assert_unknown(&owner.get("resp_of_phone").await);

    let phone = Responder::with_key(&proxy, SECRET);
    assert_eq!(phone.get("resp_of_phone").await.json()["status"], "completed");
    assert_unknown(&phone.get("resp_of_default").await);
    assert_eq!(phone.input_of("resp_of_phone").await.len(), 1);
    assert_eq!(turns(&proxy, "phone").await, 1);

    let secret = proxy.rotate_key("phone").await;
    let phone = Responder::with_key(&proxy, &secret);
    let old = json!({"id": "resp_of_phone"});
    let next = phone.completed(&after(&old, ask("[[text]]"))).await;
    assert_eq!(phone.input_of(id_of(&next)).await.len(), 2);
    assert_eq!(turns(&proxy, "phone").await, 2);

    let secret = proxy.replace_key("phone").await;
    let phone = Responder::with_key(&proxy, &secret);
    for id in ["resp_of_phone", id_of(&next)] {
        assert_unknown(&phone.get(id).await);
        let go_on = with(ask("[[text]]"), json!({"previous_response_id": id}));
        assert_eq!(phone.create(&go_on).await.status, 400);
    }
    phone.completed(&ask("[[text]]")).await;
    let usage = proxy.get("/v1/usage?key=phone").await.json();
    let keys: Vec<_> = usage["by_key"].as_array().unwrap().iter().collect();
    let names: Vec<_> = keys.iter().map(|key| (&key["key"], &key["turns"])).collect();
    let phone = json!("phone");
    assert_eq!(names, [(&phone, &json!(2)), (&phone, &json!(1))], "{usage}");
    assert_eq!(keys[0]["key_id"], "phone");
    assert!(keys[1]["key_id"].as_str().unwrap().starts_with("key_"), "{usage}");
}
