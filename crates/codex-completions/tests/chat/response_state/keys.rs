//! Responses belong to the key that asked for them.

use serde_json::{Value, json};

use crate::asking::{streamed, with};
use crate::http::Answer;
use crate::proxy::Proxy;
use crate::responding::{Responder, id_of, question};

/// An answer in which an id is replaced.
fn without(answer: &Answer, id: &str) -> (u16, String) {
    (answer.status, answer.body.replace(id, "…"))
}

/// Everything that can be asked about a response, and about an item of it.
async fn all_ways(client: &Responder<'_>, id: &str, item: &str) -> Vec<(u16, String)> {
    let go_on = with(question("[[text]]"), json!({"previous_response_id": id}));
    let refer = json!([
        {"type": "item_reference", "id": item}, {"role": "user", "content": "[[text]]"},
    ]);
    let refer = with(question(""), json!({"input": refer}));
    let answers = [
        client.get(id).await,
        client.get(&format!("{id}/input_items")).await,
        client.cancel(id).await,
        client.delete(id).await,
        client.create(&go_on).await,
        client.create(&streamed(go_on)).await,
        client.create(&refer).await,
    ];
    answers
        .iter()
        .map(|answer| without(answer, id))
        .map(|(status, body)| (status, body.replace(item, "…")))
        .collect()
}

#[tokio::test]
async fn a_key_never_sees_the_responses_of_another() {
    let proxy = Proxy::start(&[]).await;
    let other = proxy.add_key("phone").await;
    let (owner, other) = (Responder::new(&proxy), Responder::with_key(&proxy, &other));
    let kept = owner.completed(&question("[[text]] secret")).await;
    let (mut running, live) = owner.until(&streamed(question("[[hang]]")), "This").await;
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
    running.until("This").await;
    assert_eq!(proxy.model.counters().in_flight, 1);
    let own = other.completed(&question("[[text]]")).await;
    assert_eq!(owner.get(id_of(&own)).await.error().2, json!("response_not_found"));
    assert_ne!(own, Value::Null);
}
