//! A request for a response.

use model_turn::{HistoryItem, Role};
use openai_wire::responses::{InputItem, MessageRole, ResponsesRequest};
use openai_wire::{ApiError, Part, ReasoningSummary};

use super::history::History;
use super::tools::{Namespaces, check_hosted, with_additional};
use super::{Prepared, RequestOptions, Wanted, answer_form};
use crate::policy::{CallShape, OutputMode};

/// Some versions of Obsidian Copilot send their system prompt as a first message of the model's, which
/// then is one of the application's. What has an id was said by the model.
pub fn adopt_prompt(request: &mut ResponsesRequest) {
    let is_alone = request.instructions.is_none() && request.previous_response_id.is_none();
    if let Some(InputItem::Message { id: None, role, phase, .. }) = request.input.first_mut()
        && *role == MessageRole::Assistant
        && is_alone
    {
        (*role, *phase) = (MessageRole::Developer, None);
    }
}

/// Translates a request; `earlier` is what was said up to the response that it goes on from.
///
/// # Errors
/// What cannot be served, with status 400 and the place in the request.
pub fn prepare_response(
    request: ResponsesRequest,
    earlier: Vec<InputItem>,
    options: &RequestOptions<'_>,
) -> Result<Prepared, ApiError> {
    let settings = options.settings;
    let tools = with_additional(request.tools, &earlier, &request.input);
    check_hosted(&tools, settings)?;
    let namespaces = Namespaces::of(&tools.declared);
    let mode =
        answer_form::mode(options.requested_mode, settings.responses_output_mode, &tools.declared)?;
    let wanted = Wanted {
        mode,
        // Text after a call is an item of its own, which harms nobody who reads items.
        suppress_tail: settings.suppress_tail && mode == OutputMode::ObsidianXml,
        text_blocks: answer_form::text_blocks(
            settings,
            &tools.declared,
            &request.tool_choice,
            || {
                let said = earlier.iter().chain(&request.input).flat_map(InputItem::parts);
                let texts = said.filter_map(Part::text).chain(request.instructions.as_deref());
                answer_form::speak_of_blocks(texts)
            },
        ),
        shape: CallShape::ToolCalls,
        // As OpenAI's, which shows none that was not asked for.
        summary: answer_form::summary(
            settings,
            request.reasoning_summary.unwrap_or(ReasoningSummary::None),
        ),
        model: request.model,
        tools,
        tool_choice: request.tool_choice,
        parallel_tool_calls: request.parallel_tool_calls,
        format: request.format,
        effort: request.reasoning_effort,
        verbosity: request.verbosity,
        service_tier: request.service_tier,
        stop: Vec::new(),
        max_tokens: request.max_output_tokens,
        choices: 1,
        stream: request.stream,
        include_usage: true,
        stream_arguments: answer_form::stream_arguments(options)?,
        ignored: request.ignored,
    };
    let mut history =
        History::read_items(earlier, request.input, namespaces, settings.remote_images)?;
    if let Some(instructions) = request.instructions.filter(|text| !text.is_empty()) {
        history.items.insert(0, HistoryItem::text(Role::Developer, instructions));
    }
    if history.items.is_empty() && settings.instructions.as_deref().unwrap_or_default().is_empty() {
        return Err(ApiError::invalid("input", "There is no item with any content."));
    }
    Ok(wanted.with(history, options))
}
