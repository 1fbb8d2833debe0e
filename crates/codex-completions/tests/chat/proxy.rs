//! A running server, with the real Codex and the scripted model behind it.

use std::path::Path;
use std::process::Stdio;

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use hyper::header::{AUTHORIZATION, HOST};
use scripted_model::ScriptedModel;
use serde_json::Value;
use tempfile::TempDir;
use testkit::codex_binary;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::http::{Answer, Exchange};

/// Where answers are asked for.
pub(crate) const CHAT: &str = "/v1/chat/completions";

pub(crate) const KEY: &str = "sk-of-these-tests";

/// A server and the model behind it; both go when it is dropped.
pub(crate) struct Proxy {
    /// The model that Codex asks.
    pub(crate) model: ScriptedModel,
    process: Child,
    address: String,
    log: watch::Receiver<Vec<Value>>,
    _readers: JoinSet<()>,
    folder: TempDir,
}

// === impl Proxy ===

impl Proxy {
    /// Starts a server with these settings.
    pub(crate) async fn start(settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let model = ScriptedModel::start().await.unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_codex-completions"));
        for (name, _) in std::env::vars() {
            if ["PROXY_", "WORKER_", "CODEX_"].iter().any(|start| name.starts_with(start)) {
                command.env_remove(name);
            }
        }
        command
            .args(["serve", "--port", "0"])
            .current_dir(folder.path())
            .env("CODEX_BIN", codex_binary().await.path())
            .env("PROXY_DATA_DIR", folder.path())
            .env("PROXY_API_KEY", KEY)
            .env("PROXY_UPSTREAM_BASE_URL", model.base_url())
            .env("PROXY_UPSTREAM_RETRIES", "0")
            .env("PROXY_LOG_FORMAT", "json")
            .envs(settings.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let mut process = command.spawn().unwrap();
        let mut readers = JoinSet::new();
        let (lines, log) = watch::channel(Vec::new());
        readers.spawn(read_log(process.stderr.take().unwrap(), lines));
        let address = address(process.stdout.take().unwrap()).await;
        Self { model, process, address, log, _readers: readers, folder }
    }

    /// Asks for an answer, and reads it to its end.
    pub(crate) async fn chat(&self, body: &Value) -> Answer {
        self.chat_with(body, &[]).await
    }

    /// The same with more headers.
    pub(crate) async fn chat_with(&self, body: &Value, headers: &[(&str, &str)]) -> Answer {
        self.open_with(body, headers).await.whole().await
    }

    /// Asks for an answer, and reads its head.
    pub(crate) async fn open(&self, body: &Value) -> Exchange {
        self.open_with(body, &[]).await
    }

    /// The same with more headers.
    pub(crate) async fn open_with(&self, body: &Value, headers: &[(&str, &str)]) -> Exchange {
        let mut request = Request::post(CHAT).header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(Full::from(body.to_string())).unwrap()).await
    }

    /// Sends any request, with the key.
    pub(crate) async fn send(&self, mut request: Request<Full<Bytes>>) -> Exchange {
        let key = format!("Bearer {KEY}").parse().unwrap();
        request.headers_mut().entry(AUTHORIZATION).or_insert(key);
        self.send_without_key(request).await
    }

    pub(crate) async fn send_without_key(&self, mut request: Request<Full<Bytes>>) -> Exchange {
        request.headers_mut().insert(HOST, self.address.parse().unwrap());
        Exchange::begin(&self.address, request).await
    }

    /// A new key of this name, once the server accepts it.
    pub(crate) async fn add_key(&self, name: &str) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_codex-completions"));
        command.args(["key", "add", name]).env("PROXY_DATA_DIR", self.folder());
        let output = command.output().await.unwrap();
        assert!(output.status.success(), "{output:?}");
        let key = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        let bearer = format!("Bearer {key}");
        loop {
            let request = Request::get("/v1/models").header(AUTHORIZATION, &bearer);
            if self.send(request.body(Full::default()).unwrap()).await.status == 200 {
                return key;
            }
        }
    }

    /// A counter by its name, which has its labels if there are any.
    pub(crate) async fn counter(&self, name: &str) -> u64 {
        let request = Request::get("/metrics").body(Full::default()).unwrap();
        let metrics = self.send(request).await.whole().await;
        assert_eq!(metrics.status, 200, "{}", metrics.body);
        let line = metrics.body.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name} in {}", metrics.body)).parse().unwrap()
    }

    /// Waits for the log lines of a request's turns, one for each choice.
    pub(crate) async fn turn_lines(&self, request_id: &str, choices: usize) -> Vec<Value> {
        let of_request = |lines: &Vec<Value>| -> Vec<Value> {
            let mut lines = lines.clone();
            lines.retain(|line| line["target"] == "turn" && line["request_id"] == request_id);
            lines
        };
        let mut log = self.log.clone();
        let lines = log.wait_for(|lines| of_request(lines).len() >= choices).await;
        let found = of_request(&lines.expect("the server is there"));
        assert_eq!(found.len(), choices);
        found
    }

    /// Waits for a line of the log with this message.
    pub(crate) async fn logged(&self, message: &str) -> Value {
        self.logged_times(message, 1).await
    }

    /// Waits until that was logged so often, and gives the last such line.
    pub(crate) async fn logged_times(&self, message: &str, times: usize) -> Value {
        let mut log = self.log.clone();
        let find = |lines: &Vec<Value>| {
            lines.iter().filter(|line| line["message"] == message).nth(times - 1).cloned()
        };
        let lines = log.wait_for(|lines| find(lines).is_some()).await;
        find(&lines.expect("the server is there")).expect("it was there")
    }

    /// The server's working folder, which is its data folder too.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.process.id().expect("the server is there")
    }

    /// Everything that the server has logged so far.
    pub(crate) fn log(&self) -> Value {
        self.log.borrow().clone().into()
    }

    /// Waits until so many requests wait for a turn.
    pub(crate) async fn until_waiting(&self, requests: u64) {
        while self.counter("turns_waiting").await != requests {}
    }

    /// Waits for the server's end.
    pub(crate) async fn exit_code(mut self) -> Option<i32> {
        self.process.wait().await.unwrap().code()
    }

    /// Everything that the server has started.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let id = self.process_id();
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
        children.split_whitespace().map(|child| child.parse().unwrap()).collect()
    }

    /// The Codex children.
    pub(crate) fn children(&self) -> Vec<u32> {
        let is_codex = |child: &u32| {
            std::fs::read_link(format!("/proc/{child}/exe"))
                .is_ok_and(|program| program.ends_with("codex"))
        };
        let mut children = self.processes();
        children.retain(is_codex);
        children
    }
}

/// The address that the server tells once it is ready.
async fn address(stdout: impl AsyncRead + Unpin) -> String {
    let mut lines = BufReader::new(stdout).lines();
    while let Some(line) = lines.next_line().await.unwrap() {
        if let Some(url) = line.trim().strip_prefix("base URL") {
            return url.trim().replace("http://", "").replace("/v1", "");
        }
    }
    panic!("the server does not start")
}

/// Keeps every line of the log, and shows it if the test fails.
async fn read_log(stderr: impl AsyncRead + Unpin, log: watch::Sender<Vec<Value>>) {
    let mut lines = BufReader::new(stderr).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        println!("{line}");
        let line = serde_json::from_str(&line).unwrap_or_else(|_| line.into());
        log.send_modify(|lines| lines.push(line));
    }
}
