//! What decides what becomes of a turn's events, as a record has it.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Duration;

use bridge::{
    CallShape, DeclaredTools, OtherTool, OutputMode, Preamble, StopAfterTools, TextBlocks,
    TurnPolicy,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_call_aggregator::Limits;
use tool_call_aggregator::obsidian::XmlEscaping;

/// A [`TurnPolicy`] as it is written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    #[serde(with = "Mode")]
    mode: OutputMode,
    #[serde(with = "Shape")]
    shape: CallShape,
    stop_after_tools: Stop,
    suppress_tail: bool,
    /// Only if it is not as usual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    preamble: Option<Preamble>,
    max_calls: Option<NonZeroUsize>,
    dedup: bool,
    delimiter: String,
    #[serde(with = "Blocks")]
    text_blocks: TextBlocks,
    #[serde(with = "Escaping")]
    xml_escaping: XmlEscaping,
    reasoning: bool,
    #[serde(with = "RecordedLimits")]
    limits: Limits,
    max_held_bytes: usize,
    max_answer_bytes: usize,
    /// The schemas of the declared tools.
    pub(crate) tools: BTreeMap<String, Value>,
    /// Those of them that are not just functions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) other_tools: BTreeMap<String, OtherTool>,
    pub(crate) stop_sequences: Vec<String>,
    max_tokens: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stop {
    Off,
    First,
    Burst { grace_ms: Option<u64> },
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "OutputMode", rename_all = "kebab-case")]
enum Mode {
    ObsidianXml,
    #[serde(rename = "openai-json")]
    OpenAiJson,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "CallShape", rename_all = "snake_case")]
enum Shape {
    ToolCalls,
    FunctionCall,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "TextBlocks", rename_all = "snake_case")]
enum Blocks {
    Ignored,
    Declared,
    Any,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "XmlEscaping", rename_all = "snake_case")]
enum Escaping {
    Entities,
    Verbatim,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Limits")]
struct RecordedLimits {
    calls: usize,
    name_bytes: usize,
    argument_bytes: usize,
    held_bytes: usize,
}

/// A setting that a record cannot be replayed under.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SettingError {
    /// It has no such setting.
    #[error("{0} cannot be set for a replay; possible are {names}", names = SETTINGS.join(", "))]
    Unknown(String),
    /// Its value is not allowed.
    #[error("{name} is \"{value}\": {allowed}")]
    Value {
        /// The setting.
        name: String,
        /// What was given.
        value: String,
        /// What may be given.
        allowed: &'static str,
    },
}

/// The settings that a record can be replayed under.
const SETTINGS: [&str; 8] = [
    "PROXY_OUTPUT_MODE",
    "PROXY_STOP_AFTER_TOOLS",
    "PROXY_STOP_AFTER_TOOLS_MODE",
    "PROXY_SUPPRESS_TAIL_AFTER_TOOLS",
    "PROXY_TOOL_BLOCK_MAX",
    "PROXY_TOOL_BLOCK_DEDUP",
    "PROXY_XML_ESCAPE",
    "PROXY_REASONING",
];

// === impl Policy ===

impl Policy {
    /// Whether `<use_tool>` blocks are read or written.
    pub(crate) fn knows_blocks(&self) -> bool {
        self.mode == OutputMode::ObsidianXml || self.text_blocks != TextBlocks::Ignored
    }

    /// Changes one setting, by its name and value in the environment.
    ///
    /// # Errors
    /// What can be set, and to what.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        let wrong = |allowed| SettingError::Value {
            name: name.to_owned(),
            value: value.to_owned(),
            allowed,
        };
        let flag = || value.parse().map_err(|_| wrong("true or false"));
        match name {
            "PROXY_OUTPUT_MODE" => {
                self.mode = value.parse().map_err(|()| wrong("obsidian-xml or openai-json"))?;
            }
            "PROXY_STOP_AFTER_TOOLS" => {
                self.stop_after_tools =
                    if flag()? { Stop::Burst { grace_ms: None } } else { Stop::Off };
            }
            "PROXY_STOP_AFTER_TOOLS_MODE" => {
                self.stop_after_tools = match value {
                    "first" => Stop::First,
                    "burst" | "all" => Stop::Burst { grace_ms: None },
                    _ => return Err(wrong("first, burst or all")),
                }
            }
            "PROXY_SUPPRESS_TAIL_AFTER_TOOLS" => self.suppress_tail = flag()?,
            "PROXY_TOOL_BLOCK_MAX" => {
                let most = value.parse().map_err(|_| wrong("a whole number; 0 is no cap"))?;
                self.max_calls = NonZeroUsize::new(most);
            }
            "PROXY_TOOL_BLOCK_DEDUP" => self.dedup = flag()?,
            "PROXY_XML_ESCAPE" => {
                self.xml_escaping = match value {
                    "verbatim" => XmlEscaping::Verbatim,
                    "entities" => XmlEscaping::Entities,
                    _ => return Err(wrong("verbatim or entities")),
                }
            }
            "PROXY_REASONING" => {
                self.reasoning = match value {
                    "content" => true,
                    "off" => false,
                    _ => return Err(wrong("content or off")),
                }
            }
            _ => return Err(SettingError::Unknown(name.to_owned())),
        }
        Ok(())
    }
}

impl From<&TurnPolicy> for Policy {
    fn from(policy: &TurnPolicy) -> Self {
        let tools = policy.tools.iter().map(|(name, schema)| (name.to_owned(), schema.clone()));
        let others = policy.tools.others().map(|(name, tool)| (name.to_owned(), tool.clone()));
        Self {
            mode: policy.mode,
            shape: policy.shape,
            stop_after_tools: match policy.stop_after_tools {
                StopAfterTools::Off => Stop::Off,
                StopAfterTools::First => Stop::First,
                StopAfterTools::Burst { grace } => Stop::Burst {
                    // A setting of milliseconds.
                    grace_ms: grace.map(|grace| grace.as_millis().try_into().unwrap_or(u64::MAX)),
                },
            },
            suppress_tail: policy.suppress_tail,
            preamble: Some(policy.preamble).filter(|preamble| *preamble != Preamble::default()),
            max_calls: policy.max_calls,
            dedup: policy.dedup,
            delimiter: policy.delimiter.clone(),
            text_blocks: policy.text_blocks,
            xml_escaping: policy.xml_escaping,
            reasoning: policy.reasoning,
            limits: policy.limits,
            max_held_bytes: policy.max_held_bytes,
            max_answer_bytes: policy.max_answer_bytes,
            tools: tools.collect(),
            other_tools: others.collect(),
            stop_sequences: policy.stop_sequences.clone(),
            max_tokens: policy.max_tokens,
        }
    }
}

impl From<&Policy> for TurnPolicy {
    fn from(policy: &Policy) -> Self {
        let tools = policy.tools.iter().map(|(name, schema)| (name.clone(), schema.clone()));
        let others = policy.other_tools.iter().map(|(name, tool)| (name.clone(), tool.clone()));
        Self {
            mode: policy.mode,
            shape: policy.shape,
            stop_after_tools: match policy.stop_after_tools {
                Stop::Off => StopAfterTools::Off,
                Stop::First => StopAfterTools::First,
                Stop::Burst { grace_ms } => {
                    StopAfterTools::Burst { grace: grace_ms.map(Duration::from_millis) }
                }
            },
            suppress_tail: policy.suppress_tail,
            preamble: policy.preamble.unwrap_or_default(),
            max_calls: policy.max_calls,
            dedup: policy.dedup,
            delimiter: policy.delimiter.clone(),
            text_blocks: policy.text_blocks,
            xml_escaping: policy.xml_escaping,
            reasoning: policy.reasoning,
            limits: policy.limits,
            max_held_bytes: policy.max_held_bytes,
            max_answer_bytes: policy.max_answer_bytes,
            tools: DeclaredTools::new(tools, others),
            stop_sequences: policy.stop_sequences.clone(),
            max_tokens: policy.max_tokens,
        }
    }
}
