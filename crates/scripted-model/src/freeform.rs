//! A call of a free-form tool, in the form in which the request declares the tool.

use std::fmt::Write as _;

use crate::answer::{Call, Delivery, Script};
use crate::calls::PARIS;
use crate::chunking::Chunking;
use crate::request::Tool;
use crate::scenario::Scene;

/// Called where the request declares no free-form tool.
const APPLY_PATCH: &str = "apply_patch";

/// The user's text as the input of the named tool, or of the first one that takes any text; then a
/// call of the function named behind it, if there is one.
///
/// A gateway passes on a tool of type `custom`, and gets a `custom_tool_call`; our own server
/// declares it to Codex as a function with the string parameter `input`, and gets a function call.
/// Deltas of one character cut every escape sequence and every pair of surrogates.
pub(crate) fn freeform(scene: &Scene<'_>) -> Script {
    let input = scene.mark.rest();
    let argument = scene.argument().unwrap_or_default();
    let (named, behind) = argument.split_once(',').unwrap_or((argument, ""));
    let (named, behind) = (named.trim(), behind.trim());
    let is_named = |name: &str| named.is_empty() || named == name;
    let custom = scene.request.custom_tools().into_iter().find(|name| is_named(name));
    let functions = scene.request.tools();
    let function = functions.iter().find(|tool| takes_input_alone(tool) && is_named(tool.name));
    let delivery = Delivery::at_once(Chunking::Chars(1));
    let answer = match (custom, function) {
        (None, Some(tool)) => {
            let call = Call::new(tool.name, arguments(&input));
            let call = call.within(tool.namespace.map(str::to_owned));
            scene.begin().call_delivered(&call, delivery)
        }
        (custom, _) => {
            let named = if named.is_empty() { APPLY_PATCH } else { named };
            scene.begin().custom_call(custom.unwrap_or(named), &input, delivery)
        }
    };
    let Some(tool) = functions.iter().find(|tool| tool.name == behind) else {
        return answer.completed();
    };
    let call = Call::new(tool.name, PARIS).within(tool.namespace.map(str::to_owned));
    answer.call(&call).completed()
}

/// Whether it is a function whose only parameter is the text `input`.
fn takes_input_alone(tool: &Tool<'_>) -> bool {
    let Some(properties) = tool.parameters["properties"].as_object() else { return false };
    properties.len() == 1 && tool.parameters["properties"]["input"]["type"] == "string"
}

/// JSON writes a character beyond ASCII as it is or as an escape sequence: here both, in turn.
fn arguments(input: &str) -> String {
    let mut json = String::from(r#"{"input": ""#);
    let mut is_escaped = false;
    for character in input.chars() {
        if character.is_ascii() {
            let quoted = serde_json::Value::from(character.to_string()).to_string();
            json.push_str(&quoted[1..quoted.len() - 1]);
            continue;
        }
        is_escaped = !is_escaped;
        if !is_escaped {
            json.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            let _ = write!(json, "\\u{unit:04x}");
        }
    }
    json.push_str(r#""}"#);
    json
}

#[cfg(test)]
mod tests;
