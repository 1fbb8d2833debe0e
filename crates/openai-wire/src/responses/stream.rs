//! The events of a streamed response, written straight into a buffer.

use bytes::{BufMut as _, BytesMut};
use serde::Serialize;

use super::item::{
    CustomToolCall, EncryptedContent, FunctionCall, OutputItem, OutputRefusal, OutputText, Shown,
    SummaryText,
};
use super::response::{ResponseState, ResponseStatus, ResponseWriter};
use crate::error::ApiError;
use crate::frame::{END, put_json};

/// Writes the events of one stream, and counts them.
///
/// What is told about an item is told between [`Self::item_added`] and [`Self::item_done`].
#[derive(Debug)]
pub struct EventWriter {
    encrypted: EncryptedContent,
    next_number: u64,
    /// The members that say which item an event is about.
    place: String,
    output_index: usize,
}

// === impl EventWriter ===

impl EventWriter {
    /// A writer for a stream.
    pub fn new(encrypted: EncryptedContent) -> Self {
        Self { encrypted, next_number: 0, place: String::new(), output_index: 0 }
    }

    /// The first events of every stream.
    pub fn begun(&mut self, response: &ResponseWriter, buffer: &mut BytesMut) {
        let state = ResponseState { status: &ResponseStatus::InProgress, output: &[], usage: None };
        self.response("response.created", response, &state, buffer);
        self.response("response.in_progress", response, &state, buffer);
    }

    /// An item has begun, of which nothing has been said.
    pub fn item_added(&mut self, output_index: usize, item: &OutputItem, buffer: &mut BytesMut) {
        self.output_index = output_index;
        let id = serde_json::Value::from(item.id());
        self.place = format!(r#","item_id":{id},"output_index":{output_index}"#);
        self.item("response.output_item.added", item, buffer);
    }

    /// An item is whole, or as whole as it will be.
    pub fn item_done(&mut self, item: &OutputItem, buffer: &mut BytesMut) {
        self.item("response.output_item.done", item, buffer);
    }

    /// A message's text begins.
    pub fn text_added(&mut self, buffer: &mut BytesMut) {
        self.content_part("response.content_part.added", &OutputText::default(), buffer);
    }

    /// More of it.
    pub fn text_delta(&mut self, text: &str, buffer: &mut BytesMut) {
        self.open_in_place("response.output_text.delta", buffer);
        buffer.put_slice(br#","content_index":0,"delta":"#);
        put_json(text, buffer);
        buffer.put_slice(br#","logprobs":[]"#);
        close(buffer);
    }

    /// All of it.
    pub fn text_done(&mut self, text: &OutputText, buffer: &mut BytesMut) {
        self.open_in_place("response.output_text.done", buffer);
        buffer.put_slice(br#","content_index":0"#);
        member("text", &text.text, buffer);
        buffer.put_slice(br#","logprobs":[]"#);
        close(buffer);
        self.content_part("response.content_part.done", text, buffer);
    }

    /// A whole refusal, from its beginning.
    pub fn refusal(&mut self, part: &OutputRefusal, buffer: &mut BytesMut) {
        self.content_part("response.content_part.added", &OutputRefusal::default(), buffer);
        for (event, name) in
            [("response.refusal.delta", "delta"), ("response.refusal.done", "refusal")]
        {
            self.open_in_place(event, buffer);
            buffer.put_slice(br#","content_index":0"#);
            member(name, &part.refusal, buffer);
            close(buffer);
        }
        self.content_part("response.content_part.done", part, buffer);
    }

    /// More of a call's arguments.
    pub fn arguments_delta(&mut self, arguments: &str, buffer: &mut BytesMut) {
        self.open_in_place("response.function_call_arguments.delta", buffer);
        member("delta", arguments, buffer);
        close(buffer);
    }

    /// All of them.
    pub fn arguments_done(&mut self, call: &FunctionCall, buffer: &mut BytesMut) {
        self.open_in_place("response.function_call_arguments.done", buffer);
        member("name", &call.name, buffer);
        member("arguments", &call.arguments, buffer);
        close(buffer);
    }

    /// More of the input of a custom tool.
    pub fn input_delta(&mut self, input: &str, buffer: &mut BytesMut) {
        self.open_in_place("response.custom_tool_call_input.delta", buffer);
        member("delta", input, buffer);
        close(buffer);
    }

    /// All of it.
    pub fn input_done(&mut self, call: &CustomToolCall, buffer: &mut BytesMut) {
        self.open_in_place("response.custom_tool_call_input.done", buffer);
        member("input", &call.input, buffer);
        close(buffer);
    }

    /// A part of a summary begins.
    pub fn summary_added(&mut self, part: usize, buffer: &mut BytesMut) {
        let event = "response.reasoning_summary_part.added";
        self.summary(event, part, "part", &SummaryText::default(), buffer);
    }

    /// More of it.
    pub fn summary_delta(&mut self, part: usize, text: &str, buffer: &mut BytesMut) {
        self.summary("response.reasoning_summary_text.delta", part, "delta", text, buffer);
    }

    /// All of it.
    pub fn summary_done(&mut self, part: usize, text: &SummaryText, buffer: &mut BytesMut) {
        self.summary("response.reasoning_summary_text.done", part, "text", &text.text, buffer);
        self.summary("response.reasoning_summary_part.done", part, "part", text, buffer);
    }

    /// The last event. There is none of its own for a response that was cancelled.
    pub fn ended(
        &mut self,
        response: &ResponseWriter,
        state: &ResponseState<'_>,
        buffer: &mut BytesMut,
    ) {
        let event = match state.status {
            ResponseStatus::InProgress => "response.in_progress",
            ResponseStatus::Completed { .. } => "response.completed",
            ResponseStatus::Incomplete(_) | ResponseStatus::Cancelled => "response.incomplete",
            ResponseStatus::Failed(_) => "response.failed",
        };
        self.response(event, response, state, buffer);
    }

    /// What went wrong, for those who read the members of the event and for those who read its
    /// `error`: either alone is overlooked by some clients.
    pub fn error(&mut self, error: &ApiError, buffer: &mut BytesMut) {
        self.open("error", buffer);
        member("code", &error.code, buffer);
        member("message", &error.message, buffer);
        member("param", &error.param, buffer);
        member("error", &error.object(), buffer);
        close(buffer);
    }

    fn response(
        &mut self,
        event: &str,
        response: &ResponseWriter,
        state: &ResponseState<'_>,
        buffer: &mut BytesMut,
    ) {
        self.open(event, buffer);
        buffer.put_slice(br#","response":"#);
        response.write(state, self.encrypted, buffer);
        close(buffer);
    }

    fn item(&mut self, event: &str, item: &OutputItem, buffer: &mut BytesMut) {
        self.open(event, buffer);
        member("output_index", &self.output_index, buffer);
        member("item", &Shown(item, self.encrypted), buffer);
        close(buffer);
    }

    fn content_part(&mut self, event: &str, part: &impl Serialize, buffer: &mut BytesMut) {
        self.open_in_place(event, buffer);
        buffer.put_slice(br#","content_index":0"#);
        member("part", part, buffer);
        close(buffer);
    }

    fn summary(
        &mut self,
        event: &str,
        part: usize,
        name: &str,
        value: &(impl Serialize + ?Sized),
        buffer: &mut BytesMut,
    ) {
        self.open_in_place(event, buffer);
        member("summary_index", &part, buffer);
        member(name, value, buffer);
        close(buffer);
    }

    fn open_in_place(&mut self, event: &str, buffer: &mut BytesMut) {
        self.open(event, buffer);
        buffer.put_slice(self.place.as_bytes());
    }

    fn open(&mut self, event: &str, buffer: &mut BytesMut) {
        buffer.put_slice(b"event: ");
        buffer.put_slice(event.as_bytes());
        buffer.put_slice(b"\ndata: {\"type\":\"");
        buffer.put_slice(event.as_bytes());
        buffer.put_slice(b"\",\"sequence_number\":");
        put_json(&self.next_number, buffer);
        self.next_number += 1;
    }
}

fn member(name: &str, value: &(impl Serialize + ?Sized), buffer: &mut BytesMut) {
    buffer.put_slice(b",\"");
    buffer.put_slice(name.as_bytes());
    buffer.put_slice(b"\":");
    put_json(value, buffer);
}

fn close(buffer: &mut BytesMut) {
    buffer.put_slice(b"}");
    buffer.put_slice(END.as_bytes());
}

#[cfg(test)]
mod tests;
