//! A response that was not streamed.

use serde_json::Value;

use super::{CUSTOM_CALL, is_usage};
use crate::answer::Answer;
use crate::notes::Notes;
use crate::rule::RuleId;

/// Reads the body.
pub(crate) fn read(body: &str, notes: &mut Notes) -> Answer {
    let Ok(body) = serde_json::from_str::<Value>(body) else {
        notes.broken(RuleId::ResponsesWholeShape, format!("the body is not JSON: {body}"));
        return Answer::default();
    };
    notes.check(RuleId::ResponsesWholeShape, fault(&body).is_none(), || {
        format!("{}: {body}", fault(&body).unwrap_or_default())
    });
    let items = body["output"].as_array().into_iter().flatten();
    for item in items.filter(|item| item["type"] == CUSTOM_CALL) {
        let is_whole =
            ["id", "call_id", "name", "input"].iter().all(|name| item[*name].is_string());
        notes.check(RuleId::ResponsesCustomWhole, is_whole, || {
            format!("a call of a custom tool has no id, call_id, name or input: {item}")
        });
    }
    super::answer(&body)
}

/// The first thing that is wrong with its shape.
fn fault(body: &Value) -> Option<&'static str> {
    let output = body["output"].as_array();
    let checks = [
        (body["id"].as_str().is_some_and(|id| !id.is_empty()), "it has no id"),
        (body["object"] == "response", "its object is not response"),
        (body["created_at"].is_number(), "it has no created_at"),
        (body["status"].is_string(), "it has no status"),
        (output.is_some(), "it has no output"),
        (output.into_iter().flatten().all(is_item), "an item is not whole"),
        (is_usage(&body["usage"]), "usage has no counts that add up, or no details"),
    ];
    checks.into_iter().find_map(|(holds, fault)| (!holds).then_some(fault))
}

fn is_item(item: &Value) -> bool {
    let parts = || item["content"].as_array().into_iter().flatten();
    let has = |name: &str| item[name].is_string();
    match item["type"].as_str() {
        Some("message") => {
            has("id")
                && item["role"] == "assistant"
                && item["content"].is_array()
                && parts()
                    .all(|part| part["type"] != "output_text" || part["annotations"].is_array())
        }
        Some("function_call") => has("id") && has("call_id") && has("name") && has("arguments"),
        Some(_) => true,
        None => false,
    }
}
