//! A chat request.

use openai_wire::chat::{ChatRequest, Message, ToolDialect};
use openai_wire::{ApiError, Part, ReasoningSummary};

use super::history::History;
use super::tools::{Namespaces, check_hosted};
use super::{Prepared, RequestOptions, Wanted, answer_form};
use crate::policy::{CallShape, TurnSettings};

/// Translates a request.
///
/// # Errors
/// What cannot be served, with status 400 and the place in the request.
pub fn prepare(request: ChatRequest, options: &RequestOptions<'_>) -> Result<Prepared, ApiError> {
    let settings = options.settings;
    if request.n > settings.max_choices {
        return Err(too_many_choices(request.n, settings.max_choices));
    }
    check_hosted(&request.tools, settings)?;
    let namespaces = Namespaces::of(&request.tools.declared);
    let parts = request.messages.iter().flat_map(Message::content);
    let wanted = Wanted {
        mode: answer_form::mode(
            options.requested_mode,
            settings.output_mode,
            &request.tools.declared,
        )?,
        text_blocks: answer_form::text_blocks(
            settings,
            &request.tools.declared,
            &request.tool_choice,
            || answer_form::speak_of_blocks(parts.filter_map(Part::text)),
        ),
        suppress_tail: settings.suppress_tail,
        shape: match request.tool_dialect {
            ToolDialect::Tools => CallShape::ToolCalls,
            ToolDialect::Functions => CallShape::FunctionCall,
        },
        summary: summary(settings, request.reasoning_summary),
        model: request.model,
        tools: request.tools,
        tool_choice: request.tool_choice,
        parallel_tool_calls: request.parallel_tool_calls,
        format: request.response_format,
        effort: request.reasoning_effort,
        verbosity: request.verbosity,
        service_tier: request.service_tier,
        stop: request.stop,
        max_tokens: request.max_tokens,
        choices: request.n,
        stream: request.stream,
        include_usage: request.include_usage,
        stream_arguments: answer_form::stream_arguments(options)?,
        ignored: request.ignored,
    };
    let history = History::read(request.messages, namespaces, settings.remote_images)?;
    if history.items.is_empty() && settings.instructions.as_deref().unwrap_or_default().is_empty() {
        return Err(ApiError::invalid("messages", "There is no message with any content."));
    }
    Ok(wanted.with(history, options))
}

fn too_many_choices(n: u32, most: u32) -> ApiError {
    let message = format!(
        "Invalid 'n': integer above maximum value. Expected a value <= {most} (PROXY_MAX_CHAT_CHOICES), but got {n} instead."
    );
    ApiError::invalid("n", message).with_code("integer_above_max_value")
}

/// Clients of chats show what there is, without asking for it.
fn summary(settings: &TurnSettings, requested: Option<ReasoningSummary>) -> &'static str {
    answer_form::summary(settings, requested.unwrap_or(ReasoningSummary::Auto))
}
