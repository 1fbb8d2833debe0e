//! Responses belong to the key that asked for them, whatever it is called.

use serde_json::json;

use super::{Home, assert_unknown};
use crate::asking::{streamed, with};
use crate::http::Answer;
use crate::proxy::{KEY, Proxy};
use crate::responses::asking::ask;
use crate::responses::client::{Responder, after, id_of};

/// What is answered to everything that can be asked about a response and an item, without their ids.
async fn all_ways(client: &Responder<'_>, id: &str, item: &str) -> Vec<(u16, String)> {
    let go_on = with(ask("[[text]]"), json!({"previous_response_id": id}));
    let refer = json!([
        {"type": "item_reference", "id": item}, {"role": "user", "content": "[[text]]"},
    ]);
    let answers = [
        client.get(id).await,
        client.get(&format!("{id}/input_items")).await,
        client.cancel(id).await,
        client.delete(id).await,
        client.create(&go_on).await,
        client.create(&streamed(go_on)).await,
        client.create(&ask(refer)).await,
    ];
    let without_ids = |answer: &Answer| {
        let body = answer.body.replace(id, "…").replace(item, "…");
        (answer.status, body)
    };
    answers.iter().map(without_ids).collect()
}

#[tokio::test]
async fn a_key_never_sees_the_responses_of_another() {
    let proxy = Proxy::start(&[]).await;
    let other = proxy.add_key("phone").await;
    let (owner, other) = (Responder::new(&proxy), Responder::with_key(&proxy, &other));
    let kept = owner.completed(&ask("[[text]] secret")).await;
    let (_running, live) = owner.until(&streamed(ask("[[hang]]")), "This").await;
    let item = kept["output"][0]["id"].as_str().unwrap();

    let unknown = all_ways(&other, "resp_0", "msg_0").await;
    let statuses: Vec<_> = unknown.iter().map(|(status, _)| *status).collect();
    assert_eq!(statuses, [404, 404, 404, 404, 400, 400, 400], "{unknown:?}");
    assert_eq!(all_ways(&other, id_of(&kept), item).await, unknown);
    assert_eq!(all_ways(&other, &live, item).await, unknown);
    assert_eq!(proxy.model.requests(), 2);

    // Nothing of that has done anything to them.
    assert_eq!(owner.get(id_of(&kept)).await.json(), kept);
    assert_eq!(owner.get(&live).await.json()["status"], "in_progress");
    assert_eq!(proxy.model.counters().in_flight, 1);
    let own = other.completed(&ask("[[text]]")).await;
    assert_unknown(&owner.get(id_of(&own)).await);
}

/// Stored and running, by their ids, as previous ones and by their items.
#[tokio::test]
async fn row_22_a_new_key_under_a_revoked_name_finds_no_response_of_the_old_one() {
    let proxy = Proxy::start(&[]).await;
    let phone = proxy.add_key("phone").await;
    let old = Responder::with_key(&proxy, &phone);
    let kept = old.completed(&ask("[[text]] secret")).await;
    let (_running, live) = old.until(&streamed(ask("[[hang]]")), "This").await;
    let item = kept["output"][0]["id"].as_str().unwrap();

    let phone = proxy.replace_key("phone").await;
    let new = Responder::with_key(&proxy, &phone);
    let asked = proxy.model.requests();
    let unknown = all_ways(&new, "resp_0", "msg_0").await;
    assert_eq!(all_ways(&new, id_of(&kept), item).await, unknown);
    assert_eq!(all_ways(&new, &live, item).await, unknown);
    assert_eq!(proxy.model.requests(), asked);
    assert_eq!(proxy.model.counters().in_flight, 1, "the old key's response still runs");
}

#[tokio::test]
async fn row_22_a_rotated_key_keeps_its_responses() {
    let proxy = Proxy::start(&[]).await;
    let phone = proxy.add_key("phone").await;
    let before = Responder::with_key(&proxy, &phone);
    let kept = before.completed(&ask("[[text]]")).await;
    let (running, live) = before.until(&streamed(ask("[[hang]]")), "This").await;

    let phone = proxy.rotate_key("phone").await;
    let after_it = Responder::with_key(&proxy, &phone);
    assert_eq!(after_it.get(id_of(&kept)).await.json(), kept);
    assert_eq!(after_it.get(&live).await.json()["status"], "in_progress");
    assert_eq!(after_it.cancel(&live).await.json()["status"], "cancelled");
    drop(running);
    let next = after_it.completed(&after(&kept, ask("[[text]]"))).await;
    assert_eq!(after_it.input_of(id_of(&next)).await.len(), 3);
    let item = &kept["output"][0]["id"];
    let refer = json!([
        {"type": "item_reference", "id": item}, {"role": "user", "content": "[[text]]"},
    ]);
    after_it.completed(&ask(refer)).await;
    assert_eq!(after_it.delete(id_of(&kept)).await.status, 200);
}

#[tokio::test]
async fn row_22_another_value_of_proxy_api_key_keeps_the_responses_and_usage_of_the_default_key() {
    let home = Home::new().await;
    let mut proxy = home.start().await;
    let kept = Responder::new(&proxy).completed(&ask("[[text]]")).await;
    proxy.stop().await;

    let other = format!("{KEY}-rotated");
    let proxy = home.start_with(&[("PROXY_API_KEY", &other)]).await;
    let client = Responder::new(&proxy);
    assert_eq!(client.get(id_of(&kept)).await.json(), kept);
    client.completed(&after(&kept, ask("[[text]]"))).await;
    let usage = proxy.get("/v1/usage").await.json();
    let by_key = &usage["by_key"][0];
    let shown = [&by_key["key"], &by_key["key_id"], &by_key["turns"]];
    assert_eq!(shown, [&json!("default"), &json!("default"), &json!(2)]);
    assert_eq!(usage["by_key"].as_array().unwrap().len(), 1);
}
