//! Servers that nobody would write, but that somebody may run into.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;

/// A server that gives the same answer to everything.
pub(crate) struct Parrot {
    pub(crate) base_url: String,
    /// What it was asked.
    pub(crate) requests: Arc<Mutex<Vec<String>>>,
    _tasks: JoinSet<()>,
}

/// What it says behind the head, and how often.
#[derive(Clone)]
pub(crate) struct Saying {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) body: String,
    /// Between two repetitions; without it there are none.
    pub(crate) again_after: Option<Duration>,
}

// === impl Parrot ===

impl Parrot {
    pub(crate) async fn start(saying: Saying) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let mut tasks = JoinSet::new();
        let asked = Arc::clone(&requests);
        tasks.spawn(async move {
            let mut clients = JoinSet::new();
            loop {
                let (mut client, _) = listener.accept().await.unwrap();
                let (saying, asked) = (saying.clone(), Arc::clone(&asked));
                clients.spawn(async move {
                    let mut bytes = vec![0; 65_536];
                    let count = client.read(&mut bytes).await.unwrap_or(0);
                    asked.lock().unwrap().push(String::from_utf8_lossy(&bytes[..count]).into());
                    let Saying { status, content_type, body, again_after } = saying;
                    let head = format!(
                        "HTTP/1.1 {status} X\r\ncontent-type: {content_type}\r\n\
                         connection: close\r\n\r\n"
                    );
                    let _ = client.write_all(format!("{head}{body}").as_bytes()).await;
                    while let Some(pause) = again_after {
                        tokio::time::sleep(pause).await;
                        if client.write_all(body.as_bytes()).await.is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Self { base_url, requests, _tasks: tasks }
    }

    pub(crate) fn plan(&self, only: &str) -> Plan {
        let server = Server::parse(&self.base_url, None).unwrap();
        let server = server.answering_within(Duration::from_secs(1));
        let only = vec![only.parse().unwrap()];
        Plan { server, model: Some("m".to_owned()), only, ..plain_plan("http://a/v1") }
    }
}

fn stream(body: impl Into<String>) -> Saying {
    Saying { status: 200, content_type: "text/event-stream", body: body.into(), again_after: None }
}

#[tokio::test]
async fn numbers_and_shapes_that_make_no_sense_are_faults_and_no_panics() {
    for body in [
        r#"data: {"choices":[{"delta":{"tool_calls":[{"index":18446744073709551615}]}}]}"#,
        r#"data: {"choices":[{"delta":{"tool_calls":[{"index":0},{"index":9223372036854775807}]}}]}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":18446744073709551615,"completion_tokens":18446744073709551615,"total_tokens":1}}"#,
        r#"{"usage":{"input_tokens":18446744073709551615,"output_tokens":18446744073709551615,"total_tokens":1}}"#,
        r#"data: {"type":"response.completed","response":5}"#,
        r#"data: {"type":"response.completed","response":{"usage":{"input_tokens":18446744073709551615,"output_tokens":18446744073709551615}}}"#,
        r#"data: {"type":"response.failed","response":"no"}"#,
        r#"data: {"type":"response.output_item.added","item":[]}"#,
        "data: [[[[]]]]",
        "data: 5",
        "\u{0}\u{1b}",
    ] {
        let parrot = Parrot::start(stream(format!("{body}\n\n"))).await;
        let report = run(&parrot.plan("*")).await.unwrap();
        assert_eq!(report.standing(), Standing::Failed, "{body}");
        assert!(!report.to_text().contains('\u{1b}'));
    }
}

#[tokio::test]
async fn an_answer_without_end_ends() {
    let again_after = Some(Duration::from_millis(50));
    let parrot = Parrot::start(Saying { again_after, ..stream(": ping\n\n") }).await;
    let report = run(&parrot.plan("chat-answers")).await.unwrap();
    let Outcome::Failed { faults } = outcome(&report, "chat-answers") else { panic!() };
    assert_eq!(faults[0].seen, "the answer had no end within the time limit");
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_told_as_such() {
    let parrot = Parrot::start(stream(format!(": {}\n\n", "x".repeat(5 << 20)))).await;
    let report = run(&parrot.plan("chat-answers")).await.unwrap();
    let Outcome::Failed { faults } = outcome(&report, "chat-answers") else { panic!() };
    assert!(faults[0].seen.contains("longer than what is read"), "{faults:?}");
}

#[tokio::test]
async fn secrets_that_a_server_says_back_are_not_shown() {
    let body = "{\"error\": {\"message\": \"sk-secret-key is no key, nor is a-secret-value\"}}";
    let saying = Saying { status: 500, content_type: "application/json", ..stream(body) };
    let parrot = Parrot::start(saying).await;
    let server = Server::parse(&parrot.base_url, Some("sk-secret-key".to_owned())).unwrap();
    let server = server.with_header("x-other: a-secret-value").unwrap();
    let report = run(&Plan { server, ..parrot.plan("*") }).await.unwrap();
    let written = report.to_text() + &report.to_html();
    let written = written + &report.to_json().to_string();
    assert!(written.contains("… is no key, nor is …"), "{written}");
    assert!(!written.contains("secret"), "{written}");
}
