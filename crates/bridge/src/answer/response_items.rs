//! An answer as the items of a response, streamed or not.

use std::{fmt, mem};

use bytes::BytesMut;
use model_turn::{MessagePhase, ReasoningItem, ToolCallKind};
use openai_wire::responses::{
    CustomToolCall, EncryptedContent, EventWriter, FunctionCall, IncompleteReason, ItemStatus,
    MessageRole, OutputContent, OutputItem, OutputMessage, OutputRefusal, OutputText, Reasoning,
    ResponseError, ResponseState, ResponseStatus, ResponseWriter, SummaryText,
};
use openai_wire::{ApiError, CallHead, FinishReason, Usage, comment};
use tool_call_aggregator::SuffixSource;

use crate::output::{AnswerEnd, Output, Piece};

/// What a call without arguments is written as: clients parse them.
const NO_ARGUMENTS: &str = "{}";

/// The items of a response in the making. At most one of them is open, and the others are done.
#[derive(Debug)]
pub struct ResponseItems {
    response: ResponseWriter,
    /// What writes the events, if it is a stream.
    events: Option<EventWriter>,
    /// Whether the client gets to see reasoning itself.
    encrypted: EncryptedContent,
    /// Events that wait to be sent, or in the end the whole response.
    buffer: BytesMut,
    ids: ItemIds,
    /// Items that are done.
    output: Vec<OutputItem>,
    /// The item that is open, as it was when it began.
    open: Option<OutputItem>,
    /// What has been said of it since: its text, its arguments, or the open part of its summary.
    said: String,
    summary: Summary,
    /// What kind of text follows.
    phase: Option<MessagePhase>,
    finish: FinishReason,
    status: ResponseStatus,
    usage: Option<Usage>,
}

/// The summary of an open item of reasoning.
#[derive(Debug, Default)]
struct Summary {
    /// Parts that are done.
    done: Vec<SummaryText>,
    /// Whether another one has begun.
    is_open: bool,
}

/// Where the ends of items' ids come from.
struct ItemIds(SuffixSource);

// === impl ResponseItems ===

impl ResponseItems {
    /// A response; the first events of a stream are there at once. `encrypted` says whether the client
    /// gets to see reasoning itself, and `ids` has the ends of the items' ids.
    pub fn new(
        response: ResponseWriter,
        encrypted: EncryptedContent,
        ids: SuffixSource,
        stream: bool,
    ) -> Self {
        let mut buffer = BytesMut::new();
        let events = stream.then(|| {
            buffer.reserve(4 * 1024);
            let mut events = EventWriter::new(encrypted);
            events.begun(&response, &mut buffer);
            events
        });
        Self {
            response,
            events,
            encrypted,
            buffer,
            ids: ItemIds(ids),
            output: Vec::new(),
            open: None,
            said: String::new(),
            summary: Summary::default(),
            phase: None,
            finish: FinishReason::Stop,
            status: ResponseStatus::InProgress,
            usage: None,
        }
    }

    /// The items that are done: all of them, once the response has ended.
    pub fn output(&self) -> &[OutputItem] {
        &self.output
    }

    /// The response object as it is by now.
    pub fn response_json(&self, encrypted: EncryptedContent) -> String {
        self.json(&self.state(), encrypted)
    }

    /// The response object as it is by now, without its items.
    pub fn without_output(&self) -> String {
        self.json(&ResponseState { output: &[], ..self.state() }, EncryptedContent::LeftOut)
    }

    fn cancel(&mut self) {
        match self.open {
            // A client would act on a call that is done.
            Some(OutputItem::FunctionCall(_) | OutputItem::CustomToolCall(_)) => self.leave_open(),
            _ => self.close_item(ItemStatus::Incomplete),
        }
        self.status = ResponseStatus::Cancelled;
    }

    /// Writes the end of a stream. Nothing is written after that.
    fn end(&mut self) {
        if let Some(mut events) = self.events.take() {
            let mut buffer = mem::take(&mut self.buffer);
            events.ended(&self.response, &self.state(), &mut buffer);
            self.buffer = buffer;
        }
    }

    fn json(&self, state: &ResponseState<'_>, encrypted: EncryptedContent) -> String {
        let mut buffer = BytesMut::new();
        self.response.write(state, encrypted, &mut buffer);
        // JSON is always text.
        String::from_utf8(buffer.into()).unwrap_or_default()
    }

    fn state(&self) -> ResponseState<'_> {
        ResponseState { status: &self.status, output: &self.output, usage: self.usage.as_ref() }
    }

    /// Begins an item; the one before is done.
    fn open(&mut self, item: OutputItem) {
        self.close_item(ItemStatus::Completed);
        if let Some(events) = &mut self.events {
            events.item_added(self.output.len(), &item, &mut self.buffer);
        }
        self.open = Some(item);
    }

    /// The open item is done, if there is one.
    fn close_item(&mut self, status: ItemStatus) {
        if let Some(OutputItem::FunctionCall(_)) = self.open
            && self.said.is_empty()
        {
            self.add_to_call(NO_ARGUMENTS);
        }
        self.close_part();
        let Some(item) = self.take_open(status) else { return };
        if let Some(events) = &mut self.events {
            match &item {
                OutputItem::Message(message) => {
                    for part in &message.content {
                        match part {
                            OutputContent::Text(text) => events.text_done(text, &mut self.buffer),
                            OutputContent::Refusal(part) => events.refusal(part, &mut self.buffer),
                        }
                    }
                }
                OutputItem::FunctionCall(call) => events.arguments_done(call, &mut self.buffer),
                OutputItem::CustomToolCall(call) => events.input_done(call, &mut self.buffer),
                OutputItem::Reasoning(_) => {}
            }
            events.item_done(&item, &mut self.buffer);
        }
        self.output.push(item);
    }

    /// The open item, if there is one, is never done.
    fn leave_open(&mut self) {
        let unfinished = self.take_open(ItemStatus::Incomplete);
        self.output.extend(unfinished);
    }

    /// The open item, with all that was said of it.
    fn take_open(&mut self, status: ItemStatus) -> Option<OutputItem> {
        let mut item = self.open.take()?;
        let said = mem::take(&mut self.said);
        match &mut item {
            OutputItem::Message(message) => {
                message.status = status;
                // A refusal is there already.
                if message.content.is_empty() {
                    let text = OutputText { text: said, ..OutputText::default() };
                    message.content.push(OutputContent::Text(text));
                }
            }
            OutputItem::FunctionCall(call) => {
                call.status = status;
                call.arguments = said;
            }
            OutputItem::CustomToolCall(call) => {
                call.status = status;
                call.input = said;
            }
            OutputItem::Reasoning(reasoning) => {
                let Summary { done, is_open } = mem::take(&mut self.summary);
                reasoning.summary = done;
                reasoning.summary.extend(is_open.then_some(SummaryText { text: said }));
            }
        }
        Some(item)
    }

    fn open_message(&mut self) {
        self.open_item_of_message();
        if let Some(events) = &mut self.events {
            events.text_added(&mut self.buffer);
        }
    }

    fn open_item_of_message(&mut self) {
        let id = self.ids.make("msg_");
        self.open(OutputItem::Message(OutputMessage {
            id,
            status: ItemStatus::InProgress,
            content: Vec::new(),
            role: MessageRole::Assistant,
            phase: self.phase,
        }));
    }

    fn open_call(&mut self, head: &CallHead<'_>, kind: ToolCallKind) {
        let status = ItemStatus::InProgress;
        let (call_id, name) = (head.id.to_owned(), head.name.to_owned());
        let namespace = head.namespace.map(str::to_owned);
        let item = if kind.is_custom() {
            let (id, input) = (self.ids.make("ctc_"), String::new());
            let call = CustomToolCall { id, status, call_id, input, name, namespace };
            OutputItem::CustomToolCall(call)
        } else {
            let (id, arguments) = (self.ids.make("fc_"), String::new());
            let call = FunctionCall { id, status, arguments, call_id, name, namespace };
            OutputItem::FunctionCall(call)
        };
        self.open(item);
    }

    /// More of the arguments or the input of the open call.
    fn add_to_call(&mut self, text: &str) {
        self.said.push_str(text);
        match (&mut self.events, &self.open) {
            (Some(events), Some(OutputItem::CustomToolCall(_))) => {
                events.input_delta(text, &mut self.buffer);
            }
            (Some(events), _) => events.arguments_delta(text, &mut self.buffer),
            (None, _) => {}
        }
    }

    fn open_reasoning(&mut self) {
        let id = self.ids.make("rs_");
        self.open(OutputItem::Reasoning(Reasoning {
            id,
            summary: Vec::new(),
            encrypted_content: None,
        }));
    }

    fn open_part(&mut self) {
        self.summary.is_open = true;
        if let Some(events) = &mut self.events {
            events.summary_added(self.summary.done.len(), &mut self.buffer);
        }
    }

    fn close_part(&mut self) {
        if !mem::take(&mut self.summary.is_open) {
            return;
        }
        let part = SummaryText { text: mem::take(&mut self.said) };
        if let Some(events) = &mut self.events {
            events.summary_done(self.summary.done.len(), &part, &mut self.buffer);
        }
        self.summary.done.push(part);
    }

    fn begin_message(&mut self, phase: Option<MessagePhase>) {
        if let Some(OutputItem::Message(_)) = self.open {
            self.close_item(ItemStatus::Completed);
        }
        self.phase = phase;
    }

    fn add_text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if !matches!(self.open, Some(OutputItem::Message(_))) {
            self.open_message();
        }
        self.said.push_str(text);
        if let Some(events) = &mut self.events {
            events.text_delta(text, &mut self.buffer);
        }
    }

    fn add_summary(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if !matches!(self.open, Some(OutputItem::Reasoning(_))) {
            self.open_reasoning();
        }
        if !self.summary.is_open {
            self.open_part();
        }
        self.said.push_str(text);
        if let Some(events) = &mut self.events {
            events.summary_delta(self.summary.done.len(), text, &mut self.buffer);
        }
    }

    fn end_reasoning(&mut self, item: &ReasoningItem) {
        self.close_part();
        if !matches!(self.open, Some(OutputItem::Reasoning(_))) {
            self.open_reasoning();
        }
        // Parts that were not sent piece by piece are sent now. An empty one never is.
        let sent = self.summary.done.len();
        for text in item.summary.iter().filter(|text| !text.is_empty()).skip(sent) {
            self.add_summary(text);
            self.close_part();
        }
        if let Some(OutputItem::Reasoning(reasoning)) = &mut self.open {
            reasoning.encrypted_content.clone_from(&item.encrypted_content);
        }
        self.close_item(ItemStatus::Completed);
    }

    fn add_refusal(&mut self, text: &str) {
        self.open_item_of_message();
        if let Some(OutputItem::Message(message)) = &mut self.open {
            message
                .content
                .push(OutputContent::Refusal(OutputRefusal { refusal: text.to_owned() }));
        }
        self.close_item(ItemStatus::Completed);
    }
}

impl Output for ResponseItems {
    const STORED: bool = true;

    fn write(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::Message(phase) => self.begin_message(phase),
            Piece::Text(text) | Piece::Block(text) => self.add_text(text),
            Piece::Reasoning(text) => self.add_summary(text),
            Piece::ReasoningPart => self.close_part(),
            Piece::ReasoningItem(item) => self.end_reasoning(item),
            Piece::Call(part) => {
                if let Some(head) = part.head {
                    self.open_call(&head, part.kind);
                }
                if !part.text.is_empty() {
                    self.add_to_call(part.text);
                }
            }
            // Its consumer can begin, however much the model still writes.
            Piece::CallEnd => self.close_item(ItemStatus::Completed),
            Piece::Refusal(text) => self.add_refusal(text),
        }
    }

    /// Messages are items of their own.
    fn separator(&self) -> &'static str {
        ""
    }

    fn finish(&mut self, reason: FinishReason) {
        self.finish = reason;
        self.close_item(match reason {
            FinishReason::Length | FinishReason::ContentFilter => ItemStatus::Incomplete,
            FinishReason::Stop | FinishReason::ToolCalls | FinishReason::FunctionCall => {
                ItemStatus::Completed
            }
        });
    }

    fn has_content(&self) -> bool {
        self.open.is_some() || !self.output.is_empty()
    }

    fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// An item that is open is never done.
    fn fail(&mut self, error: &ApiError) {
        self.leave_open();
        if let Some(events) = &mut self.events {
            // Before the end of the response, as OpenAI does it: clients that give up at the first of
            // the two would not find the whole error in the other.
            events.error(error, &mut self.buffer);
        }
        self.status = ResponseStatus::Failed(ResponseError::from(error));
    }

    fn complete(&mut self, end: AnswerEnd, usage: Option<&Usage>, at: u64) {
        self.usage = Some(usage.copied().unwrap_or_default());
        match (end, self.finish) {
            (AnswerEnd::Cancelled, _) => return self.cancel(),
            (AnswerEnd::Completed, FinishReason::Length) => {
                self.status = ResponseStatus::Incomplete(IncompleteReason::MaxOutputTokens);
            }
            (AnswerEnd::Completed, FinishReason::ContentFilter) => {
                self.status = ResponseStatus::Incomplete(IncompleteReason::ContentFilter);
            }
            (
                AnswerEnd::Completed,
                FinishReason::Stop | FinishReason::ToolCalls | FinishReason::FunctionCall,
            ) => self.status = ResponseStatus::Completed { at },
        }
        self.close_item(ItemStatus::Completed);
    }

    fn close(&mut self, stored: bool, telemetry: &str) {
        if !stored {
            self.response.not_stored();
        }
        if self.events.is_some() {
            self.end();
            comment(telemetry, &mut self.buffer);
        } else {
            let mut buffer = mem::take(&mut self.buffer);
            self.response.write(&self.state(), self.encrypted, &mut buffer);
            self.buffer = buffer;
        }
    }
}

// === impl ItemIds ===

impl ItemIds {
    fn make(&self, prefix: &str) -> String {
        prefix.to_owned() + &self.0()
    }
}

impl fmt::Debug for ItemIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ItemIds")
    }
}

#[cfg(test)]
mod tests;
