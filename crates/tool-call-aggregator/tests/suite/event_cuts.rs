//! One step of a case about events as many, with one character of arguments each.

use serde_json::{Value, json};

/// The step itself where it holds no increment.
pub(crate) fn into_characters(step: &Value) -> Vec<Value> {
    let event = &step["event"];
    let cut = if event["type"] == "response.function_call_arguments.delta" {
        responses(event)
    } else if let [choice] = event["choices"].as_array().map_or(&[][..], Vec::as_slice) {
        chat(event, choice)
    } else {
        None
    };
    let Some(events) = cut else { return vec![step.clone()] };
    let with_event = |event: Value| {
        let mut step = step.clone();
        step["event"] = event;
        step
    };
    events.into_iter().map(with_event).collect()
}

fn responses(event: &Value) -> Option<Vec<Value>> {
    let with_delta = |character: char| {
        let mut event = event.clone();
        event["delta"] = json!(character);
        event
    };
    Some(event["delta"].as_str()?.chars().map(with_delta).collect())
}

/// The first frame keeps the header and each entry's first character; then each entry goes on
/// with nothing but what says which call it is.
fn chat(event: &Value, choice: &Value) -> Option<Vec<Value>> {
    let mut first = event.clone();
    let mut later = Vec::new();
    let delta = &mut first["choices"][0]["delta"];
    let mut rest = |function: &mut Value, entry: &dyn Fn(Value) -> Value| {
        let mut characters = function["arguments"].as_str().unwrap_or_default().chars();
        let Some(character) = characters.next() else { return };
        for character in characters {
            let delta = entry(json!({ "arguments": character }));
            later.push(json!({"choices": [{"index": choice["index"], "delta": delta}]}));
        }
        function["arguments"] = json!(character);
    };
    if let Some(entries) = delta["tool_calls"].as_array_mut() {
        for entry in entries {
            let mut which = json!({});
            for key in ["index", "id"] {
                if let Some(value) = entry.get(key).filter(|_| which == json!({})) {
                    which[key] = value.clone();
                }
            }
            rest(&mut entry["function"], &|function| {
                let mut entry = which.clone();
                entry["function"] = function;
                json!({ "tool_calls": [entry] })
            });
        }
    } else if delta["function_call"].is_object() {
        rest(&mut delta["function_call"], &|function| json!({ "function_call": function }));
    } else {
        return None;
    }
    later.insert(0, first);
    Some(later)
}
