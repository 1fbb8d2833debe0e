//! An answer as the items of a response, streamed or not.

use std::{fmt, mem};

use bytes::BytesMut;
use codex_app_server::MessagePhase;
use codex_app_server::turn::event::ReasoningItem;
use openai_wire::responses::{
    self as wire, CustomToolCall, EncryptedContent, EventWriter, FunctionCall, IncompleteReason,
    ItemStatus, MessageRole, OutputContent, OutputItem, OutputMessage, OutputRefusal, OutputText,
    Reasoning, ResponseError, ResponseState, ResponseStatus, ResponseWriter, SummaryText,
};
use openai_wire::{ApiError, CallHead, CallKind, CallPart, Usage};
use tool_call_aggregator::SuffixSource;

use super::{Answer, FULL};
use crate::finish::FinishReason;
use crate::reply::Output;

/// What a call without arguments is written as: clients parse them.
const NO_ARGUMENTS: &str = "{}";

/// The items of a response in the making. At most one of them is open, and the others are done.
#[derive(Debug)]
pub struct ResponseItems {
    response: ResponseWriter,
    /// What writes the events, if it is a stream.
    events: Option<EventWriter>,
    /// Events that wait to be sent; whoever sends them takes them out.
    pub buffer: BytesMut,
    ids: ItemIds,
    /// Items that are done.
    output: Vec<OutputItem>,
    /// The item that is open, as it was when it began.
    open: Option<OutputItem>,
    /// What has been said of it since: its text, its arguments, or the open part of its summary.
    said: String,
    summary: Summary,
    /// What kind of text follows.
    phase: Option<wire::MessagePhase>,
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
    /// A response that is streamed; its first events are there at once. `encrypted` says whether
    /// the client gets to see reasoning itself, and `ids` has the ends of the items' ids.
    pub fn streamed(
        response: ResponseWriter,
        encrypted: EncryptedContent,
        ids: SuffixSource,
    ) -> Self {
        let mut events = EventWriter::new(encrypted);
        let mut buffer = BytesMut::with_capacity(4 * 1024);
        events.begun(&response, &mut buffer);
        Self { events: Some(events), buffer, ..Self::collected(response, ids) }
    }

    /// A response that is written when it has ended.
    pub fn collected(response: ResponseWriter, ids: SuffixSource) -> Self {
        Self {
            response,
            events: None,
            buffer: BytesMut::new(),
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

    /// How far the response is.
    pub fn status(&self) -> &ResponseStatus {
        &self.status
    }

    /// The response object as it is by now.
    pub fn response_json(&self, encrypted: EncryptedContent) -> String {
        self.json(&self.state(), encrypted)
    }

    /// The response object as it is by now, without its items.
    pub fn without_output(&self) -> String {
        self.json(&ResponseState { output: &[], ..self.state() }, EncryptedContent::LeftOut)
    }

    /// The response cannot be asked for later, whatever was said at first.
    pub fn not_stored(&mut self) {
        self.response.not_stored();
    }

    /// The response has ended, in the way that [`Answer::finish`] was told; `at` is in seconds since
    /// 1970. [`Self::end`] tells it.
    pub fn complete(&mut self, at: u64, usage: Usage) {
        self.close(ItemStatus::Completed);
        self.usage = Some(usage);
        self.status = match self.finish {
            FinishReason::Length => ResponseStatus::Incomplete(IncompleteReason::MaxOutputTokens),
            FinishReason::ContentFilter => {
                ResponseStatus::Incomplete(IncompleteReason::ContentFilter)
            }
            FinishReason::Stop | FinishReason::ToolCalls | FinishReason::FunctionCall => {
                ResponseStatus::Completed { at }
            }
        };
    }

    /// The response was cancelled. [`Self::end`] tells it.
    pub fn cancel(&mut self, usage: Usage) {
        match self.open {
            // A client would act on a call that is done.
            Some(OutputItem::FunctionCall(_) | OutputItem::CustomToolCall(_)) => self.leave_open(),
            _ => self.close(ItemStatus::Incomplete),
        }
        self.usage = Some(usage);
        self.status = ResponseStatus::Cancelled;
    }

    /// The response has failed, and that is told. An item that is open is never done.
    pub fn fail(&mut self, error: &ApiError) {
        self.leave_open();
        if let Some(events) = &mut self.events {
            // Before the end of the response, as OpenAI does it: clients that give up at the first of
            // the two would not find the whole error in the other.
            events.error(error, &mut self.buffer);
        }
        self.status = ResponseStatus::Failed(ResponseError::from(error));
        self.end();
    }

    /// Tells the end. Nothing more is told after that.
    pub fn end(&mut self) {
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
        self.close(ItemStatus::Completed);
        if let Some(events) = &mut self.events {
            events.item_added(self.output.len(), &item, &mut self.buffer);
        }
        self.open = Some(item);
    }

    /// The open item is done, if there is one.
    fn close(&mut self, status: ItemStatus) {
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

    fn open_call(&mut self, head: &CallHead<'_>, kind: CallKind) {
        let status = ItemStatus::InProgress;
        let (call_id, name) = (head.id.to_owned(), head.name.to_owned());
        let namespace = head.namespace.map(str::to_owned);
        let item = match kind {
            CallKind::Function => {
                let (id, arguments) = (self.ids.make("fc_"), String::new());
                let call = FunctionCall { id, status, arguments, call_id, name, namespace };
                OutputItem::FunctionCall(call)
            }
            CallKind::Custom => {
                let (id, input) = (self.ids.make("ctc_"), String::new());
                let call = CustomToolCall { id, status, call_id, input, name, namespace };
                OutputItem::CustomToolCall(call)
            }
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
}

impl Output for ResponseItems {
    /// Messages are items of their own.
    fn message(&mut self, phase: Option<MessagePhase>) -> &'static str {
        if let Some(OutputItem::Message(_)) = self.open {
            self.close(ItemStatus::Completed);
        }
        self.phase = phase.map(|phase| match phase {
            MessagePhase::Commentary => wire::MessagePhase::Commentary,
            MessagePhase::FinalAnswer => wire::MessagePhase::FinalAnswer,
        });
        ""
    }

    fn text(&mut self, text: &str) {
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

    fn block(&mut self, xml: &str) {
        self.text(xml);
    }

    fn reasoning(&mut self, text: &str) {
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

    fn reasoning_part(&mut self) {
        self.close_part();
    }

    fn reasoning_item(&mut self, item: &ReasoningItem) {
        self.close_part();
        if !matches!(self.open, Some(OutputItem::Reasoning(_))) {
            self.open_reasoning();
        }
        // Parts that were not told piece by piece are told now. An empty one never is.
        let told = self.summary.done.len();
        for text in item.summary.iter().filter(|text| !text.is_empty()).skip(told) {
            self.reasoning(text);
            self.close_part();
        }
        if let Some(OutputItem::Reasoning(reasoning)) = &mut self.open {
            reasoning.encrypted_content.clone_from(&item.encrypted_content);
        }
        self.close(ItemStatus::Completed);
    }

    fn call(&mut self, part: &CallPart<'_>) {
        if let Some(head) = part.head {
            self.open_call(&head, part.kind);
        }
        if !part.text.is_empty() {
            self.add_to_call(part.text);
        }
    }

    /// Its consumer can begin, however much the model still writes.
    fn call_end(&mut self) {
        self.close(ItemStatus::Completed);
    }

    fn refusal(&mut self, text: &str) {
        self.open_item_of_message();
        if let Some(OutputItem::Message(message)) = &mut self.open {
            message
                .content
                .push(OutputContent::Refusal(OutputRefusal { refusal: text.to_owned() }));
        }
        self.close(ItemStatus::Completed);
    }
}

impl Answer for ResponseItems {
    /// A response has one choice.
    fn choose(&mut self, _choice: u32) {}

    fn finish(&mut self, reason: FinishReason) {
        self.finish = reason;
        self.close(match reason {
            FinishReason::Length | FinishReason::ContentFilter => ItemStatus::Incomplete,
            FinishReason::Stop | FinishReason::ToolCalls | FinishReason::FunctionCall => {
                ItemStatus::Completed
            }
        });
    }

    fn is_full(&self) -> bool {
        self.buffer.len() >= FULL
    }

    fn has_spoken(&self) -> bool {
        self.open.is_some() || !self.output.is_empty()
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
