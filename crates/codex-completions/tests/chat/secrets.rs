//! Sessions full of secrets at every log level, and then a search for them everywhere.

use std::fmt::Write as _;
use std::path::Path;

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use hyper::header::AUTHORIZATION;
use serde_json::{Value, json};
use testkit::files_with;
use testkit::process::{descendants, kill_group};
use tokio::task::JoinSet;

use crate::altered_codex::AlteredCodex;
use crate::asking::{ask, function, items, streamed, with};
use crate::http::Answer;
use crate::proxy::{CHAT, Proxy};
use crate::reply::Reply;

/// The key of the clients, of the upstream, and of the login; and one that is wrong.
const KEY: &str = "sk-canary-key-4f1c";
const UPSTREAM_KEY: &str = "sk-canary-upstream-9d2e";
const LOGIN: &str = "sk-canary-login-77aa";
const WRONG_KEY: &str = "sk-canary-wrong-c3b0";

/// In prompts, in tools, in the history's calls and results, and in what the model says and calls.
const PROMPT: &str = "canary-prompt-1b7e";
const TOOL: &str = "canary-tool-52c8";
const HISTORY: &str = "canary-history-e6a3";
const RESULT: &str = "canary-result-08fd";
const ARGUMENT: &str = "canary-argument-d914";

const CREDENTIALS: [&str; 4] = [KEY, UPSTREAM_KEY, LOGIN, WRONG_KEY];
const CONTENT: [&str; 5] = [PROMPT, TOOL, HISTORY, RESULT, ARGUMENT];

/// A server with a login, and what it has said besides answers.
struct Session {
    proxy: Proxy,
    /// With everything that is said in a turn on its standard error too.
    _codex: AlteredCodex,
    /// Errors, health and metrics.
    said: String,
}

// === impl Session ===

impl Session {
    async fn start(settings: &[(&str, &str)]) -> (Self, tempfile::TempDir) {
        let home = tempfile::tempdir().unwrap();
        let codex = AlteredCodex::new(&["w /dev/stderr"]).await;
        let login = json!({"auth_mode": "apikey", "OPENAI_API_KEY": LOGIN});
        std::fs::write(home.path().join("auth.json"), login.to_string()).unwrap();
        let own = [
            ("CODEX_BIN", codex.path()),
            ("PROXY_API_KEY", KEY),
            ("PROXY_UPSTREAM_API_KEY", UPSTREAM_KEY),
            ("PROXY_CODEX_HOME", home.path().to_str().unwrap()),
            ("PROXY_IDLE_TIMEOUT_MS", "2500"),
            ("PROXY_MAX_LINE_BYTES", "65536"),
            ("PROXY_CALL_PROBE_MS", "200"),
            // Long enough to be seen.
            ("WORKER_BACKOFF_INITIAL_MS", "2000"),
        ];
        let settings: Vec<_> = own.into_iter().chain(settings.iter().copied()).collect();
        (Self { proxy: Proxy::start(&settings).await, _codex: codex, said: String::new() }, home)
    }

    /// Everything that a client can do, right and wrong.
    async fn play(&mut self) {
        self.refused_requests().await;
        self.proxy.until_early_arguments("on").await;
        for mark in [
            "[[echo]]",
            // In fragments, which Codex's log has too; and a refusal, which only that has.
            "[[args:ms=4,calls=2]]",
            "[[refusal]]",
            "[[echo-reasoning]]",
            "[[parallel:3]]",
            &items(&[json!({"name": "get_weather", "arguments": arguments()})]),
            &items(&[json!({"name": "no_such_tool", "arguments": arguments()})]),
            &items(&[json!({"name": "get_weather", "arguments": format!("{{{ARGUMENT}")})]),
            &items(&[json!(format!("<use_tool><name>lookup</name><q>{ARGUMENT}</q></use_tool>"))]),
            &format!("[[shell:{ARGUMENT}]]"),
            &format!("[[local-shell:{ARGUMENT}]]"),
            &format!("[[custom:{ARGUMENT}]]"),
        ] {
            for request in both_ways(mark) {
                let reply = Reply::of(&self.proxy.chat(&request).await);
                assert_eq!(reply.error, None, "{mark}");
            }
        }
        assert!(self.proxy.counter("codex_completions_argument_fragments_total").await > 0);
        self.failed_turns().await;
        for path in [
            "/healthz",
            "/readyz",
            "/v1/models",
            "/v1/usage",
            "/metrics",
            "/v1/embeddings",
            "/",
            "/v1/proxy/status",
            "/v1/proxy/turns",
            "/v1/proxy/settings",
        ] {
            let answer = self.proxy.get(path).await;
            self.note(&answer);
        }
    }

    /// Requests that are turned away, each with something secret in it.
    async fn refused_requests(&mut self) {
        let mut wrong = Request::post(CHAT).body(Full::default()).unwrap();
        let value = format!("Bearer {WRONG_KEY}").parse().unwrap();
        wrong.headers_mut().insert(AUTHORIZATION, value);
        let answer = self.proxy.send(wrong).await.whole().await;
        assert_eq!(answer.status, 401);
        self.note(&answer);

        let call = |arguments: Value| {
            json!([{"role": "assistant", "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}},
            ]}])
        };
        let message = |content: Value| json!([{"role": "user", "content": content}]);
        for body in [
            format!(r#"{{"model": "gpt-5.5", "messages": [{{"content": "{PROMPT}""#),
            format!("{PROMPT} is no JSON"),
            format!(r#"{{"messages": [{{"role": "user", "content": "{PROMPT}"}}]}}"#),
            with(ask(PROMPT), json!({"messages": PROMPT})).to_string(),
            with(ask(""), json!({"messages": message(json!({"text": PROMPT}))})).to_string(),
            with(ask(""), json!({"messages": message(json!([{"text": PROMPT}]))})).to_string(),
            with(ask(""), json!({"messages": call(json!(arguments()))})).to_string(),
            with(ask(""), json!({"messages": call(json!({"a": ARGUMENT}))})).to_string(),
            with(
                ask(""),
                json!({"messages": [
                    {"role": "tool", "tool_call_id": "lost", "content": RESULT},
                ]}),
            )
            .to_string(),
            with(ask(PROMPT), json!({"tools": TOOL})).to_string(),
            with(
                ask(PROMPT),
                json!({"tools": [{"type": "function", "function": {
                    "name": "f", "description": TOOL, "parameters": TOOL,
                }}]}),
            )
            .to_string(),
            with(ask(PROMPT), json!({"stop": {"text": PROMPT}})).to_string(),
            with(ask(PROMPT), json!({"response_format": PROMPT})).to_string(),
            with(ask(PROMPT), json!({"max_tokens": PROMPT})).to_string(),
        ] {
            let request = Request::post(CHAT).header("content-type", "application/json");
            let request = request.body(Full::new(Bytes::from(body.clone()))).unwrap();
            let answer = self.proxy.send(request).await.whole().await;
            assert_eq!(answer.status, 400, "{body}: {answer:?}");
            self.note(&answer);
        }
    }

    /// Turns that fail, at the upstream and here. The upstream's own words are the client's.
    async fn failed_turns(&mut self) {
        for mark in [
            format!("[[http:{ARGUMENT}]]"),
            format!("[[failed:{ARGUMENT}]]"),
            format!("[[incomplete:{ARGUMENT}]]"),
            "[[http:500]]".to_owned(),
            "[[http:401]]".to_owned(),
            "[[echo-cut]]".to_owned(),
            "[[args:ms=4,cut]]".to_owned(),
            "[[big-delta:70000]]".to_owned(),
            "[[echo-hang]]".to_owned(),
        ] {
            let [stream, whole] = both_ways(&mark);
            let (stream, whole) = tokio::join!(self.proxy.chat(&stream), self.proxy.chat(&whole));
            for answer in [stream, whole] {
                assert!(Reply::of(&answer).error.is_some(), "{mark}: {answer:?}");
            }
        }
        // A call whose response breaks off, and a body that is read aside.
        let [broken, _] = both_ways("[[call-cut]]");
        self.proxy.chat(&broken).await;
        let long = format!("{} [[text]]", PROMPT.repeat(20_000));
        assert_eq!(self.proxy.chat(&ask(&long)).await.status, 200);

        let [left, lost] = both_ways("[[echo-hang]]");
        let mut stream = self.proxy.open(&left).await;
        stream.until("data: ").await;
        drop(stream);
        let mut stream = self.proxy.open(&with(lost, json!({"stream": true}))).await;
        stream.until("data: ").await;
        kill_group(self.proxy.children()[0]);
        assert!(Reply::of(&stream.whole().await).error.is_some());
        // Why the child was lost is told to those who have the key: whichever was noticed first.
        let health = self.proxy.get("/healthz").await;
        let reasons = ["Codex has closed its output", "cannot write to Codex"];
        let is_told = reasons.iter().any(|reason| health.body.contains(reason));
        assert!(is_told, "{health:?}");
        self.note(&health);
        assert_eq!(self.proxy.chat(&ask("[[text]]")).await.status, 200);
    }

    fn note(&mut self, answer: &Answer) {
        let _ = writeln!(self.said, "{answer:?}");
    }

    /// Every command line of the server and of what it has started.
    fn command_lines(&self) -> String {
        let server = self.proxy.process_id();
        let processes: Vec<_> = descendants(server).into_iter().chain([server]).collect();
        assert!(processes.len() > 1, "{processes:?}");
        let line = |id: &u32| std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let lines: Vec<_> = processes.iter().flat_map(line).collect();
        String::from_utf8_lossy(&lines).into_owned()
    }
}

/// A request with a secret everywhere, streamed and whole.
fn both_ways(mark: &str) -> [Value; 2] {
    let call = json!({
        "id": "call_earlier", "type": "function",
        "function": {"name": "get_weather", "arguments": json!({"city": HISTORY}).to_string()},
    });
    let mut tool = function("get_weather");
    tool["description"] = TOOL.into();
    tool["parameters"]["properties"]["city"]["description"] = TOOL.into();
    let tools = [tool, function("get_time"), function("lookup")];
    let tools: Vec<_> =
        tools.map(|tool| json!({"type": "function", "function": tool})).into_iter().collect();
    let request = with(
        ask(""),
        json!({
            "n": 2,
            "messages": [
                {"role": "system", "content": PROMPT},
                {"role": "user", "content": PROMPT},
                {"role": "assistant", "content": HISTORY, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "call_earlier", "content": RESULT},
                {"role": "user", "content": format!("{PROMPT} {mark}")},
            ],
            "tools": tools,
        }),
    );
    [streamed(request.clone()), request]
}

fn arguments() -> String {
    json!({"city": ARGUMENT}).to_string()
}

/// The secrets of a list that a text holds.
fn found<'a>(secrets: &[&'a str], text: &str) -> Vec<&'a str> {
    secrets.iter().copied().filter(|secret| text.contains(secret)).collect()
}

const NOTHING: [&str; 0] = [];

/// What is on disk when all is over: the login alone, where it belongs.
fn check_files(folder: &Path, home: &Path) {
    for secret in CREDENTIALS.into_iter().chain(CONTENT) {
        assert_eq!(files_with(secret, folder), [].into(), "{secret}");
        let login = (secret == LOGIN).then(|| home.join("auth.json"));
        assert_eq!(files_with(secret, home), login.into_iter().collect(), "{secret}");
    }
}

async fn no_secret_is_found(level: &str, format: &str) {
    let settings =
        [("PROXY_LOG", level), ("PROXY_LOG_FORMAT", format), ("PROXY_CAPTURE_DIR", "records")];
    let (mut session, home) = Session::start(&settings).await;
    session.play().await;
    let everything: Vec<_> = CREDENTIALS.into_iter().chain(CONTENT).collect();
    assert_eq!(found(&everything, &session.command_lines()), NOTHING);
    assert_eq!(found(&everything, &session.said), NOTHING, "{}", session.said);
    session.proxy.stop().await;
    let log = session.proxy.log().to_string();
    assert_eq!(log.contains("a turn has ended"), ["info", "debug", "trace"].contains(&level));
    assert_eq!(found(&everything, &log), NOTHING);
    assert_eq!(found(&everything, &session.proxy.told()), NOTHING);
    let records = std::fs::read_dir(session.proxy.folder().join("records")).unwrap().count();
    assert!(records > 30, "{records}");
    // Now that the databases are closed, with what they had written ahead.
    check_files(session.proxy.folder(), home.path());
}

#[tokio::test]
async fn row_9_no_secret_is_anywhere_when_everything_is_logged() {
    no_secret_is_found("trace", "json").await;
}

#[tokio::test]
async fn row_9_no_secret_is_anywhere_when_everything_is_logged_for_people() {
    no_secret_is_found("trace", "text").await;
}

#[tokio::test]
async fn row_9_no_secret_is_anywhere_at_any_other_level() {
    let levels = ["debug", "info", "warn", "error", "off"];
    let sessions: JoinSet<_> =
        levels.map(|level| no_secret_is_found(level, "json")).into_iter().collect();
    sessions.join_all().await;
}

#[tokio::test]
async fn row_9_content_is_logged_only_if_it_is_asked_for() {
    let (mut session, home) =
        Session::start(&[("PROXY_LOG_CONTENT", "true"), ("PROXY_LOG", "trace")]).await;
    session.play().await;
    session.proxy.stop().await;
    let log = session.proxy.log();
    let lines = log.as_array().unwrap();
    let (content, others): (Vec<_>, Vec<_>) =
        lines.iter().partition(|line| line["target"] == "content");
    let text = |lines: &[&Value]| lines.iter().map(ToString::to_string).collect::<String>();
    assert_eq!(found(&CONTENT, &text(&content)), CONTENT);
    // The child's own words are whole, too.
    let others: Vec<_> = others.into_iter().filter(|line| line["target"] != "codex").collect();
    assert_eq!(found(&CONTENT, &text(&others)), NOTHING);
    assert_eq!(found(&CREDENTIALS, &log.to_string()), NOTHING);
    let warned = |line: &&Value| {
        line["level"] == "WARN" && line["message"].to_string().contains("PROXY_LOG_CONTENT")
    };
    assert_eq!(lines.iter().filter(warned).count(), 1);
    let longest = content.iter().map(|line| line.to_string().len()).max().unwrap();
    assert!(longest < 40 * 1024, "{longest}");
    check_files(session.proxy.folder(), home.path());
}

/// One exchange, whole.
#[tokio::test]
async fn a_request_and_its_answer_are_two_lines_of_content() {
    let mut proxy = Proxy::start(&[("PROXY_LOG_CONTENT", "true")]).await;
    let request = with(
        ask(&items(&[json!("Hello."), json!({"name": "lookup", "arguments": arguments()})])),
        json!({"tools": [{"type": "function", "function": function("lookup")}]}),
    );
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let parent = format!("00-{trace}-b7ad6b7169203331-01");
    let ids = [("x-request-id", "mine"), ("traceparent", parent.as_str())];
    let answer = proxy.chat_with(&request, &ids).await;
    assert_eq!(answer.status, 200);
    proxy.stop().await;
    let log = proxy.log();
    let mut lines: Vec<_> = log.as_array().unwrap().clone();
    lines.retain(|line| line["target"] == "content");
    for line in &mut lines {
        assert!(line.as_object_mut().unwrap().remove("timestamp").unwrap().is_string());
    }
    let (body, said) = (request.to_string(), format!("Hello.lookup{}", arguments()));
    assert_eq!(
        lines,
        [
            json!({
                "level": "INFO", "target": "content", "message": "a request",
                "request_id": "mine", "trace_id": trace, "bytes": body.len(), "body": body,
            }),
            json!({
                "level": "INFO", "target": "content", "message": "an answer",
                "request_id": "mine", "trace_id": trace, "choice": 0, "bytes": said.len(), "said": said,
            }),
        ]
    );
}
