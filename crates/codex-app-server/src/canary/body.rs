//! The canary's request, as the model got it: what of it is Codex's own? Pure.

use serde_json::{Map, Value};

use super::{BrokenPromise, Promise, TOOL, parameters};
use crate::history::Role;

/// Begins the message that Codex adds for accounts whose owners have asked for it.
const GIT_ATTRIBUTION: &str = "<git_attribution>";

/// Fields that have a structure, and are looked through for text.
const STRUCTURED: [&str; 4] = ["reasoning", "include", "text", "stream_options"];

/// Fields that are checked by their own rules.
const CHECKED: [&str; 5] = ["input", "instructions", "tools", "tool_choice", CLIENT_METADATA];

/// Ids and settings for the upstream's own statistics, which no model sees.
const CLIENT_METADATA: &str = "client_metadata";

/// How much of a text of Codex's own is quoted.
const QUOTED: usize = 60;

/// What was found that breaks no promise.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) git_attribution: bool,
}

/// Checks that a body holds these messages and the canary's tool, and no other text or tool.
///
/// A field that is not known may be a scalar without blanks: that is neither a text nor a tool.
pub(super) fn check(body: &Value, messages: &[(Role, String)]) -> Result<Seen, BrokenPromise> {
    let Some(fields) = body.as_object() else {
        return Err(own_text("its request is not an object".to_owned()));
    };
    let mut tools: Vec<&Value> = list(fields.get("tools")).iter().collect();
    let git_attribution = check_input(list(fields.get("input")), messages, &mut tools)?;
    check_tools(&tools)?;
    if let Some(text) = fields.get("instructions").filter(|text| !is_empty(text)) {
        return Err(own_text(format!("it sends instructions of its own: {}", quoted(text))));
    }
    if fields.get("tool_choice").is_some_and(|choice| choice != "auto") {
        return Err(own_tools("it restricts the choice of tools".to_owned()));
    }
    check_fields(fields)?;
    Ok(Seen { git_attribution })
}

fn check_input<'a>(
    input: &'a [Value],
    messages: &[(Role, String)],
    tools: &mut Vec<&'a Value>,
) -> Result<bool, BrokenPromise> {
    let mut expected = messages.iter();
    let mut git_attribution = false;
    for item in input {
        if item["type"] == "additional_tools" && has_only(item, &["type", "id", "role", "tools"]) {
            tools.extend(list(item.get("tools")).iter().flat_map(of_namespace));
        } else if is_git_attribution(item) {
            git_attribution = true;
        } else if !expected.next().is_some_and(|(role, text)| is_message(item, *role, text)) {
            let text = &item["content"][0]["text"];
            let shown = if text.is_string() { text } else { item };
            return Err(own_text(format!("it adds to the prompt: {}", quoted(shown))));
        }
    }
    match expected.next() {
        None => Ok(git_attribution),
        Some(_) => Err(own_text("it leaves out a message of the client's".to_owned())),
    }
}

/// In the newer dialect the client's functions are in a namespace without a description.
fn of_namespace(tool: &Value) -> &[Value] {
    let is_plain = has_only(tool, &["type", "name", "description", "tools"])
        && tool["type"] == "namespace"
        && tool["name"] == "functions"
        && tool["description"] == "";
    if is_plain { list(tool.get("tools")) } else { std::slice::from_ref(tool) }
}

fn check_tools(tools: &[&Value]) -> Result<(), BrokenPromise> {
    let name = |tool: &Value| {
        tool.get("name").or_else(|| tool.get("type")).map_or_else(String::new, quoted)
    };
    let is_ours = |tool: &Value| {
        has_only(tool, &["type", "name", "description", "strict", "parameters"])
            && tool["type"] == "function"
            && tool["name"] == TOOL
            && tool["description"] == ""
            && tool["parameters"] == parameters()
    };
    if let Some(own) = tools.iter().find(|tool| !is_ours(tool)) {
        return Err(own_tools(format!("it adds or changes the tool {}", name(own))));
    }
    match tools.len() {
        1 => Ok(()),
        count => Err(own_tools(format!("the model gets {count} tools for one of the client's"))),
    }
}

fn check_fields(fields: &Map<String, Value>) -> Result<(), BrokenPromise> {
    for (name, value) in fields.iter().filter(|(name, _)| !CHECKED.contains(&name.as_str())) {
        let holds_text = match value {
            Value::Array(_) | Value::Object(_) if !STRUCTURED.contains(&name.as_str()) => {
                !is_empty(value)
            }
            value => has_blanks(value),
        };
        if holds_text {
            return Err(own_text(format!("it sends `{name}`: {}", quoted(value))));
        }
    }
    Ok(())
}

fn is_message(item: &Value, role: Role, text: &str) -> bool {
    let part = |part: &Value| {
        has_only(part, &["type", "text"]) && part["type"] == "input_text" && part["text"] == text
    };
    has_only(item, &["type", "id", "role", "content"])
        && item["type"] == "message"
        && serde_json::to_value(role).is_ok_and(|role| item["role"] == role)
        && matches!(list(item.get("content")), [only] if part(only))
}

fn is_git_attribution(item: &Value) -> bool {
    let text =
        |part: &Value| part["text"].as_str().is_some_and(|text| text.starts_with(GIT_ATTRIBUTION));
    let parts = list(item.get("content"));
    item["type"] == "message"
        && item["role"] == "developer"
        && !parts.is_empty()
        && parts.iter().all(text)
}

fn has_only(value: &Value, keys: &[&str]) -> bool {
    let known = |fields: &Map<String, Value>| fields.keys().all(|key| keys.contains(&key.as_str()));
    value.as_object().is_some_and(known)
}

fn has_blanks(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(char::is_whitespace),
        Value::Array(values) => values.iter().any(has_blanks),
        Value::Object(fields) => fields.values().any(has_blanks),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The beginning of a value, on one line.
fn quoted(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), |text| format!("{text:?}"));
    match text.char_indices().nth(QUOTED) {
        None => text,
        Some((end, _)) => format!("{} …", &text[..end]),
    }
}

fn own_text(reason: String) -> BrokenPromise {
    BrokenPromise::new(Promise::Text, reason)
}

fn own_tools(reason: String) -> BrokenPromise {
    BrokenPromise::new(Promise::Tools, reason)
}

#[cfg(test)]
mod tests;
