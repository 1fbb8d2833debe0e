//! From a chat request to a turn and to what becomes of its events.

mod call_ids;
mod content;
mod history;
mod image_size;
mod output;
mod pixels;
mod prompt;
mod remote_images;
mod schema;
mod strict_schema;
mod tools;

use std::num::NonZeroUsize;
use std::sync::Arc;

use codex_app_server::TurnRequest;
use openai_wire::ApiError;
use openai_wire::chat::{ChatRequest, ReasoningSummary, ToolDialect};

use crate::policy::{CallShape, TurnPolicy, TurnSettings};
use crate::reasoning::{self, ReasoningBefore};
use history::History;
use pixels::Pixels;
pub use remote_images::ImageToFetch;
use tools::OfferedTools;

/// What else decides about a request.
#[derive(Debug, Clone, Copy)]
pub struct RequestOptions<'a> {
    /// What the operator has chosen.
    pub settings: &'a TurnSettings,
    /// The header `x-proxy-output-mode`.
    pub requested_mode: Option<&'a str>,
}

/// A request that can be served.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// What Codex is asked. Its model is the requested name, which is still to be resolved, and its
    /// upstream is still to be set.
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

/// Translates a request.
///
/// # Errors
/// What cannot be served, with status 400 and the place in the request.
pub fn prepare(request: ChatRequest, options: &RequestOptions<'_>) -> Result<Prepared, ApiError> {
    let settings = options.settings;
    if request.n > settings.max_choices {
        return Err(too_many_choices(request.n, settings.max_choices));
    }
    let mode = output::mode(options, &request)?;
    let text_blocks = output::text_blocks(settings, &request);
    let shape = match request.tool_dialect {
        ToolDialect::Tools => CallShape::ToolCalls,
        ToolDialect::Functions => CallShape::FunctionCall,
    };
    let max_calls = max_calls(settings, &request, shape);
    let mut ignored: Vec<String> = request.ignored.iter().map(ToString::to_string).collect();

    let mut history = History::read(request.messages, settings.remote_images)?;
    let instructions = settings.instructions.as_deref().unwrap_or_default();
    if history.items.is_empty() && instructions.is_empty() {
        return Err(ApiError::invalid("messages", "There is no message with any content."));
    }
    ignored.extend(history.contents.ignored.iter().map(ToString::to_string));
    let offered = OfferedTools::new(request.tools, request.tool_choice);
    ignored.extend(offered.ignored.iter().map(ToString::to_string));
    let (output_schema, format_request) = output::format(request.response_format);
    history.items.extend(format_request);
    history.items.extend(offered.request);

    let turn = TurnRequest {
        model: request.model.clone(),
        instructions: instructions.to_owned(),
        history: history.items,
        tools: offered.tools,
        effort: request.reasoning_effort,
        summary: Some(summary(settings, request.reasoning_summary).to_owned()),
        output_schema,
        upstream: None,
    };
    let policy = TurnPolicy {
        mode,
        shape,
        stop_after_tools: settings.stop_after_tools,
        suppress_tail: settings.suppress_tail,
        max_calls,
        dedup: settings.dedup,
        delimiter: settings.delimiter.clone(),
        text_blocks,
        xml_escaping: settings.xml_escaping,
        reasoning: settings.reasoning,
        limits: settings.limits,
        max_held_bytes: settings.max_held_bytes,
        max_answer_bytes: settings.max_answer_bytes,
        tools: offered.declared,
        stop_sequences: request.stop,
        max_tokens: request.max_tokens,
    };
    Ok(Prepared {
        turn,
        images_to_fetch: history.contents.images_to_fetch,
        pixels: history.contents.pixels,
        policy,
        choices: request.n,
        stream: request.stream,
        include_usage: request.include_usage,
        ignored,
        model: request.model,
    })
}

// === impl Prepared ===

impl Prepared {
    /// Puts what was kept of the model's reasoning back before its calls. `recall` is asked by the id
    /// that a call has in the history.
    pub fn recall_reasoning(&mut self, recall: impl Fn(&str) -> Option<Arc<[ReasoningBefore]>>) {
        let history = std::mem::take(&mut self.turn.history);
        self.turn.history = reasoning::put_back(history, recall);
    }
}

fn too_many_choices(n: u32, most: u32) -> ApiError {
    let message = format!(
        "Invalid 'n': integer above maximum value. Expected a value <= {most} (PROXY_MAX_CHAT_CHOICES), but got {n} instead."
    );
    ApiError::invalid("n", message).with_code("integer_above_max_value")
}

fn max_calls(
    settings: &TurnSettings,
    request: &ChatRequest,
    shape: CallShape,
) -> Option<NonZeroUsize> {
    let one_at_most = request.parallel_tool_calls == Some(false)
        || settings.parallel_calls == Some(false)
        || shape == CallShape::FunctionCall;
    // The operator's cap is at least one too.
    if one_at_most { Some(NonZeroUsize::MIN) } else { settings.max_calls }
}

/// Codex's own default differs from model to model, so it is always said.
fn summary(settings: &TurnSettings, requested: Option<ReasoningSummary>) -> &'static str {
    match requested {
        _ if !settings.reasoning => "none",
        None | Some(ReasoningSummary::Auto) => "auto",
        Some(ReasoningSummary::Concise) => "concise",
        Some(ReasoningSummary::Detailed) => "detailed",
        Some(ReasoningSummary::None) => "none",
    }
}

#[cfg(test)]
mod tests;
