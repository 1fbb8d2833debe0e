//! What a response repeats of its request, as OpenAI's repeat it: with the defaults that were used.

use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::Truncation;
use super::text::Text;
use crate::reading::{AllowedMode, FunctionTool, ReasoningSummary, ToolChoice};

/// What a response repeats of its request. Members that can be long are written once, and copied
/// into every event that has them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Echo {
    /// The tools, each in the flat form.
    pub tools: JsonText,
    /// Which of them may or must be called.
    pub tool_choice: JsonText,
    /// `format`, and `verbosity` if it was given.
    pub text: JsonText,
    /// `effort` and `summary`.
    pub reasoning: JsonText,
    /// The client's own notes.
    pub metadata: JsonText,
    /// Who asks, by the older name.
    pub user: Option<String>,
    /// Who asks.
    pub safety_identifier: Option<String>,
    /// What the upstream's cache would go by.
    pub prompt_cache_key: Option<String>,
    /// What should happen to a conversation that is too long.
    pub truncation: Truncation,
    /// How many calls of built-in tools there may be.
    pub max_tool_calls: Option<u32>,
}

/// JSON that is written as it stands.
#[derive(Debug, Clone)]
pub struct JsonText(Box<RawValue>);

#[derive(Serialize)]
#[serde(tag = "type", rename = "function")]
struct Tool<'a> {
    name: &'a str,
    description: Option<&'a str>,
    parameters: &'a Map<String, Value>,
    strict: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Choice<'a> {
    Function { name: &'a str },
    AllowedTools { mode: &'static str, tools: Vec<Choice<'a>> },
}

#[derive(Serialize)]
struct Reasoning<'a> {
    effort: Option<&'a str>,
    summary: Option<&'static str>,
}

// === impl Echo ===

/// What the response to a request repeats that has only a model and its input.
impl Default for Echo {
    fn default() -> Self {
        Self {
            tools: tools(&[]),
            tool_choice: tool_choice(&ToolChoice::default()),
            text: Text::default().echo(),
            reasoning: reasoning(None, None),
            metadata: JsonText::new(&Map::new()),
            user: None,
            safety_identifier: None,
            prompt_cache_key: None,
            truncation: Truncation::default(),
            max_tool_calls: None,
        }
    }
}

pub(super) fn tools(tools: &[FunctionTool]) -> JsonText {
    let tools = tools.iter().map(|tool| Tool {
        name: &tool.name,
        description: Some(tool.description.as_str()).filter(|text| !text.is_empty()),
        parameters: &tool.parameters,
        strict: tool.strict,
    });
    JsonText::new(&tools.collect::<Vec<_>>())
}

pub(super) fn tool_choice(choice: &ToolChoice) -> JsonText {
    match choice {
        ToolChoice::Auto => JsonText::new("auto"),
        ToolChoice::None => JsonText::new("none"),
        ToolChoice::Required => JsonText::new("required"),
        ToolChoice::Named(name) => JsonText::new(&Choice::Function { name }),
        ToolChoice::Allowed { names, mode } => JsonText::new(&Choice::AllowedTools {
            mode: match mode {
                AllowedMode::Auto => "auto",
                AllowedMode::Required => "required",
            },
            tools: names.iter().map(|name| Choice::Function { name }).collect(),
        }),
    }
}

pub(super) fn reasoning(effort: Option<&str>, summary: Option<ReasoningSummary>) -> JsonText {
    let summary = match summary {
        Some(ReasoningSummary::Auto) => Some("auto"),
        Some(ReasoningSummary::Concise) => Some("concise"),
        Some(ReasoningSummary::Detailed) => Some("detailed"),
        // OpenAI has no word for it.
        Some(ReasoningSummary::None) | None => None,
    };
    JsonText::new(&Reasoning { effort, summary })
}

// === impl JsonText ===

impl JsonText {
    /// What is written of a value.
    pub fn new(value: &(impl Serialize + ?Sized)) -> Self {
        Self(to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }
}

impl PartialEq for JsonText {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Serialize for JsonText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}
