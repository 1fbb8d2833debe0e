//! Responses that clients come back to.

mod acknowledged;
mod chains;
mod concurrent;
mod deletion;
mod killed;
mod limits;
mod model;

use std::time::SystemTime;

use store::{Conversation, FoundResponse, Responses, StoredItem, StoredResponse};
use testkit::until;

pub(crate) fn item(id: &str, text: &str) -> StoredItem {
    StoredItem { id: id.to_owned(), json: format!(r#"{{"id":"{id}","text":"{text}"}}"#) }
}

/// A response of the key `default` with one item on each side.
pub(crate) fn response(id: &str, previous: Option<&str>) -> StoredResponse {
    StoredResponse {
        id: id.to_owned(),
        key: "default".to_owned(),
        created_at: SystemTime::now(),
        previous: previous.map(str::to_owned),
        body: format!(r#"{{"id":"{id}"}}"#),
        input: vec![item(&format!("{id}-in"), "asked")],
        output: vec![item(&format!("{id}-out"), "said")],
    }
}

/// What [`Responses::find`] gives for it.
#[expect(clippy::unnecessary_wraps, reason = "as it is told")]
pub(crate) fn found(response: &StoredResponse) -> Option<FoundResponse> {
    Some(FoundResponse { body: response.body.clone(), output: response.output.clone() })
}

/// Everything that was said in these, as [`response`] makes them.
fn said_in(ids: &[&str]) -> Conversation {
    let both = |id: &&str| {
        let response = response(id, None);
        [response.input, response.output].concat()
    };
    Conversation::Whole(ids.iter().flat_map(both).collect())
}

fn broken(missing: &str) -> Conversation {
    Conversation::Broken { missing: missing.to_owned() }
}

/// Those of these ids that are found, when so many are left.
async fn survivors(responses: &Responses, ids: &[&str], left: u64) -> Vec<String> {
    let are_left = async || responses.held().await.unwrap().responses == left;
    until(&format!("{left} are left"), are_left).await;
    let mut survivors = Vec::new();
    for id in ids {
        if responses.find("default", id).await.unwrap().is_some() {
            survivors.push((*id).to_owned());
        }
    }
    survivors
}
