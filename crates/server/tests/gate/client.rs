//! A server with a stand-in for the API, and a client that sends its bytes as they are.

use std::net::SocketAddr;
use std::time::Duration;

use axum::extract::Request;
use axum::routing::{get, post};
use axum::{Extension, Json};
use serde_json::{Value, json};
use server::{
    Access, AccessSettings, ApiKey, ApiRoutes, App, BodyLimits, Caller, ConnectionLimits,
    ErrorResponse, GateSettings, IdleTimeout, LargeBodies, QueueLimits, Readiness, RequestId,
    RunSecret, TurnQueue, check_json_depth, read_body,
};
use testkit::http::{Connection, Head};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::{CancellationToken, DropGuard};

/// The key that is accepted, as a line of a request.
pub(crate) const KEY: &str = "authorization: Bearer sk-right";
pub(crate) const MAX_BODY_BYTES: usize = 64;
pub(crate) const MAX_JSON_DEPTH: usize = 8;
/// Generous: only a hang reaches it.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// A running server; dropping it stops it.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) access: Access,
    pub(crate) tasks: JoinSet<()>,
    pub(crate) stop: DropGuard,
}

/// What came back on a connection.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Names in small letters.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

// === impl Server ===

impl Server {
    pub(crate) async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    pub(crate) async fn start_with(adapt: impl FnOnce(&mut App)) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let access = Access::new(address.port(), access());
        let mut app = App {
            run_secret: RunSecret::new([0; 32]),
            api: stand_in(PATIENCE),
            readiness: watch::channel(Readiness::default()).1,
            queue: TurnQueue::new(QueueLimits {
                turns: 16,
                waiting: 64,
                longest_wait: Duration::from_secs(30),
            }),
            access: access.clone(),
            gate: GateSettings {
                protect_models: true,
                protect_metrics: true,
                max_body_bytes: MAX_BODY_BYTES,
            },
            limits: ConnectionLimits {
                max_connections: 64,
                header_timeout: PATIENCE,
                max_header_bytes: 16 * 1024,
                max_headers: 100,
                idle_timeout: IdleTimeout::new(PATIENCE),
            },
        };
        adapt(&mut app);
        let stop = CancellationToken::new();
        let mut tasks = JoinSet::new();
        tasks.spawn(server::serve(vec![listener], app, stop.clone()));
        Self { address, access, tasks, stop: stop.drop_guard() }
    }

    /// Sends a request with our own `Host` and these lines.
    pub(crate) async fn send(&self, request_line: &str, lines: &[&str], body: &str) -> Answer {
        let host = format!("host: {}", self.address);
        let mut all = vec![host.as_str()];
        all.extend(lines);
        self.send_to_any_host(request_line, &all, body).await
    }

    pub(crate) async fn send_to_any_host(
        &self,
        request_line: &str,
        lines: &[&str],
        body: &str,
    ) -> Answer {
        let length = format!("content-length: {}", body.len());
        let request_line = format!("{request_line} HTTP/1.1");
        let mut head = vec![request_line.as_str(), "connection: close"];
        head.extend(lines);
        if !body.is_empty() && !lines.iter().any(|line| line.starts_with("transfer-encoding")) {
            head.push(&length);
        }
        self.send_raw(&format!("{}\r\n\r\n{body}", head.join("\r\n"))).await
    }

    pub(crate) async fn send_raw(&self, request: &str) -> Answer {
        let connection = Connection::open_with(self.address, request.as_bytes()).await.unwrap();
        Answer::parse(&connection.rest_text().await.unwrap())
    }
}

// === impl Answer ===

impl Answer {
    pub(crate) fn parse(text: &str) -> Self {
        let (head, body) = Head::split(text.as_bytes()).unwrap().expect("a whole head");
        let body = String::from_utf8(body.to_owned()).unwrap();
        Self { status: head.status, headers: head.headers, body }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(key, _)| key == name);
        let value = values.next().map(|(_, value)| value.as_str());
        assert_eq!(values.next(), None, "{name} is there once");
        value
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }

    /// Status and code of an error in OpenAI's shape.
    pub(crate) fn error(&self) -> (u16, String) {
        let json = self.json();
        let error = json["error"].as_object().unwrap_or_else(|| panic!("{self:?}"));
        let members: Vec<&str> = error.keys().map(String::as_str).collect();
        assert_eq!(members, ["message", "type", "param", "code"]);
        assert_eq!(self.header("content-type"), Some("application/json"));
        (self.status, error["code"].as_str().unwrap().to_owned())
    }
}

/// The owner, one name, one page.
pub(crate) fn access() -> AccessSettings {
    AccessSettings {
        allowed_hosts: vec!["proxy.example".parse().unwrap()],
        allowed_origins: vec!["https://notes.example".parse().unwrap()],
        keys: vec![ApiKey::new("default", "owner", "sk-right")],
        key_hint: "It is in the file key.".to_owned(),
    }
}

/// Says what it was given, within that time, and panics if told to.
pub(crate) fn stand_in(body_time: Duration) -> ApiRoutes {
    let limits = BodyLimits { bytes: MAX_BODY_BYTES, time: body_time };
    let echo = move |caller, id, request| echo(caller, id, request, limits);
    ApiRoutes::new()
        .route("/chat/completions", post(echo))
        .route("/models", get(async || Json(json!({"data": []}))))
        .route("/models/{id}", get(async || "one"))
}

async fn echo(
    Extension(caller): Extension<Caller>,
    Extension(id): Extension<RequestId>,
    request: Request,
    limits: BodyLimits,
) -> Result<Json<Value>, ErrorResponse> {
    let large = LargeBodies::new(limits.time);
    let body = read_body(request.into_body(), limits, &large, &caller).await?.bytes;
    check_json_depth(&body, MAX_JSON_DEPTH)?;
    assert_ne!(body, "panic", "sk-secret in a panic");
    let body = String::from_utf8_lossy(&body);
    Ok(Json(json!({"caller": caller.name(), "id": id.as_str(), "body": body})))
}
