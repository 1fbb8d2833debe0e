//! The canary's request, as the model got it: what of it is Codex's own? Pure.

use model_turn::Role;
use serde_json::{Map, Value};

use super::{BrokenPromise, Promise, TOOL, parameters};

/// Around the message that Codex adds for accounts whose owners have asked for it.
const GIT_ATTRIBUTION: [&str; 2] = ["<git_attribution>", "</git_attribution>"];

/// Fields with words of the protocol, which have no blanks.
const WORDS: [&str; 6] =
    ["include", "model", "prompt_cache_key", "reasoning", "service_tier", "stream_options"];

/// Fields that are checked by their own rules.
const CHECKED: [&str; 6] =
    ["input", "instructions", "tools", "tool_choice", "text", CLIENT_METADATA];

/// Ids and settings for the upstream's own statistics, which no model sees.
const CLIENT_METADATA: &str = "client_metadata";

/// How much of a text of Codex's own is quoted.
const QUOTED: usize = 200;

/// What was found that breaks no promise.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) git_attribution: bool,
}

/// Checks that a body is for this model, and holds these messages and the canary's tool, and no other text or tool.
pub(super) fn check(
    body: &Value,
    model: &str,
    messages: &[(Role, String)],
) -> Result<Seen, BrokenPromise> {
    let Some(fields) = body.as_object() else {
        return Err(own_text("its request is not an object".to_owned()));
    };
    let mut tools: Vec<&Value> = list(&body["tools"]).map_err(own_tools)?.iter().collect();
    let input = list(&body["input"]).map_err(own_text)?;
    let git_attribution = check_input(input, messages, &mut tools)?;
    check_tools(&tools)?;
    if !is_empty(&body["instructions"]) {
        let text = quoted(&body["instructions"]);
        return Err(own_text(format!("it sends instructions of its own: {text}")));
    }
    if fields.get("tool_choice").is_some_and(|choice| choice != "auto") {
        return Err(own_tools("it restricts the choice of tools".to_owned()));
    }
    if body["model"] != model {
        return Err(own_text(format!("it asks another model: {}", quoted(&body["model"]))));
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
        if is_tool_list(item) {
            let listed = list(&item["tools"]).map_err(own_tools)?;
            tools.extend(listed.iter().flat_map(of_namespace));
        } else if is_git_attribution(item) && !git_attribution {
            git_attribution = true;
        } else if !expected.next().is_some_and(|(role, text)| is_message(item, *role, text)) {
            return Err(own_text(format!("it adds to the prompt: {}", quoted(shown(item)))));
        }
    }
    match expected.next() {
        None => Ok(git_attribution),
        Some(_) => Err(own_text("it leaves out a message of the client's".to_owned())),
    }
}

/// In the newer dialect tools are an item of the input.
fn is_tool_list(item: &Value) -> bool {
    has_only(item, &["type", "id", "role", "tools"])
        && item["type"] == "additional_tools"
        && item["role"] == "developer"
        && !has_blanks(&item["id"])
}

/// There the client's functions are in a namespace without a description.
fn of_namespace(tool: &Value) -> &[Value] {
    let is_plain = has_only(tool, &["type", "name", "description", "tools"])
        && tool["type"] == "namespace"
        && tool["name"] == "functions"
        && tool["description"] == "";
    match list(&tool["tools"]) {
        Ok(tools) if is_plain => tools,
        _ => std::slice::from_ref(tool),
    }
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
            && tool["strict"] == false
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

/// An unknown field may be a switch or a number: that is neither a text, nor names one that is kept elsewhere.
fn check_fields(fields: &Map<String, Value>) -> Result<(), BrokenPromise> {
    for (name, value) in fields.iter().filter(|(name, _)| !CHECKED.contains(&name.as_str())) {
        let holds_text = if WORDS.contains(&name.as_str()) {
            has_blanks(value)
        } else {
            !is_empty(value) && !value.is_boolean() && !value.is_number()
        };
        if holds_text {
            return Err(own_text(format!("it sends `{name}`: {}", quoted(value))));
        }
    }
    if fields.get("store").is_some_and(|store| store == true) {
        return Err(own_text("it has the upstream store the response".to_owned()));
    }
    match fields.get("text") {
        Some(text) if !is_empty(text) && !has_only(text, &["verbosity"]) || has_blanks(text) => {
            Err(own_text(format!("it sends `text`: {}", quoted(text))))
        }
        _ => Ok(()),
    }
}

/// What there is to see of an item: the text, where that is all.
fn shown(item: &Value) -> &Value {
    let text = &item["content"][0]["text"];
    let is_all = text.as_str().is_some_and(|text| {
        [Role::Developer, Role::User].into_iter().any(|role| is_message(item, role, text))
    });
    if is_all { text } else { item }
}

fn is_message(item: &Value, role: Role, text: &str) -> bool {
    let part = |part: &Value| {
        has_only(part, &["type", "text"]) && part["type"] == "input_text" && part["text"] == text
    };
    has_only(item, &["type", "id", "role", "content"])
        && item["type"] == "message"
        && !has_blanks(&item["id"])
        && serde_json::to_value(role).is_ok_and(|role| item["role"] == role)
        && matches!(list(&item["content"]), Ok([only]) if part(only))
}

fn is_git_attribution(item: &Value) -> bool {
    let Some(text) = item["content"][0]["text"].as_str() else { return false };
    let [start, end] = GIT_ATTRIBUTION;
    text.starts_with(start)
        && text.find(end).is_some_and(|at| text[at + end.len()..].trim().is_empty())
        && is_message(item, Role::Developer, text)
}

fn has_only(value: &Value, keys: &[&str]) -> bool {
    let known = |fields: &Map<String, Value>| fields.keys().all(|key| keys.contains(&key.as_str()));
    value.as_object().is_some_and(known)
}

fn has_blanks(value: &Value) -> bool {
    let is_text = |text: &str| text.contains(char::is_whitespace);
    match value {
        Value::String(text) => is_text(text),
        Value::Array(values) => values.iter().any(has_blanks),
        Value::Object(fields) => {
            fields.iter().any(|(name, value)| is_text(name) || has_blanks(value))
        }
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

/// Nothing is an empty list.
fn list(value: &Value) -> Result<&[Value], String> {
    match value {
        Value::Null => Ok(&[]),
        Value::Array(values) => Ok(values),
        other => Err(format!("it sends something else than a list: {}", quoted(other))),
    }
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
