//! Requests that must be refused, each in its own way.

use testkit::http::request_head as head;
use testkit::server_process::Target;

/// A request that must be refused.
pub(crate) struct Mischief {
    pub(crate) name: &'static str,
    /// The status and the code of the refusal; `none` where the error has no code.
    pub(crate) status: u16,
    pub(crate) code: &'static str,
    /// What is sent.
    pub(crate) bytes: fn(&Target, id: &str) -> Vec<u8>,
    pub(crate) then: Then,
}

/// What the client does when it has sent that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// It waits for an answer.
    Waits,
    /// It closes its side, and may be answered by a closed connection.
    HalfCloses,
}

/// A body that is right.
const GOOD: &str = r#"{"model":"m","messages":[{"role":"user","content":"x"}]}"#;

const JSON: &str = "content-type: application/json\r\n";

const fn row(
    name: &'static str,
    status: u16,
    code: &'static str,
    bytes: fn(&Target, &str) -> Vec<u8>,
) -> Mischief {
    Mischief { name, status, code, bytes, then: Then::Waits }
}

/// One row a line, as a table is read.
#[rustfmt::skip]
pub(crate) static MISCHIEF: &[Mischief] = &[
    row("no key", 401, "invalid_api_key", |target, id| {
        head("POST", CHAT, &target.host, id, &format!("{JSON}content-length: 0\r\n"))
    }),
    row("wrong key", 401, "invalid_api_key", |target, id| {
        let lines = format!("authorization: Bearer sk-wrong\r\n{JSON}content-length: 0\r\n");
        head("POST", CHAT, &target.host, id, &lines)
    }),
    row("wrong method", 405, "method_not_allowed", |target, id| {
        head("GET", CHAT, &target.host, id, &target.authorization())
    }),
    row("unknown path", 404, "unknown_path", |target, id| {
        head("GET", "/v1/nothing", &target.host, id, &target.authorization())
    }),
    row("unknown model", 404, "model_not_found", |target, id| {
        head("GET", "/v1/models/nothing", &target.host, id, &target.authorization())
    }),
    row("not JSON", 400, "none", |target, id| post(target, id, "", r#"{"model": "m", "#)),
    row("deep JSON", 400, "json_too_deep", |target, id| {
        let deep = format!(r#"{{"model":"m","messages":{}{}}}"#, "[".repeat(5_000), "]".repeat(5_000));
        post(target, id, "", &deep)
    }),
    row("another type", 415, "unsupported_content_type", |target, id| {
        let (key, length) = (target.authorization(), GOOD.len());
        let lines = format!("{key}content-type: text/plain\r\ncontent-length: {length}\r\n");
        let mut bytes = head("POST", CHAT, &target.host, id, &lines);
        bytes.extend_from_slice(GOOD.as_bytes());
        bytes
    }),
    row("too large, declared", 413, "request_too_large", |target, id| {
        let lines = format!("{}{JSON}content-length: 1000000000\r\n", target.authorization());
        head("POST", CHAT, &target.host, id, &lines)
    }),
    row("too large, chunked", 413, "request_too_large", |target, id| {
        let lines = format!("{}{JSON}transfer-encoding: chunked\r\n", target.authorization());
        let mut bytes = head("POST", CHAT, &target.host, id, &lines);
        bytes.extend_from_slice(b"500000\r\n");
        bytes.resize(bytes.len() + 0x50_0000, b' ');
        bytes.extend_from_slice(b"\r\n0\r\n\r\n");
        bytes
    }),
    row("bad output mode", 400, "invalid_value", |target, id| {
        post(target, id, "x-proxy-output-mode: loud\r\n", GOOD)
    }),
    row("not HTTP", 400, "invalid_http", |_, _| b"\x16\x03\x01 hello\r\n\r\n".to_vec()),
    row("large head", 431, "headers_too_large", |target, id| {
        post(target, id, &format!("x-large: {}\r\n", "x".repeat(70_000)), GOOD)
    }),
    row("many headers", 431, "headers_too_large", |target, id| {
        post(target, id, &"x-many: x\r\n".repeat(200), GOOD)
    }),
    row("foreign host", 403, "host_not_allowed", |target, id| {
        head("GET", "/v1/models", "evil.example", id, &target.authorization())
    }),
    row("foreign page", 403, "origin_not_allowed", |target, id| {
        post(target, id, "origin: https://evil.example\r\n", GOOD)
    }),
    row("slow head", 408, "request_timeout", |target, _| {
        format!("POST {CHAT} HTTP/1.1\r\nhost: {}\r\n", target.host).into_bytes()
    }),
    row("slow body", 408, "request_timeout", |target, id| {
        let lines = format!("{}{JSON}content-length: 1000\r\n", target.authorization());
        let mut bytes = head("POST", CHAT, &target.host, id, &lines);
        bytes.extend_from_slice(b"{");
        bytes
    }),
    Mischief {
        then: Then::HalfCloses,
        ..row("half a body", 400, "incomplete_body", |target, id| {
            let lines = format!("{}{JSON}content-length: 1000\r\n", target.authorization());
            let mut bytes = head("POST", CHAT, &target.host, id, &lines);
            bytes.extend_from_slice(b"{");
            bytes
        })
    },
    row("messages of another type", 400, "invalid_type", |target, id| {
        post(target, id, "", r#"{"model":"m","messages":"hello"}"#)
    }),
    row("no messages", 400, "empty_array", |target, id| {
        post(target, id, "", r#"{"model":"m","messages":[]}"#)
    }),
    row("no model", 400, "missing_required_parameter", |target, id| {
        post(target, id, "", r#"{"messages":[{"role":"user","content":"x"}]}"#)
    }),
    row("too many choices", 400, "integer_above_max_value", |target, id| {
        post(target, id, "", r#"{"model":"m","n":99,"messages":[{"role":"user","content":"x"}]}"#)
    }),
    row("a result without its call", 400, "invalid_value", |target, id| {
        let tool = r#"{"role":"tool","tool_call_id":"nobody","content":"x"}"#;
        post(target, id, "", &format!(r#"{{"model":"m","messages":[{{"role":"user","content":"x"}},{tool}]}}"#))
    }),
];

pub(crate) const CHAT: &str = "/v1/chat/completions";

/// A request for an answer.
pub(crate) fn post(target: &Target, id: &str, lines: &str, body: &str) -> Vec<u8> {
    let (key, length) = (target.authorization(), body.len());
    let lines = format!("{key}{JSON}content-length: {length}\r\n{lines}");
    let mut bytes = head("POST", CHAT, &target.host, id, &lines);
    bytes.extend_from_slice(body.as_bytes());
    bytes
}
