//! A response that was not streamed.

use serde_json::Value;

use super::super::{Mismatch, Sink};
use super::{CUSTOM_CALL, ID_PREFIX, is_usage};
use crate::rule::RuleId;

/// Reads the body, and gives the response object; null if it is none.
pub fn read<S: Sink>(body: &str, sink: &mut S) -> Value {
    let Ok(body) = serde_json::from_str::<Value>(body) else {
        sink.rule(RuleId::ResponsesWholeShape, false, || Mismatch::new("body", "JSON", body));
        return Value::Null;
    };
    // Our own server's responses that have not come to their end are not counted yet.
    let has_usage = ["completed", "incomplete"].map(Value::from).contains(&body["status"]);
    let may_lack_usage = S::OURS && !has_usage && body["usage"].is_null();
    let fault = fault(&body, may_lack_usage);
    sink.rule(RuleId::ResponsesWholeShape, fault.is_none(), || {
        Mismatch::new("body", fault.unwrap_or_default(), &body)
    });
    sink.ours(super::text(&body["id"]).starts_with(ID_PREFIX), || {
        Mismatch::new("id", format!("one that begins with {ID_PREFIX}"), &body["id"])
    });
    for item in body["output"].as_array().into_iter().flatten() {
        if item["type"] == CUSTOM_CALL {
            let is_whole =
                ["id", "call_id", "name", "input"].iter().all(|name| item[*name].is_string());
            sink.rule(RuleId::ResponsesCustomWhole, is_whole, || {
                Mismatch::new("call", "one of a custom tool with id, call_id, name and input", item)
            });
        }
        let is_named = item.get("namespace").is_none_or(Value::is_string);
        sink.ours(is_named, || Mismatch::new("namespace", "a text", item));
    }
    body
}

/// The first thing that is wrong with its shape: what is missing.
fn fault(body: &Value, may_lack_usage: bool) -> Option<&'static str> {
    let output = body["output"].as_array();
    let has_usage = may_lack_usage || is_usage(&body["usage"]);
    let checks = [
        (body["id"].as_str().is_some_and(|id| !id.is_empty()), "an id"),
        (body["object"] == "response", "the object response"),
        (body["created_at"].is_number(), "created_at"),
        (body["status"].is_string(), "a status"),
        (output.is_some(), "an output"),
        (output.into_iter().flatten().all(is_item), "items that are whole"),
        (has_usage, "usage with counts, their sum and details"),
    ];
    checks.into_iter().find_map(|(holds, expected)| (!holds).then_some(expected))
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
