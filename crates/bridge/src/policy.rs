//! What is chosen about the answer to a turn: by the operator ([`TurnSettings`]), and then by the
//! request too ([`TurnPolicy`]).

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tool_call_aggregator::Limits;
use tool_call_aggregator::obsidian::XmlEscaping;

use crate::declared_tools::DeclaredTools;

/// How much text may be held back, for a block or after a call.
const MAX_HELD_BYTES: usize = 1024 * 1024;

/// Far more than any model says in one answer.
const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;

/// How calls are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutputMode {
    /// As `<use_tool>` blocks in the text, and as `tool_calls` beside it.
    ObsidianXml,
    /// As `tool_calls` only; blocks are taken out of the text.
    #[serde(rename = "openai-json")]
    OpenAiJson,
}

/// The operator's choice of an output mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutputModeSetting {
    /// XML, but JSON for a request that declares tools itself.
    #[default]
    Auto,
    /// Always this one.
    Always(OutputMode),
}

/// When a turn with calls is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopAfterTools {
    /// By the model alone.
    Off,
    /// After the first call.
    First,
    /// After the last call of a burst.
    Burst {
        /// How long after a call another one is waited for; `None` waits for the response's end.
        #[serde(rename = "grace_ms", with = "millis", default)]
        grace: Option<Duration>,
    },
}

/// The operator's choice of where calls are looked for in text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextTools {
    /// Where the request suggests that they are meant.
    #[default]
    Auto,
    /// Everywhere.
    On,
    /// Nowhere.
    Off,
}

/// Which blocks of a text are calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextBlocks {
    /// None: the text is not looked at.
    Ignored,
    /// Those that name a declared tool; others stay text.
    Declared,
    /// All.
    Any,
}

/// The operator's choice about images that a request names by their address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RemoteImages {
    /// They are refused.
    #[default]
    Refused,
    /// They are fetched, because Codex takes none.
    Fetched,
}

/// The operator's choice about tools that no client runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnsupportedTools {
    /// They are left out, and named.
    #[default]
    Ignore,
    /// A request with one is refused.
    Refuse,
}

/// Whether a stream has the arguments of calls as the model writes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StreamArguments {
    /// Where they can be had.
    #[default]
    Auto,
    /// Each call is sent whole.
    Off,
}

/// What the operator has chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnSettings {
    /// `PROXY_OUTPUT_MODE`
    pub output_mode: OutputModeSetting,
    /// `PROXY_RESPONSES_OUTPUT_MODE`
    pub responses_output_mode: OutputModeSetting,
    /// `PROXY_STOP_AFTER_TOOLS`, `_MODE`, `_GRACE_MS`
    pub stop_after_tools: StopAfterTools,
    /// `PROXY_SUPPRESS_TAIL_AFTER_TOOLS`
    pub suppress_tail: bool,
    /// `PROXY_TOOL_BLOCK_MAX`
    pub max_calls: Option<NonZeroUsize>,
    /// `PROXY_TOOL_BLOCK_DEDUP`
    pub dedup: bool,
    /// `PROXY_TOOL_BLOCK_DELIMITER`
    pub delimiter: String,
    /// `PROXY_ENABLE_PARALLEL_TOOL_CALLS`; `Some(false)` forwards one call at most.
    pub parallel_calls: Option<bool>,
    /// `PROXY_TEXT_TOOLS`
    pub text_tools: TextTools,
    /// `PROXY_XML_ESCAPE`
    pub xml_escaping: XmlEscaping,
    /// `PROXY_STREAM_ARGUMENTS`
    pub stream_arguments: StreamArguments,
    /// `PROXY_REASONING`: whether reasoning summaries are shown.
    pub reasoning: bool,
    /// `PROXY_MAX_TOOL_CALLS`, `PROXY_MAX_ARGUMENT_BYTES`
    pub limits: Limits,
    /// `PROXY_MAX_HELD_BYTES`: most text that is held back after a call.
    pub max_held_bytes: usize,
    /// `PROXY_MAX_ANSWER_BYTES`: most text and reasoning of a choice.
    pub max_answer_bytes: usize,
    /// `PROXY_MAX_CHAT_CHOICES`
    pub max_choices: u32,
    /// `PROXY_ALLOW_REMOTE_IMAGES`
    pub remote_images: RemoteImages,
    /// `PROXY_UNSUPPORTED_TOOLS`
    pub unsupported_tools: UnsupportedTools,
    /// Text of `PROXY_INSTRUCTIONS_FILE`: a developer message before the client's.
    pub instructions: Option<Arc<str>>,
}

/// Everything that decides what becomes of a turn's events. Records of requests have it as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnPolicy {
    /// How calls are shown.
    pub mode: OutputMode,
    /// Whether calls are told as `tool_calls` or as the legacy `function_call`.
    pub shape: CallShape,
    /// When a turn with calls is ended.
    pub stop_after_tools: StopAfterTools,
    /// Whether text after the last call is dropped.
    pub suppress_tail: bool,
    /// What becomes of text before the first call.
    #[serde(default, skip_serializing_if = "Preamble::is_sent")]
    pub preamble: Preamble,
    /// Most calls that are forwarded.
    pub max_calls: Option<NonZeroUsize>,
    /// Whether a call that is identical to an earlier one is dropped.
    pub dedup: bool,
    /// What goes between adjacent blocks.
    pub delimiter: String,
    /// Which blocks of the text are calls.
    pub text_blocks: TextBlocks,
    /// How strings are written in blocks.
    pub xml_escaping: XmlEscaping,
    /// Whether reasoning summaries are shown.
    pub reasoning: bool,
    /// Limits of the aggregator.
    pub limits: Limits,
    /// Most text that is held back, after a call or before a forced one.
    pub max_held_bytes: usize,
    /// Most text and reasoning: all of it is kept to the end, for counting.
    pub max_answer_bytes: usize,
    /// The tools that the request declares.
    #[serde(flatten)]
    pub tools: DeclaredTools,
    /// Texts that end the visible text.
    pub stop_sequences: Vec<String>,
    /// Most tokens of visible text.
    pub max_tokens: Option<u32>,
}

/// What becomes of text before the first call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preamble {
    /// It is sent.
    #[default]
    Sent,
    /// The request demands a call: text is held back, dropped once the call comes, and sent if none
    /// comes.
    Held,
}

/// How calls are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallShape {
    /// `tool_calls`
    ToolCalls,
    /// `function_call`, for a request with `functions` only.
    FunctionCall,
}

// === impl OutputMode ===

impl OutputMode {
    /// Its name in settings and headers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ObsidianXml => "obsidian-xml",
            Self::OpenAiJson => "openai-json",
        }
    }
}

impl fmt::Display for OutputMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for OutputMode {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        [Self::ObsidianXml, Self::OpenAiJson]
            .into_iter()
            .find(|mode| mode.as_str() == name)
            .ok_or(())
    }
}

// === impl StreamArguments ===

impl FromStr for StreamArguments {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        match name {
            "auto" => Ok(Self::Auto),
            "off" => Ok(Self::Off),
            _ => Err(()),
        }
    }
}

// === impl StopAfterTools ===

impl StopAfterTools {
    /// Its name in telemetry.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::First => "first",
            Self::Burst { .. } => "burst",
        }
    }
}

// === impl TurnSettings ===

impl Default for TurnSettings {
    fn default() -> Self {
        Self {
            output_mode: OutputModeSetting::Auto,
            responses_output_mode: OutputModeSetting::Always(OutputMode::OpenAiJson),
            stop_after_tools: StopAfterTools::Burst { grace: None },
            suppress_tail: true,
            max_calls: None,
            dedup: false,
            delimiter: String::new(),
            parallel_calls: None,
            text_tools: TextTools::Auto,
            // The only clients that read blocks never decode entities.
            xml_escaping: XmlEscaping::Verbatim,
            stream_arguments: StreamArguments::Auto,
            reasoning: true,
            limits: Limits { held_bytes: MAX_HELD_BYTES, ..Limits::default() },
            max_held_bytes: MAX_HELD_BYTES,
            max_answer_bytes: MAX_ANSWER_BYTES,
            max_choices: 5,
            remote_images: RemoteImages::Refused,
            unsupported_tools: UnsupportedTools::Ignore,
            instructions: None,
        }
    }
}

// === impl TurnPolicy ===

impl TurnPolicy {
    /// Whether `<use_tool>` blocks are read or written.
    pub fn knows_blocks(&self) -> bool {
        self.mode == OutputMode::ObsidianXml || self.text_blocks != TextBlocks::Ignored
    }

    /// Whether a block in fenced code is an example: where calls have a way of their own. Clients that
    /// read blocks execute those in fences, too.
    pub(crate) fn shows_examples(&self) -> bool {
        self.mode == OutputMode::OpenAiJson && !self.tools.is_empty()
    }
}

// === impl Preamble ===

impl Preamble {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    fn is_sent(&self) -> bool {
        *self == Self::Sent
    }
}

/// A time as a setting of milliseconds.
mod millis {
    use std::time::Duration;

    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    #[expect(clippy::ref_option, reason = "as serde calls it")]
    pub(super) fn serialize<S: Serializer>(
        time: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let millis = time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        millis.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(Option::deserialize(deserializer)?.map(Duration::from_millis))
    }
}
