//! Whose usage is shown to whom.

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use hyper::header::AUTHORIZATION;
use serde_json::{Value, json};

use super::{named, turns_of, until_turns, usage};
use crate::asking::ask;
use crate::http::Answer;
use crate::proxy::Proxy;

async fn chat(proxy: &Proxy, key: &str) {
    let bearer = format!("Bearer {key}");
    let answer = proxy.chat_with(&ask("[[text]]"), &[("authorization", &bearer)]).await;
    assert_eq!(answer.status, 200, "{answer:?}");
}

/// What a client with this key is answered.
async fn usage_for(proxy: &Proxy, key: &str, query: &str) -> Answer {
    let request = Request::get(format!("/v1/usage{query}"));
    let request = request.header(AUTHORIZATION, format!("Bearer {key}"));
    proxy.send(request.body(Full::<Bytes>::default()).unwrap()).await.whole().await
}

/// All turns that a client with this key sees, which every sum agrees on.
async fn turns_for(proxy: &Proxy, key: &str, query: &str) -> u64 {
    let answer = usage_for(proxy, key, query).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let report = answer.json();
    let total = report["totals"]["turns"].as_u64().unwrap();
    for (groups, name) in [
        ("by_day", "day"),
        ("by_model", "model"),
        ("by_backend_model", "backend_model"),
        ("by_key", "key_id"),
        ("by_stop_reason", "stop_reason"),
    ] {
        let sum: u64 = turns_of(&report, groups, name).iter().map(|(_, turns)| turns).sum();
        assert_eq!(sum, total, "{groups}: {report}");
    }
    total
}

#[tokio::test]
async fn row_22_a_client_sees_the_usage_of_its_own_key_only() {
    let proxy = Proxy::start(&[]).await;
    let (phone, laptop) = (proxy.add_key("phone").await, proxy.add_key("laptop").await);
    for key in [&phone, &phone, &laptop] {
        chat(&proxy, key).await;
    }
    assert_eq!(proxy.chat(&ask("[[text]]")).await.status, 200);
    let report = until_turns(&proxy, 4).await;
    let expected = named(&[("phone", 2), ("default", 1), ("laptop", 1)]);
    let mut by_name = turns_of(&report, "by_key", "key");
    by_name.sort_by(|one, other| (other.1, &one.0).cmp(&(one.1, &other.0)));
    assert_eq!(by_name, expected);

    let own = usage_for(&proxy, &phone, "").await.json();
    let id = own["by_key"][0]["key_id"].as_str().unwrap();
    assert_eq!(own["by_key"][0]["key"], "phone");
    for query in [String::new(), "?key=phone".to_owned(), format!("?key={id}")] {
        assert_eq!(turns_for(&proxy, &phone, &query).await, 2, "{query}");
    }
    assert_eq!(turns_for(&proxy, &laptop, "").await, 1);
    for other in ["default", "laptop", "unknown"] {
        let refused = usage_for(&proxy, &phone, &format!("?key={other}")).await;
        assert_eq!(refused.error(), (403, json!("key"), json!("owner_key_required")));
        let error: Value = refused.json()["error"].clone();
        assert_eq!(error["type"], "permission_error");
        assert!(error["message"].as_str().unwrap().contains(&format!("phone or {id}")), "{error}");
    }
    // The owner sees all of it, by name and by id.
    for query in ["?key=phone".to_owned(), format!("?key={id}")] {
        assert_eq!(usage(&proxy, &query).await["totals"]["turns"], 2, "{query}");
    }
}

#[tokio::test]
async fn row_22_usage_stays_with_a_key_that_is_rotated_and_not_with_its_name() {
    let proxy = Proxy::start(&[]).await;
    let phone = proxy.add_key("phone").await;
    chat(&proxy, &phone).await;
    until_turns(&proxy, 1).await;
    let phone = proxy.rotate_key("phone").await;
    chat(&proxy, &phone).await;
    until_turns(&proxy, 2).await;
    assert_eq!(turns_for(&proxy, &phone, "").await, 2);

    let phone = proxy.replace_key("phone").await;
    for query in ["", "?key=phone"] {
        assert_eq!(turns_for(&proxy, &phone, query).await, 0, "{query}");
    }
    chat(&proxy, &phone).await;
    let report = until_turns(&proxy, 3).await;
    assert_eq!(turns_for(&proxy, &phone, "").await, 1);
    assert_eq!(turns_of(&report, "by_key", "key"), named(&[("phone", 2), ("phone", 1)]));
    assert_eq!(usage(&proxy, "?key=phone").await["totals"]["turns"], 3);
}
