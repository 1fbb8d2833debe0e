//! A reader's view of a request's body: messages, tools and tool results.

use std::collections::HashMap;

use serde_json::Value;

/// The namespace that stands for "no namespace" where tools come inside an input item.
const PLAIN_NAMESPACE: &str = "functions";

/// The body of a `POST …/responses`.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    body: &'a Value,
}

/// A declared function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tool<'a> {
    pub(crate) name: &'a str,
    pub(crate) namespace: Option<&'a str>,
    pub(crate) description: &'a str,
    pub(crate) parameters: &'a Value,
}

/// What a called tool returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolResult {
    pub(crate) name: String,
    pub(crate) output: String,
}

impl<'a> Request<'a> {
    pub(crate) fn new(body: &'a Value) -> Self {
        Self { body }
    }

    /// The text of the user's newest message; empty if there is none.
    pub(crate) fn last_user_text(self) -> String {
        let alone = self.body.get("input").and_then(Value::as_str);
        self.items()
            .iter()
            .rfind(|item| has_role(item, "user"))
            .map(text_of)
            .or(alone.map(str::to_owned))
            .unwrap_or_default()
    }

    /// What the developer told the model, wherever it stands.
    pub(crate) fn developer_text(self) -> String {
        let instructions = self.body.get("instructions").and_then(Value::as_str);
        let messages = self.items().iter().filter(|item| is_told(item)).map(text_of);
        instructions.map(str::to_owned).into_iter().chain(messages).collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn last_assistant_text(self) -> Option<String> {
        self.items().iter().rev().find(|item| has_role(item, "assistant")).map(text_of)
    }

    pub(crate) fn ends_with_tool_output(self) -> bool {
        self.last_item().is_some_and(is_tool_output)
    }

    /// Whether there is any reasoning in it.
    pub(crate) fn has_reasoning(self) -> bool {
        self.items().iter().any(|item| kind(item) == "reasoning")
    }

    pub(crate) fn ends_with_assistant(self) -> bool {
        self.last_item().is_some_and(|item| has_role(item, "assistant"))
    }

    /// Results that came after the user's last message, in order.
    pub(crate) fn tool_results(self) -> Vec<ToolResult> {
        let last = self.items().iter().rposition(|item| has_role(item, "user"));
        self.results_from(last.map_or(0, |user| user + 1))
    }

    /// The same for a client that repeats the user's message with each result, as Semantic Kernel does.
    pub(crate) fn results_of_task(self) -> Vec<ToolResult> {
        let asked = self.last_user_text();
        let users = self.items().iter().enumerate().filter(|(_, item)| has_role(item, "user"));
        let repeated = users.rev().take_while(|(_, user)| text_of(user) == asked);
        self.results_from(repeated.last().map_or(0, |(first, _)| first + 1))
    }

    fn results_from(self, since: usize) -> Vec<ToolResult> {
        let names = self.names_of_calls();
        let name = |item: &Value| names.get(string(item, "call_id")).copied();
        self.items()[since..]
            .iter()
            .filter(|item| is_tool_output(item))
            .map(|item| ToolResult {
                name: name(item).unwrap_or("the tool").to_owned(),
                output: output_of(item),
            })
            .collect()
    }

    /// The conversation without what the developer told: who spoke, and the text.
    pub(crate) fn recalled(self) -> Vec<String> {
        let lines = self.items().iter().filter_map(|item| match kind(item) {
            "message" | "" if !is_told(item) => {
                Some(format!("{}: {}", string(item, "role"), text_of(item)))
            }
            "function_call" => {
                Some(format!("{}({})", string(item, "name"), string(item, "arguments")))
            }
            "custom_tool_call" => {
                Some(format!("{}({})", string(item, "name"), string(item, "input")))
            }
            _ if is_tool_output(item) => Some(format!("result: {}", output_of(item))),
            _ => None,
        });
        lines.collect()
    }

    /// The schema that the answer must fit; null if there is none.
    pub(crate) fn schema(self) -> &'a Value {
        self.body.pointer("/text/format/schema").unwrap_or(&Value::Null)
    }

    /// The declared functions, from `tools` and from input items that carry tools.
    pub(crate) fn tools(self) -> Vec<Tool<'a>> {
        self.declared().flat_map(|tool| functions_of(tool, None)).collect()
    }

    /// The names of the declared tools of type `custom`.
    pub(crate) fn custom_tools(self) -> Vec<&'a str> {
        let custom = self.declared().filter(|tool| kind(tool) == "custom");
        custom.map(|tool| string(tool, "name")).collect()
    }

    fn declared(self) -> impl Iterator<Item = &'a Value> {
        let carried = self
            .items()
            .iter()
            .filter(|item| kind(item) == "additional_tools")
            .flat_map(|item| array(item, "tools"));
        array(self.body, "tools").iter().chain(carried)
    }

    fn items(self) -> &'a [Value] {
        array(self.body, "input")
    }

    /// Codex appends settings behind what was said; they are not part of the conversation.
    fn last_item(self) -> Option<&'a Value> {
        self.items()
            .iter()
            .rev()
            .find(|item| !matches!(kind(item), "configuration_update" | "additional_tools"))
    }

    /// The name of each call by its id; of several, the last.
    fn names_of_calls(self) -> HashMap<&'a str, &'a str> {
        let calls = self.items().iter().filter(|item| !is_tool_output(item));
        let named = calls
            .filter_map(|item| Some((item.get("call_id")?.as_str()?, item.get("name")?.as_str()?)));
        named.collect()
    }
}

fn functions_of<'a>(tool: &'a Value, namespace: Option<&'a str>) -> Vec<Tool<'a>> {
    let name = string(tool, "name");
    match kind(tool) {
        "function" => vec![Tool {
            name,
            namespace,
            description: string(tool, "description"),
            parameters: tool.get("parameters").unwrap_or(&Value::Null),
        }],
        "namespace" => {
            let inner = Some(name).filter(|name| *name != PLAIN_NAMESPACE);
            array(tool, "tools").iter().flat_map(|tool| functions_of(tool, inner)).collect()
        }
        _ => Vec::new(),
    }
}

fn has_role(item: &Value, role: &str) -> bool {
    matches!(kind(item), "message" | "") && string(item, "role") == role
}

/// Whether it is a message of the developer's.
fn is_told(item: &Value) -> bool {
    has_role(item, "developer") || has_role(item, "system")
}

fn is_tool_output(item: &Value) -> bool {
    kind(item).ends_with("_output")
}

/// The parts of a message are joined as they are, so that an echo loses nothing.
fn text_of(message: &Value) -> String {
    joined_text(message.get("content").unwrap_or(&Value::Null))
}

fn output_of(item: &Value) -> String {
    match item.get("output").or_else(|| item.get("tools")) {
        Some(Value::String(text)) => text.clone(),
        Some(parts @ Value::Array(_)) if !joined_text(parts).is_empty() => joined_text(parts),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

fn joined_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(|part| string(part, "text")).collect(),
        _ => String::new(),
    }
}

fn kind(item: &Value) -> &str {
    string(item, "type")
}

fn string<'a>(item: &'a Value, field: &str) -> &'a str {
    item.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn array<'a>(item: &'a Value, field: &str) -> &'a [Value] {
    item.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests;
