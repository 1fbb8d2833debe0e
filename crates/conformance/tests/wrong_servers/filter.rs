//! A small server in front of the scripted model: right as it stands, and wrong in one thing where a
//! fault is put into it.

use std::net::SocketAddr;

use serde_json::{Value, json};
use testkit::http::Connection;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// The only one that it takes.
pub(crate) const KEY: &str = "sk-right";

/// What is wrong with it.
#[derive(Clone, Copy)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// Nothing, and it wants no key.
    NoKey,
    /// It answers otherwise, and keeps each answer back until it is whole.
    Altered(fn(&mut Answer)),
    /// It goes on when its client leaves.
    Stays,
}

/// An answer on its way.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answer {
    pub(crate) path: String,
    /// The request's body.
    pub(crate) asked: String,
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) body: String,
}

/// A running server, which ends when it is dropped.
pub(crate) struct Filter {
    address: SocketAddr,
    _tasks: JoinSet<()>,
}

// === impl Filter ===

impl Filter {
    pub(crate) async fn start(model: SocketAddr, fault: Fault) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut clients = JoinSet::new();
            loop {
                let (client, _) = listener.accept().await.unwrap();
                clients.spawn(serve(client, model, fault));
            }
        });
        Self { address, _tasks: tasks }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }
}

async fn serve(mut client: TcpStream, model: SocketAddr, fault: Fault) {
    let Some((head, asked)) = read_request(&mut client).await else { return };
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let method = head.split(' ').next().unwrap_or_default();
    // Of HTTP 1.0 the body is what comes until the end.
    let request = format!(
        "{method} {path} HTTP/1.0\r\nhost: {model}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{asked}",
        asked.len()
    );
    let mut upstream = Connection::open_with(model, request.as_bytes()).await.unwrap();
    if asked.contains("[[hang]]") {
        return pass_on(client, upstream, fault).await;
    }
    let mut answer = Answer { path, asked, ..Answer::default() };
    match fault {
        Fault::NoKey => {}
        _ if head.contains(&format!("authorization: Bearer {KEY}")) => {}
        _ if head.contains("authorization: ") => answer.refuse(401, "wrong key"),
        _ => answer.refuse(401, "no key"),
    }
    let is_altered = matches!(fault, Fault::Altered(_));
    let mut sent = 0;
    if answer.status == 0 {
        if let Ok(head) = upstream.head().await {
            answer.status = head.status;
            head.header("content-type").unwrap_or_default().clone_into(&mut answer.content_type);
        }
        let mut bytes = Vec::new();
        while let Ok(Some(piece)) = upstream.piece(usize::MAX).await {
            bytes.extend(piece);
            answer.body = String::from_utf8_lossy(&bytes).into_owned();
            // As it comes; but what is cut inside a character is not text yet.
            if !is_altered && answer.is_stream() && std::str::from_utf8(&bytes).is_ok() {
                sent += answer.send(&mut client, sent).await;
            }
        }
        answer.mend();
    }
    if let Fault::Altered(alter) = fault {
        alter(&mut answer);
    }
    answer.send(&mut client, sent).await;
}

/// Byte by byte until somebody leaves.
async fn pass_on(mut client: TcpStream, mut upstream: Connection, fault: Fault) {
    let mut more = [0];
    let head = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n: begun\n\n";
    client.write_all(head).await.unwrap();
    loop {
        tokio::select! {
            taken = upstream.exactly(1) => if taken.is_err() {
                return;
            },
            _ = client.read(&mut more) => match fault {
                Fault::Stays => std::future::pending().await,
                Fault::None | Fault::NoKey | Fault::Altered(_) => return,
            },
        }
    }
}

async fn read_request(client: &mut TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    loop {
        if client.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let lines = head.to_ascii_lowercase();
        let length = lines.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.and_then(|length| length.trim().parse().ok()).unwrap_or(0);
        if body.len() >= length {
            return Some((head.to_owned(), body.to_owned()));
        }
    }
}

// === impl Answer ===

impl Answer {
    /// Sends what has come since, and says how much that is.
    async fn send(&self, client: &mut TcpStream, sent: usize) -> usize {
        let Self { status, content_type, body, .. } = self;
        let more = &body[sent..];
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: {content_type}\r\nconnection: close\r\n\r\n"
        );
        let head = if sent == 0 && !(more.is_empty() && self.is_stream()) { &head } else { "" };
        let _ = client.write_all(format!("{head}{more}").as_bytes()).await;
        more.len()
    }

    pub(crate) fn is_chat(&self) -> bool {
        self.path.ends_with("/chat/completions")
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.status == 200 && self.asked.contains("\"stream\":true")
    }

    /// Whether the question has this in it.
    pub(crate) fn asks(&self, words: &str) -> bool {
        self.asked.contains(words)
    }

    pub(crate) fn refuse(&mut self, status: u16, message: &str) {
        let error =
            json!({"message": message, "type": "server_error", "param": null, "code": null});
        self.status = status;
        self.content_type = "application/json".to_owned();
        self.body = json!({ "error": error }).to_string();
    }

    /// Changes the whole body, which is JSON.
    pub(crate) fn alter_json(&mut self, alter: impl FnOnce(&mut Value)) {
        if let Ok(mut body) = serde_json::from_str(&self.body) {
            alter(&mut body);
            self.body = body.to_string();
        }
    }

    /// Changes the data of every frame that has JSON; `None` takes the frame out.
    pub(crate) fn alter_frames(&mut self, mut alter: impl FnMut(&mut Value) -> Option<()>) {
        let mut body = String::new();
        for frame in self.body.split_terminator("\n\n") {
            let (before, data) = frame.split_once("data: ").unwrap_or((frame, ""));
            let Ok(mut value) = serde_json::from_str::<Value>(data) else {
                body += &format!("{frame}\n\n");
                continue;
            };
            if alter(&mut value).is_some() {
                body += &format!("{before}data: {value}\n\n");
            }
        }
        self.body = body;
    }

    /// Tells a failure of the model as a right server does: the model only breaks off.
    fn mend(&mut self) {
        let error = json!({"message": "it broke off", "type": "server_error", "param": null, "code": "cut"});
        if [0, 200, 502].contains(&self.status) && self.body.is_empty() {
            self.refuse(502, "it broke off");
        } else if self.is_stream() && self.is_chat() && !self.body.contains("data: [DONE]\n\n") {
            self.body += &format!("data: {}\n\ndata: [DONE]\n\n", json!({ "error": error }));
        } else if self.is_stream() && !self.is_chat() && !self.has_end() {
            let number = self.body.matches("\ndata: ").count();
            let event = json!({"type": "error", "sequence_number": number, "code": "cut",
                "message": "it broke off", "param": null, "error": error});
            let failed = json!({"type": "response.failed", "sequence_number": number + 1,
                "response": {"status": "failed", "error": error, "output": []}});
            self.body += &format!("event: error\ndata: {event}\n\n");
            self.body += &format!("event: response.failed\ndata: {failed}\n\n");
        }
    }

    fn has_end(&self) -> bool {
        ["completed", "incomplete", "failed"]
            .iter()
            .any(|end| self.body.contains(&format!("\nevent: response.{end}\n")))
    }
}
