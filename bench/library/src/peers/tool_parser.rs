//! `tool-parser`: asynchronous by its trait, but none of its futures ever waits.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use openai_protocol::common::Tool;
use serde_json::json;
use tool_parser::ToolParser;
use tool_parser::types::ToolCallItem;

use crate::contender::Declared;
use crate::reader::{Reader, Sink};

pub struct Peer<P> {
    parser: P,
    tools: Vec<Tool>,
}

// === impl Peer ===

impl<P: ToolParser> Peer<P> {
    pub fn new(parser: P, tools: &[Declared]) -> Self {
        let tools = tools
            .iter()
            .map(|tool| {
                let function = json!({ "name": tool.name, "parameters": tool.parameters });
                serde_json::from_value(json!({ "type": "function", "function": function }))
                    .expect("a tool as OpenAI has it")
            })
            .collect();
        Self { parser, tools }
    }
}

impl<P: ToolParser> Reader for Peer<P> {
    fn push(&mut self, chunk: &str, sink: &mut impl Sink) {
        // An error would lose what is held back; the judging would see that.
        if let Ok(result) = now(self.parser.parse_incremental(chunk, &self.tools)) {
            if !result.normal_text.is_empty() {
                sink.text(&result.normal_text);
            }
            pass(&result.calls, sink);
        }
    }

    fn finish(&mut self, sink: &mut impl Sink) {
        // Both, as its documentation asks of streaming users.
        if let Some(calls) = self.parser.get_unstreamed_tool_args() {
            pass(&calls, sink);
        }
        sink.text(&self.parser.take_unstreamed_normal_text());
    }
}

fn pass(calls: &[ToolCallItem], sink: &mut impl Sink) {
    for call in calls {
        if let Some(name) = &call.name {
            sink.name(call.tool_index, name);
        }
        sink.arguments(call.tool_index, &call.parameters);
    }
}

/// Polls once: a runtime would add its own time to each chunk.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("nothing in it waits"),
    }
}
