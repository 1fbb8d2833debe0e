//! What a response repeats of its request, as OpenAI's repeat it: with the defaults that were used.

use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::Truncation;
use super::text::Text;
use crate::call_part::call_type;
use crate::reading::{
    AllowedMode, ChosenTool, ReasoningSummary, ServiceTier, Tool, ToolChoice, ToolKind,
};

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
    /// How the upstream was asked to process it.
    pub service_tier: ServiceTier,
}

/// JSON that is written as it stands.
#[derive(Debug, Clone)]
pub struct JsonText(Box<RawValue>);

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ToolEcho<'a> {
    Function {
        name: &'a str,
        description: Option<&'a str>,
        parameters: &'a Map<String, Value>,
        strict: bool,
    },
    Custom {
        name: &'a str,
        description: Option<&'a str>,
        format: FormatEcho<'a>,
    },
    Namespace {
        name: &'a str,
        description: &'a str,
        tools: Vec<ToolEcho<'a>>,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum FormatEcho<'a> {
    Text,
    Grammar { syntax: &'a str, definition: &'a str },
}

#[derive(Serialize)]
struct ChoiceEcho<'a> {
    r#type: &'static str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "allowed_tools")]
struct AllowedEcho<'a> {
    mode: &'static str,
    tools: Vec<ChoiceEcho<'a>>,
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
            service_tier: ServiceTier::Default,
        }
    }
}

/// Tools of a namespace stand together, as they were declared.
pub(super) fn tools(tools: &[Tool]) -> JsonText {
    let mut echoes: Vec<ToolEcho<'_>> = Vec::with_capacity(tools.len());
    for tool in tools {
        let echo = ToolEcho::of(tool);
        match (&tool.namespace, echoes.last_mut()) {
            (None, _) => echoes.push(echo),
            (Some(namespace), Some(ToolEcho::Namespace { name, tools, .. }))
                if *name == namespace.name =>
            {
                tools.push(echo);
            }
            (Some(namespace), _) => {
                let (name, description) = (&namespace.name, &namespace.description);
                echoes.push(ToolEcho::Namespace { name, description, tools: vec![echo] });
            }
        }
    }
    JsonText::new(&echoes)
}

pub(super) fn tool_choice(choice: &ToolChoice) -> JsonText {
    match choice {
        ToolChoice::Auto => JsonText::new("auto"),
        ToolChoice::None => JsonText::new("none"),
        ToolChoice::Required => JsonText::new("required"),
        ToolChoice::Named(tool) => JsonText::new(&ChoiceEcho::of(tool)),
        ToolChoice::Allowed { tools, mode } => JsonText::new(&AllowedEcho {
            mode: match mode {
                AllowedMode::Auto => "auto",
                AllowedMode::Required => "required",
            },
            tools: tools.iter().map(ChoiceEcho::of).collect(),
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

// === impl ToolEcho ===

impl<'a> ToolEcho<'a> {
    fn of(tool: &'a Tool) -> Self {
        let name = &tool.name;
        let description = Some(tool.description.as_str()).filter(|text| !text.is_empty());
        match &tool.kind {
            ToolKind::Function { parameters, strict } => {
                Self::Function { name, description, parameters, strict: *strict }
            }
            ToolKind::Custom { grammar } => {
                let format = match grammar {
                    None => FormatEcho::Text,
                    Some(grammar) => FormatEcho::Grammar {
                        syntax: &grammar.syntax,
                        definition: &grammar.definition,
                    },
                };
                Self::Custom { name, description, format }
            }
        }
    }
}

// === impl ChoiceEcho ===

impl<'a> ChoiceEcho<'a> {
    fn of(tool: &'a ChosenTool) -> Self {
        let r#type = call_type(tool.kind);
        Self { r#type, name: &tool.name, namespace: tool.namespace.as_deref() }
    }
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
