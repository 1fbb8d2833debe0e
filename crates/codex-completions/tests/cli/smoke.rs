//! `smoke`: calls in every form, asked of a real server and of wrong ones.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Output;

use serde_json::Value;

use crate::server::{Server, free_port};
use crate::user::{User, err, out};

/// A user without Codex: none is needed to look at a server.
fn visitor() -> User {
    User { folder: tempfile::tempdir().unwrap(), codex: "/nowhere/codex".into() }
}

fn smoke_at(user: &User, address: &str, more: &[&str]) -> Output {
    let base_url = format!("http://{address}/v1");
    user.run(&[&["smoke", "--base-url", &base_url], more].concat())
}

#[tokio::test]
async fn every_form_of_a_call_is_right() {
    let user = User::new().await;
    let server = Server::start(&user, &[]);
    // The key is the one that the server has made for itself.
    let output = smoke_at(&user, &server.address, &[]);
    let lines = out(&output);
    assert!(output.status.success(), "{lines}{}", err(&output));
    assert_eq!(lines.lines().filter(|line| line.starts_with("ok    ")).count(), 16, "{lines}");
    assert!(lines.contains("ok    streamed textual    2 calls obsidian-xml  "), "{lines}");
    assert!(lines.contains("\n16 of 16 checks passed in "), "{lines}");

    let (_, port) = server.address.rsplit_once(':').unwrap();
    let output = user.command(&["smoke", "--json"]).env("PORT", port).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["ok"], &report["passed"]), (&Value::Bool(true), &Value::from(16)));
    assert!(report["duration_ms"].as_u64().unwrap() < 30_000, "{report}");
}

#[tokio::test]
async fn a_server_that_gives_one_call_only_is_told_apart() {
    let user = User::new().await;
    let legacy = [("PROXY_TOOL_BLOCK_MAX", "1"), ("PROXY_STOP_AFTER_TOOLS_MODE", "first")];
    let server = Server::start(&user, &legacy);
    let output = smoke_at(&user, &server.address, &["--json"]);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = report["checks"].as_array().unwrap();
    let calls = |check: &&Value| check["problem"]["what"] == "calls";
    let failed: Vec<_> = checks.iter().filter(calls).collect();
    let names = failed.iter().map(|check| check["name"].as_str().unwrap());
    assert_eq!(names.filter(|name| name.contains("2 calls")).count(), 8, "{report}");
    assert_eq!(failed[0]["problem"]["expected"], r#"["get_weather", "get_time"]"#);
    assert_eq!(failed[0]["problem"]["found"], r#"["get_weather"]"#);
}

#[test]
fn nobody_there_is_one_line() {
    let user = visitor();
    let address = format!("127.0.0.1:{}", free_port());
    let output = smoke_at(&user, &address, &[]);
    assert_eq!(output.status.code(), Some(1));
    let lines = out(&output);
    let expected =
        format!("FAIL  server  answer: expected one from http://{address}/v1, but got none (");
    assert!(lines.starts_with(&expected), "{lines}");
    assert!(lines.contains(" serve` starts a server"), "{lines}");
    assert!(lines.contains("\n0 of 1 checks passed in "), "{lines}");
    // Looking makes no key.
    assert_eq!(std::fs::read_dir(user.folder.path()).unwrap().count(), 0);
}

#[test]
fn what_cannot_be_asked_is_an_error() {
    for (arguments, expected) in [
        (["--base-url", "https://127.0.0.1/v1"], "only http is spoken here"),
        (["--base-url", "127.0.0.1"], "is not a URL such as http://127.0.0.1:11435/v1"),
    ] {
        let output = visitor().run(&[&["smoke"], &arguments[..]].concat());
        assert_eq!(output.status.code(), Some(1));
        assert!(err(&output).contains(expected), "{}", err(&output));
    }
}

#[tokio::test]
async fn a_wrong_key_is_told_in_the_servers_words() {
    let user = User::new().await;
    let server = Server::start(&user, &[]);
    let output = smoke_at(&user, &server.address, &["--key", "wrong"]);
    assert_eq!(output.status.code(), Some(1));
    let expected =
        "FAIL  server  status: expected 200, but got 401: The API key is missing or wrong.";
    assert!(out(&output).starts_with(expected), "{}", out(&output));
}

/// Answers every request with the same body, as `content_type`.
fn wrong_server(content_type: &'static str, body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            answer(&stream.unwrap(), content_type, body);
        }
    });
    address
}

fn answer(mut stream: &TcpStream, content_type: &str, body: &str) {
    let mut request = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        request.read_line(&mut line).unwrap();
        let line = line.to_ascii_lowercase();
        match line.strip_prefix("content-length: ") {
            Some(bytes) => length = bytes.trim().parse().unwrap(),
            None if line.trim().is_empty() => break,
            None => {}
        }
    }
    request.read_exact(&mut vec![0; length]).unwrap();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
}

#[test]
fn a_wrong_server_fails_every_check() {
    for (content_type, body, expected) in [
        (
            "text/html",
            "<p>hello</p>",
            "whole    structured 1 call  openai-json   body: expected JSON",
        ),
        (
            "text/event-stream",
            "data: {\"choices\":[]}\n\n",
            "streamed structured 1 call  openai-json   object: expected \"chat.completion.chunk\"",
        ),
        ("text/event-stream", "data: [DONE]\n\n", "stream: expected a first frame with the role"),
        (
            "text/event-stream",
            "data: {\"error\":{\"message\":\"no\"}}\n\n",
            "openai-json   answer: expected a completion, but got an error: no",
        ),
    ] {
        let address = wrong_server(content_type, body);
        let output = smoke_at(&visitor(), &address, &["--key", "any"]);
        assert_eq!(output.status.code(), Some(1));
        let lines = out(&output);
        assert_eq!(lines.lines().filter(|line| line.starts_with("FAIL  ")).count(), 16, "{lines}");
        assert!(lines.contains(expected), "{lines}");
        assert!(lines.contains("\n0 of 16 checks passed in "), "{lines}");
    }
}
