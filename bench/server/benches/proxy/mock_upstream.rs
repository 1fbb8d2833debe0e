//! An OpenAI server that answers at once: what stands behind the gateways beside us.
//!
//! It is a process of its own, so that its work is not the load client's: this benchmark, started
//! once more.

use std::iter;
use std::net::SocketAddr;

use axum::Router;
use axum::extract::{Json, State};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use server_bench::own_process::{OwnProcess, until_input_closes};
use tokio::net::TcpListener;

use crate::case::{Case, MODEL, TOOLS, fragment, word};
use crate::endpoint::Endpoint;
use crate::mock_pace::Pacer;

/// Makes this program the mock instead of the benchmark.
pub(crate) const ARGUMENT: &str = "--serve-mock";

/// A running mock; dropping it ends the process.
pub(crate) struct MockUpstream {
    _process: OwnProcess,
    pub(crate) endpoint: Endpoint,
}

// === impl MockUpstream ===

impl MockUpstream {
    pub(crate) fn start() -> Self {
        let process = OwnProcess::start(ARGUMENT).expect("no mock");
        let address: SocketAddr = process.address.parse().expect("an address");
        let headers = String::new();
        let endpoint = Endpoint { name: "mock", address, headers, judge: Case::judge_gateway };
        Self { _process: process, endpoint }
    }

    /// Its base URL, up to and without `/v1`.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.endpoint.address)
    }
}

/// Serves until the benchmark ends.
pub(crate) async fn serve() {
    let models = json!({"object": "list", "data": [{
        "id": MODEL, "object": "model", "created": 0, "owned_by": "mock",
    }]});
    let app = Router::new()
        .route("/health", get(async || "ok"))
        .route("/v1/models", get(async || Json(models)))
        .route("/v1/chat/completions", post(answer))
        .with_state(Pacer::start());
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("no port for the mock");
    println!("{}", listener.local_addr().expect("an address"));
    tokio::select! {
        _ = axum::serve(listener, app) => {}
        () = until_input_closes() => {}
    }
}

async fn answer(State(pacer): State<Pacer>, Json(request): Json<Value>) -> Response {
    let text = request["messages"][0]["content"].as_str().unwrap_or_default();
    let mark = text.trim_matches(['[', ']']).split_once(':').unwrap_or(("deltas", "1"));
    let count = mark.1.parse().unwrap_or(1);
    if request["stream"] != true {
        return whole(count).into_response();
    }
    let kind = [(header::CONTENT_TYPE, "text/event-stream")];
    match mark.0 {
        "paced" => (kind, pacer.say(frames(words(count), "stop"))).into_response(),
        "block" => (kind, frames(pieces_of_a_call(count), "tool_calls").concat()).into_response(),
        _ => (kind, frames(words(count), "stop").concat()).into_response(),
    }
}

fn whole(count: usize) -> Json<Value> {
    let text: String = (0..count).map(word).collect();
    let message = json!({"role": "assistant", "content": text});
    let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
    let usage = json!({"prompt_tokens": 123, "completion_tokens": 45, "total_tokens": 168});
    Json(json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1_794_771_460,
        "model": MODEL, "choices": [choice], "usage": usage,
    }))
}

/// The deltas of a text.
fn words(count: usize) -> impl Iterator<Item = Value> {
    (0..count).map(|index| json!({"content": word(index)}))
}

/// The deltas of a call, whose argument comes in so many.
fn pieces_of_a_call(count: usize) -> impl Iterator<Item = Value> {
    let piece =
        |text: String| json!({"tool_calls": [{"index": 0, "function": {"arguments": text}}]});
    let begin = json!({"tool_calls": [{
        "index": 0, "id": "call_1", "type": "function",
        "function": {"name": TOOLS[0], "arguments": "{\"city\":\""},
    }]});
    let fragments = (0..count).map(fragment);
    iter::once(begin).chain(fragments.map(piece)).chain([piece("\"}".to_owned())])
}

/// A stream, delta by delta. The role comes with the first, the end is one of its own.
fn frames(deltas: impl Iterator<Item = Value>, finish: &str) -> Vec<String> {
    let frame = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        let chunk = json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_794_771_460,
            "model": MODEL, "choices": [choice],
        });
        format!("data: {chunk}\n\n")
    };
    let mut frames: Vec<_> = deltas.map(|delta| frame(delta, Value::Null)).collect();
    if let Some(first) = frames.first_mut() {
        first.insert_str(0, &frame(json!({"role": "assistant", "content": ""}), Value::Null));
    }
    frames.push(frame(json!({}), json!(finish)) + "data: [DONE]\n\n");
    frames
}
