//! The scenarios: what is asked of a server, and what must come of it.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::exchange::Delivery;
use crate::rule::RuleId;

/// Where the question stands in a request.
const QUESTION: &str = "$ASK";

/// A scenario, as a file of `conformance/http` has it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// As its file is called.
    #[serde(skip)]
    pub name: &'static str,
    /// What it is about.
    pub why: String,
    /// The rules that it is there for.
    pub rules: Vec<RuleId>,
    /// The one of them that is broken by a server that refuses the request or loses it.
    pub(crate) unanswered: RuleId,
    pub(crate) endpoint: Endpoint,
    #[serde(default)]
    pub(crate) ask: Ask,
    #[serde(default)]
    pub(crate) request: Map<String, Value>,
    /// One after the other; with both, they must say the same.
    #[serde(default = "streamed")]
    pub(crate) deliveries: Vec<Delivery>,
    #[serde(default)]
    pub(crate) client: Client,
    #[serde(default)]
    pub(crate) expected: Expected,
}

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Endpoint {
    Chat,
    Responses,
    Models,
    /// A path that no server has.
    Nowhere,
}

/// The question, which stands in the request in the place of `$ASK`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ask {
    /// With the mark that tells the scripted model what to say.
    #[serde(default)]
    pub(crate) scripted: Option<String>,
    /// For any other model.
    #[serde(default)]
    pub(crate) plain: Option<String>,
    /// Members of the request that make any other model do it.
    #[serde(default)]
    pub(crate) plain_request: Map<String, Value>,
    /// Members instead of those, for a server that refuses them with 400.
    #[serde(default)]
    pub(crate) plain_otherwise: Option<Map<String, Value>>,
}

/// What the client does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Client {
    /// Asks with its key, and reads to the end.
    #[default]
    Reads,
    /// Leaves when the answer has begun.
    Leaves,
    /// Has a wrong key.
    WrongKey,
}

/// What must come.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expected {
    #[serde(default)]
    pub(crate) outcome: ExpectedOutcome,
    /// Any of these; else 200 for an answer, and any error for others.
    #[serde(default)]
    pub(crate) status: Vec<u16>,
    /// The field that an error names.
    #[serde(default)]
    pub(crate) param: Option<String>,
    #[serde(default)]
    pub(crate) text: Option<String>,
    #[serde(default)]
    pub(crate) calls: Option<Vec<ExpectedCall>>,
    /// As chat completions have it: `stop`, `tool_calls` or `length`.
    #[serde(default)]
    pub(crate) finish: Option<String>,
    /// How long before the end of a stream its text must begin, where the model speaks slowly.
    #[serde(default)]
    pub(crate) first_text_before_end_ms: Option<u64>,
}

/// What becomes of the request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ExpectedOutcome {
    /// It is answered.
    #[default]
    Answer,
    /// It fails before anything was said.
    Refusal,
    /// It fails after something was said.
    Failure,
}

/// A call that must come.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(crate) enum ExpectedCall {
    /// Of a function, with these arguments as JSON values.
    Function { name: String, arguments: Value },
    /// Of a custom tool, with exactly this input.
    Custom { name: String, input: String },
}

/// Which model is behind the server, and how it is made to do something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelKind {
    /// Ours, which says what the mark in the question tells it to.
    Scripted,
    /// Any.
    Any,
}

/// Data of the kit that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("conformance/{file}: {source}")]
pub struct Unreadable {
    pub(crate) file: &'static str,
    pub(crate) source: serde_json::Error,
}

/// The files of `conformance/http`, in the order in which they are played.
macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../../conformance/http/", $name, ".json")))),*]
    };
}

pub(crate) const FILES: [(&str, &str); 55] = files![
    "models",
    "unknown-path",
    "wrong-key",
    "chat-text",
    "chat-text-cut-by-character",
    "chat-text-uncut",
    "chat-text-with-usage",
    "chat-one-call",
    "chat-text-and-call",
    "chat-three-calls",
    "chat-call-in-fragments",
    "chat-call-byte-by-byte",
    "chat-call-without-arguments",
    "chat-length",
    "chat-silence",
    "chat-failure-before",
    "chat-rate-limit",
    "chat-failure-after-text",
    "chat-failure-inside-call",
    "chat-no-messages",
    "chat-messages-of-the-wrong-type",
    "chat-nulls",
    "chat-content-parts",
    "chat-system-messages",
    "chat-developer-message",
    "chat-other-nulls",
    "chat-unknown-fields",
    "chat-tool-results",
    "chat-custom-call",
    "chat-custom-results",
    "chat-hosted-tools",
    "chat-client-leaves",
    "responses-text",
    "responses-text-cut-by-character",
    "responses-text-uncut",
    "responses-one-call",
    "responses-text-and-call",
    "responses-three-calls",
    "responses-call-in-fragments",
    "responses-call-byte-by-byte",
    "responses-call-without-arguments",
    "responses-length",
    "responses-silence",
    "responses-failure-before",
    "responses-rate-limit",
    "responses-failure-after-text",
    "responses-failure-inside-call",
    "responses-input-of-the-wrong-type",
    "responses-tool-results",
    "responses-repeated-output",
    "responses-custom-call",
    "responses-custom-results",
    "responses-hosted-tools",
    "responses-unknown-tools",
    "responses-client-leaves",
];

/// All scenarios, in the order in which they are played.
///
/// # Errors
/// If the data are not as they should be, which a test would have told.
pub fn scenarios() -> Result<Vec<Scenario>, Unreadable> {
    FILES.into_iter().map(|(name, text)| Scenario::read(name, text)).collect()
}

fn streamed() -> Vec<Delivery> {
    vec![Delivery::Streamed]
}

// === impl Scenario ===

impl Scenario {
    fn read(name: &'static str, text: &str) -> Result<Self, Unreadable> {
        let scenario: Self =
            serde_json::from_str(text).map_err(|source| Unreadable { file: name, source })?;
        Ok(Self { name, ..scenario })
    }

    /// Whether the rule is one that it is there for.
    pub(crate) fn is_about(&self, rule: RuleId) -> bool {
        self.rules.contains(&rule)
    }

    /// The same, for a server that refuses what makes any model do it; `None` if there is no way.
    pub(crate) fn otherwise(&self) -> Option<Self> {
        let plain_request = self.ask.plain_otherwise.clone()?;
        let ask = Ask { plain_request, plain_otherwise: None, ..self.ask.clone() };
        Some(Self { ask, ..self.clone() })
    }

    /// The names of the tools that a call may be of.
    pub(crate) fn declared(&self) -> Vec<&str> {
        let tools = self.request.get("tools").and_then(Value::as_array);
        tools.into_iter().flatten().filter_map(tool_name).collect()
    }

    /// The body of the request; `None` if this kind of model cannot be made to do it.
    pub(crate) fn body(&self, model: &str, kind: ModelKind, delivery: Delivery) -> Option<Value> {
        let mut body = self.request.clone();
        let question = match kind {
            ModelKind::Scripted => self.ask.scripted.as_ref().or(self.ask.plain.as_ref()),
            ModelKind::Any => {
                body.extend(self.ask.plain_request.clone());
                self.ask.plain.as_ref()
            }
        };
        if let Some(question) = question {
            body.values_mut().for_each(|value| put_question(value, question));
        } else if self.ask.scripted.is_some() {
            return None;
        }
        body.entry("model").or_insert_with(|| model.into());
        match delivery {
            Delivery::Streamed => {
                body.insert("stream".to_owned(), true.into());
            }
            Delivery::Whole => {
                body.remove("stream_options");
            }
        }
        Some(body.into())
    }
}

/// Responses have it in the tool itself, chat completions in a member named like its type; hosted
/// tools have none.
fn tool_name(tool: &Value) -> Option<&str> {
    let kind = tool["type"].as_str()?;
    tool["name"].as_str().or(tool[kind]["name"].as_str())
}

fn put_question(value: &mut Value, question: &str) {
    match value {
        Value::String(text) if text == QUESTION => question.clone_into(text),
        Value::Array(values) => values.iter_mut().for_each(|value| put_question(value, question)),
        Value::Object(members) => {
            members.values_mut().for_each(|value| put_question(value, question));
        }
        _ => {}
    }
}

// === impl ExpectedCall ===

impl ExpectedCall {
    /// The tool that is called.
    pub(crate) fn name(&self) -> &str {
        let (Self::Function { name, .. } | Self::Custom { name, .. }) = self;
        name
    }
}

// === impl Endpoint ===

impl Endpoint {
    /// Behind the base URL.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Chat => "/chat/completions",
            Self::Responses => "/responses",
            Self::Models => "/models",
            Self::Nowhere => "/no-such-path-of-the-conformance-kit",
        }
    }
}

#[cfg(test)]
mod tests;
