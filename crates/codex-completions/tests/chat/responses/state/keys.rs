//! Responses belong to the key that asked for them.

use serde_json::json;

use super::assert_unknown;
use crate::asking::{streamed, with};
use crate::http::Answer;
use crate::proxy::Proxy;
use crate::responses::asking::ask;
use crate::responses::client::{Responder, id_of};

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
