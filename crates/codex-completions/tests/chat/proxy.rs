//! A running server, with the real Codex and the scripted model behind it.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use hyper::header::{AUTHORIZATION, HOST};
use scripted_model::ScriptedModel;
use serde_json::Value;
use testkit::process::{codex_children, descendants, signal};
use testkit::server_process::{ServerFolder, ServerProcess, for_each_line, metric};
use testkit::{codex_binary, until};
use tokio::io::AsyncWriteExt as _;
use tokio::sync::watch;

use crate::http::{Answer, Exchange};

/// Where answers are asked for.
pub(crate) const CHAT: &str = "/v1/chat/completions";

pub(crate) const KEY: &str = "sk-of-these-tests";

/// A server and the model behind it; both go when it is dropped.
pub(crate) struct Proxy {
    /// The model that Codex asks.
    pub(crate) model: ScriptedModel,
    server: ServerProcess,
    address: String,
    key: String,
    log: watch::Receiver<Vec<Value>>,
    folder: ServerFolder,
    /// Where its data is: in that folder, unless a setting names another.
    data: PathBuf,
}

// === impl Proxy ===

impl Proxy {
    /// Starts a server with these settings, and with `.env` in its folder, which is empty.
    pub(crate) async fn start(settings: &[(&str, &str)]) -> Self {
        let folder = ServerFolder::new().unwrap();
        std::fs::write(folder.data().join(".env"), "").unwrap();
        let model = ScriptedModel::start().await.unwrap();
        let mut command = folder.prepare(ours());
        command
            .args(["serve", "--port", "0", "--env-file", ".env"])
            .env("CODEX_BIN", codex_binary().await.path())
            .env("PROXY_API_KEY", KEY)
            .env("PROXY_UPSTREAM_BASE_URL", model.base_url())
            .env("PROXY_UPSTREAM_RETRIES", "0")
            .env("PROXY_LOG_FORMAT", "json")
            .envs(settings.iter().copied())
            .stderr(Stdio::piped());
        let mut server = ServerProcess::spawn(command).unwrap();
        let (lines, log) = watch::channel(Vec::new());
        // Every line is kept, and shown if the test fails.
        for_each_line(server.process.stderr.take().unwrap(), move |line| {
            println!("{line}");
            let line = parsed(line).unwrap_or_else(|| line.into());
            lines.send_modify(|lines| lines.push(line));
        });
        let address = server.ready().await.unwrap().to_string();
        let set = |wanted: &str| {
            settings.iter().find(|(name, _)| *name == wanted).map(|(_, value)| *value)
        };
        let key = set("PROXY_API_KEY").unwrap_or(KEY).to_owned();
        let data = set("PROXY_DATA_DIR").map_or(folder.data(), Path::new).to_owned();
        Self { model, server, address, key, log, folder, data }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// The head of a chat request with a body of this length.
    pub(crate) fn raw_head(&self, body: usize) -> String {
        format!(
            "POST {CHAT} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\ncontent-length: {body}\r\n\r\n",
            self.address, self.key,
        )
    }

    /// Everything that it has told a person on standard output.
    pub(crate) fn told(&self) -> String {
        self.server.output()
    }

    /// Asks the server to stop, and waits for its last words.
    pub(crate) async fn stop(&mut self) {
        signal(self.process_id(), "-TERM");
        assert!(self.end().await.success());
    }

    /// Waits for the server's end and its last words.
    pub(crate) async fn end(&mut self) -> ExitStatus {
        let status = self.server.end().await.unwrap();
        while self.log.changed().await.is_ok() {}
        status
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
        let key = format!("Bearer {}", self.key).parse().unwrap();
        request.headers_mut().entry(AUTHORIZATION).or_insert(key);
        self.send_without_key(request).await
    }

    pub(crate) async fn send_without_key(&self, mut request: Request<Full<Bytes>>) -> Exchange {
        request.headers_mut().insert(HOST, self.address.parse().unwrap());
        Exchange::begin(&self.address, request).await
    }

    /// A command with the server's data folder.
    pub(crate) async fn command(&self, arguments: &[&str]) -> tokio::process::Command {
        let mut command = self.folder.prepare(ours());
        command
            .args(arguments)
            .env("PROXY_DATA_DIR", &self.data)
            .env("CODEX_BIN", codex_binary().await.path());
        command.into()
    }

    /// Runs a command with the server's data folder, and returns its output.
    pub(crate) async fn run(&self, arguments: &[&str], input: &str) -> String {
        let mut command = self.command(arguments).await;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        process.stdin.take().unwrap().write_all(input.as_bytes()).await.unwrap();
        let output = process.wait_with_output().await.unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// A new key of this name, once the server accepts it.
    pub(crate) async fn add_key(&self, name: &str) -> String {
        let key = self.run(&["key", "add", name], "").await;
        self.until_accepted(&key).await;
        key
    }

    /// The new secret of this key, once the server accepts it.
    pub(crate) async fn rotate_key(&self, name: &str) -> String {
        let key = self.run(&["key", "rotate", name], "").await;
        self.until_accepted(&key).await;
        key
    }

    /// A new key under the name of one that is revoked, once the server accepts it.
    pub(crate) async fn replace_key(&self, name: &str) -> String {
        self.run(&["key", "revoke", name], "").await;
        self.add_key(name).await
    }

    async fn until_accepted(&self, key: &str) {
        let bearer = format!("Bearer {key}");
        let is_accepted = async || {
            let request = Request::get("/v1/models").header(AUTHORIZATION, &bearer);
            self.send(request.body(Full::default()).unwrap()).await.status == 200
        };
        until("the key is accepted", is_accepted).await;
    }

    /// A counter by its name, which has its labels if there are any.
    pub(crate) async fn counter(&self, name: &str) -> u64 {
        let metrics = self.metrics().await;
        metric(&metrics, name).unwrap_or_else(|| panic!("no {name} in {metrics}"))
    }

    /// Everything that is counted.
    pub(crate) async fn metrics(&self) -> String {
        let metrics = self.get("/metrics").await;
        assert_eq!(metrics.status, 200, "{}", metrics.body);
        metrics.body
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        let request = Request::get(path).body(Full::default()).unwrap();
        self.send(request).await.whole().await
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
        self.folder.data()
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.server.process.id()
    }

    /// Everything that the server has logged so far.
    pub(crate) fn log(&self) -> Value {
        self.log.borrow().clone().into()
    }

    /// Waits until every child has this state of early arguments.
    pub(crate) async fn until_early_arguments(&self, state: &str) {
        let are_all = async || self.early_arguments().await.iter().all(|now| now == state);
        until(&format!("early arguments are {state}"), are_all).await;
    }

    /// Waits until no child's log is being checked.
    pub(crate) async fn until_log_is_checked(&self) {
        let is_none = async || self.early_arguments().await.iter().all(|now| now != "checking");
        until("no log is being checked", is_none).await;
    }

    /// Whether each child streams arguments.
    async fn early_arguments(&self) -> Vec<Value> {
        let health = self.get("/healthz").await.json();
        let workers = health["workers"].as_array().unwrap();
        workers.iter().map(|worker| worker["early_arguments"].clone()).collect()
    }

    /// Waits until so many requests wait for a turn.
    pub(crate) async fn until_waiting(&self, requests: u64) {
        self.until_counter("turns_waiting", requests).await;
    }

    /// Waits until so many turns run.
    pub(crate) async fn until_running(&self, turns: u64) {
        self.until_counter("turns_running", turns).await;
    }

    /// Waits until a counter has this value.
    pub(crate) async fn until_counter(&self, name: &str, value: u64) {
        until(&format!("{name} is {value}"), async || self.counter(name).await == value).await;
    }

    /// Waits for the server's end.
    pub(crate) async fn exit_code(mut self) -> Option<i32> {
        self.end().await.code()
    }

    /// Everything that the server has started.
    pub(crate) fn processes(&self) -> Vec<u32> {
        descendants(self.process_id())
    }

    /// The Codex children.
    pub(crate) fn children(&self) -> Vec<u32> {
        codex_children(self.process_id())
    }
}

fn ours() -> Command {
    Command::new(env!("CARGO_BIN_EXE_codex-completions"))
}

/// `None` for one that would look different if it was written again: it names something twice.
fn parsed(line: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(line).ok()?;
    let again = value.to_string();
    (again == line).then_some(value)
}
