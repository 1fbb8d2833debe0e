//! The pure part of a turn, without a child or a socket: what the server does with a request before
//! it asks, and with every event that comes back. And the library behind it by itself.

pub mod aggregator;

use std::sync::Arc;
use std::time::Instant;

use bridge::{
    ChatHead, ChatStream, Ended, Output as _, Prepared, Reply, RequestOptions, TurnSettings,
};
use model_turn::{ToolCall, ToolCallKind, ToolName, TurnEvent};
use openai_wire::chat::ChatRequest;
use serde_json::json;

const TOOLS: [&str; 3] = ["get_weather", "get_time", "lookup"];

/// A streamed answer in the making.
pub struct Stream {
    reply: Reply,
    frames: ChatStream,
    now: Instant,
}

/// A request without tools.
pub fn plain_request() -> String {
    json!({"model": "scripted", "stream": true, "messages": [
        {"role": "user", "content": "What is the weather in Paris?"},
    ]})
    .to_string()
}

/// The same with three tools.
pub fn request_with_tools() -> String {
    let tools = TOOLS.map(|name| {
        let city = json!({"type": "string", "description": "Where"});
        let parameters = json!({"type": "object", "properties": {"city": city}});
        json!({"type": "function", "function": {"name": name, "parameters": parameters}})
    });
    json!({"model": "scripted", "stream": true, "tools": tools, "messages": [
        {"role": "user", "content": "What is the weather in Paris?"},
    ]})
    .to_string()
}

/// What an agent sends in the middle of its work: twenty tools, and a hundred calls behind it.
pub fn agents_request() -> String {
    let tool = |index: usize| {
        let parameters = json!({"type": "object", "required": ["path"], "properties": {
            "path": {"type": "string", "description": "The path of the file."},
            "line": {"type": "integer", "description": "The line.", "minimum": 1},
            "mode": {"type": "string", "enum": ["read", "write"]},
        }});
        let description = format!("Does something useful with a file, number {index}.");
        json!({"type": "function", "function": {
            "name": format!("tool_{index}"), "description": description, "parameters": parameters,
        }})
    };
    let step = |index: usize| {
        let (id, name) = (format!("call_{index}"), format!("tool_{}", index % 20));
        let function = json!({"name": name, "arguments": r#"{"path": "src/main.rs", "line": 1}"#});
        let calls = json!([{"id": id, "type": "function", "function": function}]);
        [
            json!({"role": "user", "content": "Look at the next file, please. ".repeat(5)}),
            json!({"role": "assistant", "content": null, "tool_calls": calls}),
            json!({"role": "tool", "tool_call_id": id, "content": "a line of the file\n".repeat(15)}),
            json!({"role": "assistant", "content": "Done."}),
        ]
    };
    let messages: Vec<_> = (0..100)
        .flat_map(step)
        .chain([json!({"role": "user", "content": "What is left to do?"})])
        .collect();
    let tools: Vec<_> = (0..20).map(tool).collect();
    json!({"model": "scripted", "stream": true, "tools": tools, "messages": messages}).to_string()
}

/// From a request's body to its turn.
pub fn prepare(body: &str) -> Prepared {
    let settings = TurnSettings::default();
    let options = RequestOptions::new(&settings);
    let request = ChatRequest::parse(body.as_bytes()).expect("a valid request");
    bridge::prepare(request, &options).expect("a request that is served")
}

/// The events of a text in so many deltas.
pub fn text(deltas: usize) -> Vec<TurnEvent> {
    let words = (0..deltas).map(|index| TurnEvent::Text(format!("word{index} ")));
    words.chain([response_end()]).collect()
}

/// The events of so many calls.
pub fn calls(count: usize) -> Vec<TurnEvent> {
    let calls = TOOLS.iter().cycle().take(count).enumerate().map(|(index, name)| {
        TurnEvent::ToolCall(ToolCall {
            call_id: format!("call_{index}"),
            item_id: None,
            name: (*name).into(),
            arguments: format!(r#"{{"city": "C{index}"}}"#),
            kind: ToolCallKind::Function,
            deviation: None,
        })
    });
    calls.chain([response_end()]).collect()
}

/// The events of a call whose arguments come in so many fragments.
pub fn streamed_call(fragments: usize) -> Vec<TurnEvent> {
    let (call_id, name) = ("call_0".to_owned(), ToolName::from(TOOLS[0]));
    let kind = ToolCallKind::Function;
    let start = TurnEvent::ToolCallStart { call_id: call_id.clone(), name: name.clone(), kind };
    let fragment = |index| format!("{index:020}");
    let arguments = (0..fragments).map(fragment).collect();
    let call = ToolCall { call_id, item_id: None, name, arguments, kind, deviation: None };
    let fragments = (0..fragments).map(fragment).map(TurnEvent::ToolCallArguments);
    let end = [TurnEvent::ToolCall(call), response_end()];
    [start].into_iter().chain(fragments).chain(end).collect()
}

/// Lines of Codex's log: of a text delta, and of a fragment of arguments.
pub fn log_lines() -> [String; 2] {
    let line = |event: serde_json::Value| {
        json!({
            "timestamp": "2026-11-18T00:45:18.356930Z", "level": "TRACE",
            "fields": {"message": format!("SSE event: {event}")},
            "target": "codex_api::sse::responses",
        })
        .to_string()
    };
    [
        line(json!({
            "type": "response.output_text.delta", "item_id": "msg_000002", "output_index": 0,
            "content_index": 0, "delta": "Let me check the weather.",
        })),
        line(json!({
            "type": "response.function_call_arguments.delta", "item_id": "fc_0000020",
            "output_index": 1, "delta": "{\"city\": \"Paris\"}",
        })),
    ]
}

fn response_end() -> TurnEvent {
    TurnEvent::ResponseEnd { response_id: "resp_000001".to_owned(), usage: None }
}

// === impl Stream ===

impl Stream {
    /// The answer to a request.
    pub fn answering(body: &str) -> Self {
        let policy = Arc::new(prepare(body).policy);
        let head = ChatHead {
            id: "chatcmpl-1",
            created: 1_794_771_460,
            model: "scripted",
            choices: 1,
            include_usage: false,
        };
        let mut frames = ChatStream::new(&head, policy.shape);
        frames.buffer().reserve(64 * 1024);
        Self {
            frames,
            reply: Reply::new(policy, 0, None, Arc::new(|| "suffix".to_owned())),
            now: Instant::now(),
        }
    }

    /// Takes a whole turn, and says how many bytes go to the client.
    pub fn take(&mut self, events: Vec<TurnEvent>) -> usize {
        let mut ended = None;
        for event in events {
            ended = self.reply.on_event(event, self.now, &mut self.frames);
        }
        let Some(Ended::Finished(reason)) = ended else { panic!("the turn has not ended well") };
        self.frames.finish(reason);
        self.frames.buffer().len()
    }
}
