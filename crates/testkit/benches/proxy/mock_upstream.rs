//! An OpenAI server that answers at once: what stands behind the gateways beside us.
//!
//! It is a process of its own, so that its work is not the load client's: this benchmark, started
//! once more.

use std::net::SocketAddr;

use axum::Router;
use axum::extract::Json;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::case::{Case, MODEL};
use crate::endpoint::Endpoint;
use crate::own_process::{OwnProcess, until_input_closes};

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
        let (process, address) = OwnProcess::start(ARGUMENT);
        let address: SocketAddr = address.parse().expect("an address");
        let headers = String::new();
        let endpoint = Endpoint { name: "mock", address, headers, judge: Case::check_text };
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
        .route("/v1/chat/completions", post(answer));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("no port for the mock");
    println!("{}", listener.local_addr().expect("an address"));
    tokio::select! {
        _ = axum::serve(listener, app) => {}
        () = until_input_closes() => {}
    }
}

async fn answer(Json(request): Json<Value>) -> Response {
    let text = request["messages"][0]["content"].as_str().unwrap_or_default();
    let deltas = text.trim_matches(['[', ']']).trim_start_matches("deltas:").parse().unwrap_or(1);
    let words = (0..deltas).map(|index: usize| format!("word{index} "));
    if request["stream"] == true {
        let kind = [(header::CONTENT_TYPE, "text/event-stream")];
        return (kind, stream(words)).into_response();
    }
    let message = json!({"role": "assistant", "content": words.collect::<String>()});
    let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
    let usage = json!({"prompt_tokens": 123, "completion_tokens": 45, "total_tokens": 168});
    Json(json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1_794_771_460,
        "model": MODEL, "choices": [choice], "usage": usage,
    }))
    .into_response()
}

fn stream(words: impl Iterator<Item = String>) -> String {
    let frame = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        let chunk = json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_794_771_460,
            "model": MODEL, "choices": [choice],
        });
        format!("data: {chunk}\n\n")
    };
    let role = frame(json!({"role": "assistant", "content": ""}), Value::Null);
    let words = words.map(|word| frame(json!({"content": word}), Value::Null));
    let finish = frame(json!({}), json!("stop"));
    let frames: Vec<_> = std::iter::once(role).chain(words).chain([finish]).collect();
    frames.concat() + "data: [DONE]\n\n"
}
