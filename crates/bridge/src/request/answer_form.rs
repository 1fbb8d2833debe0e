//! How the answer is given: its output mode, the blocks in its text, its form.

use memchr::memmem;
use model_turn::{HistoryItem, Role};
use openai_wire::{ApiError, ReasoningSummary, ResponseFormat, Tool, ToolChoice};
use serde_json::Value;

use super::RequestOptions;
use super::strict_schema::is_strict;
use crate::policy::{
    OutputMode, OutputModeSetting, StreamArguments, TextBlocks, TextTools, TurnSettings,
};

/// The header in which a client asks for a mode.
const MODE_HEADER: &str = "x-proxy-output-mode";

/// The header in which a client asks for whole calls.
const STREAM_ARGUMENTS_HEADER: &str = "x-proxy-stream-arguments";

/// A text that holds this speaks of calls in text.
const BLOCK_MARKER: &str = "<use_tool";

/// The header wins over the setting.
pub(super) fn mode(
    requested: Option<&str>,
    setting: OutputModeSetting,
    tools: &[Tool],
) -> Result<OutputMode, ApiError> {
    if let Some(name) = requested {
        return name.parse().map_err(|()| unknown_mode(name));
    }
    Ok(match setting {
        OutputModeSetting::Always(mode) => mode,
        // Raw XML would show up in the text of a client that reads calls only.
        OutputModeSetting::Auto if !tools.is_empty() => OutputMode::OpenAiJson,
        OutputModeSetting::Auto => OutputMode::ObsidianXml,
    })
}

fn unknown_mode(name: &str) -> ApiError {
    let (xml, json) = (OutputMode::ObsidianXml, OutputMode::OpenAiJson);
    let message = format!("Invalid value: '{name}'. Supported values are: '{xml}', '{json}'.");
    ApiError::invalid(MODE_HEADER, message)
}

/// The header can switch off what the setting has on.
pub(super) fn stream_arguments(options: &RequestOptions<'_>) -> Result<StreamArguments, ApiError> {
    let requested = options.stream_arguments.map_or(Ok(StreamArguments::Auto), |name| {
        name.parse().map_err(|()| {
            let message = format!("Invalid value: '{name}'. Supported values are: 'auto', 'off'.");
            ApiError::invalid(STREAM_ARGUMENTS_HEADER, message)
        })
    })?;
    Ok(match options.settings.stream_arguments {
        StreamArguments::Auto => requested,
        StreamArguments::Off => StreamArguments::Off,
    })
}

/// Which blocks of the answer's text are calls. `request_speaks` says whether the request's texts speak
/// of them.
pub(super) fn text_blocks(
    settings: &TurnSettings,
    tools: &[Tool],
    choice: &ToolChoice,
    request_speaks: impl FnOnce() -> bool,
) -> TextBlocks {
    let speaks = || speak_of_blocks(settings.instructions.as_deref()) || request_speaks();
    match (settings.text_tools, tools.is_empty()) {
        (TextTools::On, _) => TextBlocks::Any,
        (TextTools::Auto, false) if *choice != ToolChoice::None => TextBlocks::Declared,
        (TextTools::Auto, true) if speaks() => TextBlocks::Any,
        (TextTools::Auto | TextTools::Off, _) => TextBlocks::Ignored,
    }
}

pub(super) fn speak_of_blocks<'a>(texts: impl IntoIterator<Item = &'a str>) -> bool {
    let finder = memmem::Finder::new(BLOCK_MARKER);
    texts.into_iter().any(|text| finder.find(text.as_bytes()).is_some())
}

/// What Codex is told of summaries.
pub(super) fn summary(settings: &TurnSettings, wanted: ReasoningSummary) -> &'static str {
    match wanted {
        _ if !settings.reasoning => "none",
        ReasoningSummary::Auto => "auto",
        ReasoningSummary::Concise => "concise",
        ReasoningSummary::Detailed => "detailed",
        ReasoningSummary::None => "none",
    }
}

/// The schema that the answer must follow, or what the model is told about its form.
pub(super) fn format(format: ResponseFormat) -> (Option<Value>, Option<HistoryItem>) {
    match format {
        ResponseFormat::Text => (None, None),
        ResponseFormat::JsonObject => {
            (None, Some(told(format!("Answer with one JSON object{ALONE}."))))
        }
        ResponseFormat::JsonSchema { description, mut schema, strict } => {
            // Codex always asks for strict mode, in which upstreams refuse many schemas.
            if strict || is_strict(&schema) {
                if let Some(description) = description {
                    schema.entry("description").or_insert(description.into());
                }
                return (Some(Value::Object(schema)), None);
            }
            let schema = Value::Object(schema);
            let purpose = description.map(|text| format!("\n{text}")).unwrap_or_default();
            let words =
                format!("Answer with JSON that follows this schema{ALONE}:\n{schema}{purpose}");
            (None, Some(told(words)))
        }
    }
}

const ALONE: &str = ", without any other text and without a code fence";

fn told(words: String) -> HistoryItem {
    HistoryItem::text(Role::Developer, words)
}
