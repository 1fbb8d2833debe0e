//! The conversation so far, as the model will see it.

use std::collections::{HashMap, HashSet};
use std::hash::Hasher as _;

use model_turn::{
    CallInput, ContentPart, HistoryItem, InvalidHistory, MessagePhase, Role, ToolName, ToolOutput,
};
use serde::Serialize;
use siphasher::sip128::{Hasher128 as _, SipHasher13};

use crate::tool_names::ToolNames;

/// An item in the shape that Codex takes.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Wire<'a> {
    Message {
        role: Role,
        content: Vec<WirePart<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        phase: Option<MessagePhase>,
    },
    FunctionCall {
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        namespace: Option<&'a str>,
        arguments: &'a str,
        call_id: &'a str,
    },
    FunctionCallOutput {
        call_id: &'a str,
        output: WireOutput<'a>,
    },
    CustomToolCall {
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        namespace: Option<&'a str>,
        input: &'a str,
        call_id: &'a str,
    },
    CustomToolCallOutput {
        call_id: &'a str,
        output: WireOutput<'a>,
    },
    Reasoning {
        summary: Vec<WirePart<'a>>,
        encrypted_content: &'a str,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum WirePart<'a> {
    InputText { text: &'a str },
    OutputText { text: &'a str },
    SummaryText { text: &'a str },
    InputImage { image_url: &'a str },
}

#[derive(Serialize)]
#[serde(untagged)]
enum WireOutput<'a> {
    Text(&'a str),
    Parts(Vec<WirePart<'a>>),
}

/// As Codex takes it, without an id; `alias` is a tool's name towards Codex, and `custom` has the
/// calls of custom tools before it.
pub(crate) fn to_json(
    item: &HistoryItem,
    alias: &ToolName,
    custom: &CustomCalls,
) -> serde_json::Result<String> {
    serde_json::to_string(&wire_item(item, alias, custom))
}

fn id_prefix(item: &HistoryItem, custom: &CustomCalls) -> &'static str {
    match item {
        HistoryItem::Message { .. } => "msg_",
        HistoryItem::ToolCall { input: CallInput::Arguments(_), .. } => "fc_",
        HistoryItem::ToolCall { input: CallInput::Text(_), .. } => "ctc_",
        HistoryItem::ToolOutput { call_id, .. } if custom.has(call_id) => "ctco_",
        HistoryItem::ToolOutput { .. } => "fco_",
        HistoryItem::Reasoning { .. } => "rs_",
    }
}

fn wire_item<'a>(item: &'a HistoryItem, alias: &'a ToolName, custom: &CustomCalls) -> Wire<'a> {
    let (name, namespace) = (alias.name.as_str(), alias.namespace.as_deref());
    match item {
        HistoryItem::Message { role, content, phase } => {
            Wire::Message { role: *role, content: wire_parts(content, *role), phase: *phase }
        }
        HistoryItem::ToolCall { call_id, input: CallInput::Arguments(arguments), .. } => {
            Wire::FunctionCall { name, namespace, arguments, call_id }
        }
        HistoryItem::ToolCall { call_id, input: CallInput::Text(input), .. } => {
            Wire::CustomToolCall { name, namespace, input, call_id }
        }
        HistoryItem::ToolOutput { call_id, output } => {
            let output = match output {
                ToolOutput::Text(text) => WireOutput::Text(text),
                ToolOutput::Parts(parts) => WireOutput::Parts(wire_parts(parts, Role::User)),
            };
            if custom.has(call_id) {
                Wire::CustomToolCallOutput { call_id, output }
            } else {
                Wire::FunctionCallOutput { call_id, output }
            }
        }
        HistoryItem::Reasoning { summary, encrypted_content, .. } => Wire::Reasoning {
            summary: summary.iter().map(|text| WirePart::SummaryText { text }).collect(),
            encrypted_content,
        },
    }
}

fn wire_parts(parts: &[ContentPart], role: Role) -> Vec<WirePart<'_>> {
    parts
        .iter()
        .map(|part| match (part, role) {
            (ContentPart::Text(text), Role::Assistant) => WirePart::OutputText { text },
            (ContentPart::Text(text), Role::Developer | Role::User) => WirePart::InputText { text },
            (ContentPart::Image { url }, _) => WirePart::InputImage { image_url: url },
        })
        .collect()
}

/// The items in Codex's shape, each with an id of its own.
///
/// Codex gives a random id to an item without one, and the upstream's prompt cache would never
/// see the same prefix twice. So an id is derived from the item and from everything before it:
/// equal prefixes have equal ids, and two equal messages in one history have different ones.
///
/// `look` sees each item without its id.
pub(crate) fn to_wire(
    items: &[HistoryItem],
    names: &mut ToolNames,
    mut look: impl FnMut(&HistoryItem, &str),
) -> Result<Vec<Box<str>>, InvalidHistory> {
    check_calls(items)?;
    let mut chain = SipHasher13::new();
    let mut custom = CustomCalls::default();
    items
        .iter()
        .enumerate()
        .map(|(index, item)| {
            let invalid = |problem| InvalidHistory { index, problem };
            let remote = |part: &ContentPart| {
                matches!(part, ContentPart::Image { url } if !url.starts_with("data:"))
            };
            if item.parts().iter().any(remote) {
                return Err(invalid("an image must be a data: URL"));
            }
            let alias = match item {
                HistoryItem::ToolCall { name, .. } => names.mention(name),
                _ => ToolName::default(),
            };
            custom.note(item);
            let unwritable = |_| invalid("it cannot be written as JSON");
            let mut json = to_json(item, &alias, &custom).map_err(unwritable)?;
            look(item, &json);
            chain.write(json.as_bytes());
            let hash = chain.finish128().as_u128();
            push_id(&mut json, id_prefix(item, &custom), hash);
            Ok(json.into_boxed_str())
        })
        .collect()
}

/// Gives a JSON object a last member. Digit by digit, in a fraction of the time that `{hash:032x}` takes:
/// every item of a long history has one.
fn push_id(object: &mut String, prefix: &str, hash: u128) {
    const DIGITS: usize = 32;
    object.pop();
    object.reserve(r#","id":""}"#.len() + prefix.len() + DIGITS);
    object.push_str(r#","id":""#);
    object.push_str(prefix);
    for digit in (0..DIGITS).rev() {
        let digit = (hash >> (digit * 4)) as usize & 0xf;
        object.push(char::from(b"0123456789abcdef"[digit]));
    }
    object.push_str(r#""}"#);
}

/// Codex drops an output without a call, and makes up an output for a call without one.
fn check_calls(items: &[HistoryItem]) -> Result<(), InvalidHistory> {
    let mut unanswered: HashMap<&str, usize> = HashMap::new();
    for (index, item) in items.iter().enumerate() {
        match item {
            HistoryItem::ToolCall { call_id, .. } => {
                if unanswered.insert(call_id, index).is_some() {
                    let problem = "an earlier call of the same id has no output";
                    return Err(InvalidHistory { index, problem });
                }
            }
            HistoryItem::ToolOutput { call_id, .. } => {
                if unanswered.remove(call_id.as_str()).is_none() {
                    let problem = "there is no call before this output";
                    return Err(InvalidHistory { index, problem });
                }
            }
            HistoryItem::Message { .. } | HistoryItem::Reasoning { .. } => {}
        }
    }
    match unanswered.into_values().min() {
        Some(index) => Err(InvalidHistory { index, problem: "the call has no output" }),
        None => Ok(()),
    }
}

/// The calls of custom tools in a conversation: their outputs are items of another type.
#[derive(Debug, Clone, Default)]
pub(crate) struct CustomCalls(HashSet<String>);

// === impl CustomCalls ===

impl CustomCalls {
    /// The next item of the conversation.
    pub(crate) fn note(&mut self, item: &HistoryItem) {
        if let HistoryItem::ToolCall { call_id, input, .. } = item {
            match input {
                CallInput::Text(_) => {
                    self.0.insert(call_id.clone());
                }
                // Most conversations have none.
                CallInput::Arguments(_) if self.0.is_empty() => {}
                CallInput::Arguments(_) => {
                    self.0.remove(call_id);
                }
            }
        }
    }

    fn has(&self, call_id: &str) -> bool {
        self.0.contains(call_id)
    }
}

#[cfg(test)]
mod tests;
