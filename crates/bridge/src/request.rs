//! From a request to a turn and to what becomes of its events.

mod answer_form;
mod call_ids;
mod chat;
mod content;
mod history;
mod image_size;
mod pixels;
mod place;
mod prompt;
mod remote_images;
mod responses;
mod schema;
mod strict_schema;
mod tools;

use std::num::NonZeroUsize;
use std::sync::Arc;

use model_turn::{TurnRequest, Upstream};
use openai_wire::{ResponseFormat, ServiceTier, ToolChoice, Tools, Verbosity};

use crate::policy::{
    CallShape, OutputMode, Preamble, StreamArguments, TextBlocks, TurnPolicy, TurnSettings,
};
use crate::reasoning::{self, Question, ReasoningBefore};
pub use chat::prepare;
use history::History;
use pixels::Pixels;
pub use remote_images::ImageToFetch;
pub use responses::{adopt_prompt, prepare_response};
use tools::OfferedTools;

/// What else decides about a request.
#[derive(Clone, Copy)]
pub struct RequestOptions<'a> {
    /// What the operator has chosen.
    pub settings: &'a TurnSettings,
    /// The header `x-proxy-output-mode`.
    pub requested_mode: Option<&'a str>,
    /// The header `x-proxy-stream-arguments`.
    pub stream_arguments: Option<&'a str>,
    /// What its model stands for. A request that is only counted keeps the client's name.
    pub target: Option<&'a Target>,
    /// Owner of the conversation, if it may resume the thread of an earlier turn.
    pub owner: Option<&'a str>,
    /// Finds reasoning by the id that a call has in the history, and by what was asked before it.
    pub recall: Option<&'a Recall<'a>>,
}

/// Finds the reasoning that led to a call.
pub type Recall<'a> = dyn Fn(&str, Question) -> Option<Arc<[ReasoningBefore]>> + 'a;

/// What the model of a request stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Its slug.
    pub model: String,
    /// Its reasoning effort.
    pub effort: Option<String>,
    /// Where it is asked, if not at the login's own upstream.
    pub upstream: Option<Upstream>,
    /// The field of the effort, if the model has no such effort and gets another.
    pub ignored: Option<&'static str>,
}

/// A request that can be served.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// What Codex is asked.
    pub turn: TurnRequest,
    /// Images that the turn still names by their address: [`Prepared::put_images`].
    pub images_to_fetch: Vec<ImageToFetch>,
    /// Those of the images that it has as data.
    pixels: Pixels,
    /// What becomes of the turn's events.
    pub policy: TurnPolicy,
    /// How many answers.
    pub choices: u32,
    /// Whether the answer is streamed.
    pub stream: bool,
    /// Whether a stream ends with the usage.
    pub include_usage: bool,
    /// What was asked for and has no effect: each once, for `x-proxy-ignored-params`.
    pub ignored: Vec<String>,
    /// The model as the client names it.
    pub model: String,
}

/// What a request asks for beside its conversation, whichever API it came by.
struct Wanted {
    model: String,
    mode: OutputMode,
    text_blocks: TextBlocks,
    suppress_tail: bool,
    shape: CallShape,
    tools: Tools,
    tool_choice: ToolChoice,
    parallel_tool_calls: Option<bool>,
    format: ResponseFormat,
    effort: Option<String>,
    /// In Codex's terms. Its own default differs from model to model, so it is always said.
    summary: &'static str,
    verbosity: Option<Verbosity>,
    service_tier: ServiceTier,
    stop: Vec<String>,
    max_tokens: Option<u32>,
    choices: u32,
    stream: bool,
    include_usage: bool,
    stream_arguments: StreamArguments,
    ignored: Vec<&'static str>,
}

// === impl RequestOptions ===

impl<'a> RequestOptions<'a> {
    /// Those of a request without any such header.
    pub fn new(settings: &'a TurnSettings) -> Self {
        Self {
            settings,
            requested_mode: None,
            stream_arguments: None,
            target: None,
            owner: None,
            recall: None,
        }
    }
}

// === impl Prepared ===

impl Prepared {
    /// What a person last asked.
    pub fn question(&self) -> Question {
        Question::last(&self.turn.history)
    }
}

// === impl Wanted ===

impl Wanted {
    /// Everything together.
    fn with(self, mut history: History, options: &RequestOptions<'_>) -> Prepared {
        let settings = options.settings;
        // Clients that read blocks take text before them.
        let is_held = self.tool_choice.is_forced() && self.mode == OutputMode::OpenAiJson;
        let preamble = if is_held { Preamble::Held } else { Preamble::Sent };
        let max_calls = self.max_calls(settings);
        let mut ignored: Vec<String> = self.ignored.iter().map(ToString::to_string).collect();
        ignored.extend(history.contents.ignored.iter().map(ToString::to_string));
        let offered = OfferedTools::new(self.tools, self.tool_choice);
        ignored.extend(offered.ignored);
        let (output_schema, format_request) = answer_form::format(self.format);
        history.items.extend(format_request);
        history.items.extend(offered.request);
        if let Some(recall) = options.recall {
            history.items = reasoning::put_back(history.items, recall);
        }
        let (model, effort, upstream) = match options.target {
            Some(target) => {
                ignored.extend(target.ignored.map(str::to_owned));
                (target.model.clone(), target.effort.clone(), target.upstream.clone())
            }
            None => (self.model.clone(), self.effort, None),
        };
        let turn = TurnRequest {
            model,
            instructions: settings.instructions.as_deref().unwrap_or_default().to_owned(),
            history: history.items,
            tools: offered.tools,
            effort,
            summary: Some(self.summary.to_owned()),
            verbosity: self.verbosity.map(|verbosity| verbosity.as_str().to_owned()),
            service_tier: self.service_tier.asked().map(str::to_owned),
            output_schema,
            upstream,
            // Whole answers, blocks and repetitions wait for whole calls.
            early_arguments: self.stream_arguments == StreamArguments::Auto
                && self.stream
                && self.mode == OutputMode::OpenAiJson
                && !settings.dedup,
            // Only one of several choices could be continued.
            owner: options.owner.filter(|_| self.choices == 1).map(Arc::from),
        };
        let policy = TurnPolicy {
            mode: self.mode,
            shape: self.shape,
            stop_after_tools: settings.stop_after_tools,
            suppress_tail: self.suppress_tail,
            preamble,
            max_calls,
            dedup: settings.dedup,
            delimiter: settings.delimiter.clone(),
            text_blocks: self.text_blocks,
            xml_escaping: settings.xml_escaping,
            reasoning: settings.reasoning,
            limits: settings.limits,
            max_held_bytes: settings.max_held_bytes,
            max_answer_bytes: settings.max_answer_bytes,
            tools: offered.declared,
            stop_sequences: self.stop,
            max_tokens: self.max_tokens,
        };
        Prepared {
            turn,
            images_to_fetch: history.contents.images_to_fetch,
            pixels: history.contents.pixels,
            policy,
            choices: self.choices,
            stream: self.stream,
            include_usage: self.include_usage,
            ignored,
            model: self.model,
        }
    }

    fn max_calls(&self, settings: &TurnSettings) -> Option<NonZeroUsize> {
        let one_at_most = self.parallel_tool_calls == Some(false)
            || settings.parallel_calls == Some(false)
            || self.shape == CallShape::FunctionCall;
        // The operator's cap is at least one too.
        if one_at_most { Some(NonZeroUsize::MIN) } else { settings.max_calls }
    }
}

#[cfg(test)]
mod tests;
