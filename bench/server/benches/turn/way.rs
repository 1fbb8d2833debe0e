//! A way to run turns, with a Codex of its own.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use codex_app_server::{Client, ClientConfig, CodexBinary, Timing};
use model_turn::{HistoryItem, Role, TurnEvent, TurnRequest};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::model::{Model, TEXT};
use crate::processor::ProcessorTime;

/// Items of the history that each turn has.
const ITEMS: usize = 8;

/// Long enough for everything that a turn leaves to be done; it is counted as the turn's.
const SETTLE: Duration = Duration::from_millis(40);

/// Where bundles of root certificates are, on the systems that we know.
const BUNDLES: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// What is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Nothing,
    /// Codex has one root certificate instead of the system's.
    OneRoot,
    /// The history and the turn are sent together, which is not safe.
    Together,
    /// Codex has as many threads for its tasks.
    Workers(&'static str),
}

/// A child, and the times of its turns.
pub(crate) struct Way {
    pub(crate) change: Change,
    client: Client,
    requests: Arc<Mutex<Vec<(&'static str, Duration)>>>,
    pub(crate) turns: Vec<Times>,
    _home: TempDir,
}

/// One turn, in milliseconds. What was not seen is not a number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) thread: f64,
    pub(crate) inject: f64,
    pub(crate) turn: f64,
    pub(crate) asked: f64,
    pub(crate) first: f64,
    pub(crate) end: f64,
    pub(crate) processor: f64,
}

// === impl Change ===

impl Change {
    pub(crate) fn name(self) -> String {
        match self {
            Self::Nothing => "nothing".to_owned(),
            Self::OneRoot => "one TLS root".to_owned(),
            Self::Together => "history and turn sent together".to_owned(),
            Self::Workers(count) => format!("TOKIO_WORKER_THREADS={count}"),
        }
    }

    pub(crate) fn apply(self, config: &mut ClientConfig) {
        if self == Self::OneRoot {
            let file = one_root(&config.home);
            config.environment.push(("SSL_CERT_FILE".to_owned(), file));
        }
        if let Self::Workers(count) = self {
            config.environment.push(("TOKIO_WORKER_THREADS".to_owned(), count.to_owned()));
        }
    }
}

/// A file with the first of the system's root certificates.
fn one_root(home: &Path) -> String {
    const END: &str = "-----END CERTIFICATE-----\n";
    let bundle = BUNDLES.iter().find_map(|path| fs::read_to_string(path).ok());
    let bundle = bundle.expect("no bundle of root certificates");
    let end = bundle.find(END).expect("a certificate") + END.len();
    let file = home.with_extension("pem");
    fs::write(&file, &bundle[..end]).expect("no file for a certificate");
    file.to_string_lossy().into_owned()
}

// === impl Way ===

impl Way {
    pub(crate) async fn start(codex: &CodexBinary, change: Change) -> Self {
        let folder = tempfile::tempdir().expect("no temporary folder");
        let mut config = ClientConfig::new(codex.clone(), folder.path().join("home"));
        change.apply(&mut config);
        let requests: Arc<Mutex<Vec<_>>> = Arc::default();
        config.timings = Some(Arc::new({
            let requests = Arc::clone(&requests);
            move |timing| {
                if let Timing::Request { method, took } = timing {
                    requests.lock().expect("a poisoned list").push((method, took));
                }
            }
        }));
        let client = Client::start(config).await.expect("the child does not start");
        Self { change, client, requests, turns: Vec::new(), _home: folder }
    }

    /// Runs a turn, and notes its times.
    pub(crate) async fn turn(&mut self, model: &Model) {
        let child = self.client.process_id().expect("no child");
        self.requests.lock().expect("a poisoned list").clear();
        model.take_asked();
        let before = ProcessorTime::of(child);
        let started = Instant::now();
        let (first, end) = match self.change {
            Change::Together => self.send_together(model).await,
            _ => self.run(model).await,
        };
        let asked = model.take_asked().expect("the model was not asked");
        let requests = self.requests.lock().expect("a poisoned list").clone();
        let took = |method: &str| {
            let request = requests.iter().find(|(name, _)| *name == method);
            request.map_or(0.0, |(_, took)| millis(*took))
        };
        let [thread, inject, turn] =
            ["thread/start", "thread/inject_items", "turn/start"].map(took);
        tokio::time::sleep(SETTLE).await;
        self.turns.push(Times {
            thread,
            inject,
            turn,
            asked: millis(asked - started),
            first: first.map_or(f64::NAN, |first| millis(first - started)),
            end: end.map_or(f64::NAN, |end| millis(end - started)),
            processor: ProcessorTime::of(child).since(before).total / 1_000.0,
        });
    }

    /// As our server does.
    async fn run(&self, model: &Model) -> (Option<Instant>, Option<Instant>) {
        let mut turn = self.client.start_turn(request(model)).expect("an invalid turn");
        let (mut text, mut first) = (String::new(), None);
        while let Some(event) = turn.next().await {
            if let TurnEvent::Text(delta) = &event {
                first.get_or_insert_with(Instant::now);
                text.push_str(delta);
            }
        }
        assert_eq!(text, TEXT, "a wrong answer");
        (first, Some(Instant::now()))
    }

    /// The same requests, the last two without waiting in between. Nobody hears the answer.
    async fn send_together(&self, model: &Model) -> (Option<Instant>, Option<Instant>) {
        let ask = async |method: &'static str, params: Value| {
            let result = self.client.request(method, &params).await.expect("a refusal");
            serde_json::from_str::<Value>(result.expect("a result").get()).expect("no JSON")
        };
        let started = ask("thread/start", thread_start(&model.base_url())).await;
        let thread = &started["thread"]["id"];
        let items: Vec<_> = (0..ITEMS)
            .map(|_| {
                let content = json!([{"type": "input_text", "text": "Say hello."}]);
                json!({"type": "message", "role": "user", "content": content})
            })
            .collect();
        tokio::join!(
            ask("thread/inject_items", json!({"threadId": thread, "items": items})),
            ask("turn/start", json!({"threadId": thread, "input": []})),
        );
        while !model.is_asked() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tokio::time::sleep(SETTLE).await;
        ask("thread/unsubscribe", json!({"threadId": thread})).await;
        (None, None)
    }

    pub(crate) async fn end(self) {
        self.client.shutdown().await;
    }
}

/// What our client sends for [`request`].
fn thread_start(base_url: &str) -> Value {
    json!({
        "model": "demo",
        "ephemeral": true,
        "environments": [],
        "baseInstructions": "",
        "approvalPolicy": "never",
        "sandbox": "read-only",
        "experimentalRawEvents": true,
        "config": {
            "model_providers.upstream.base_url": base_url,
            "model_providers.upstream.requires_openai_auth": false,
            "model_providers.upstream.name": "upstream",
        },
    })
}

pub(crate) fn request(model: &Model) -> TurnRequest {
    let history = (0..ITEMS).map(|_| HistoryItem::text(Role::User, "Say hello."));
    TurnRequest {
        model: "demo".to_owned(),
        history: history.collect(),
        ..testkit::ask(&model.base_url(), "")
    }
}

pub(crate) fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}
