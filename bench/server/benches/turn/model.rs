//! A model that answers at once, and knows when it was asked.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

/// What it always says.
pub(crate) const TEXT: &str = "Hello.";

/// A running model; it ends with the program.
pub(crate) struct Model {
    address: SocketAddr,
    /// When a whole request was last there.
    asked: Arc<Mutex<Option<Instant>>>,
}

// === impl Model ===

impl Model {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("no port for the model");
        let address = listener.local_addr().expect("no address of the model");
        let asked = Arc::default();
        let noted = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let noted = Arc::clone(&noted);
                thread::spawn(move || serve(stream, &noted));
            }
        });
        Self { address, asked }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.asked.lock().expect("a poisoned time").is_some()
    }

    /// When it was asked since the last time that somebody wanted to know.
    pub(crate) fn take_asked(&self) -> Option<Instant> {
        self.asked.lock().expect("a poisoned time").take()
    }
}

/// Answers every request of a connection.
fn serve(mut stream: TcpStream, asked: &Mutex<Option<Instant>>) {
    stream.set_nodelay(true).expect("no delay");
    let mut received = Vec::new();
    while let Some(end) = read_request(&mut stream, &mut received) {
        *asked.lock().expect("a poisoned time") = Some(Instant::now());
        received.drain(..end);
        if stream.write_all(answer().as_bytes()).is_err() {
            return;
        }
    }
}

/// Reads until a request is whole, and gives its length; `None` if there is no further one.
fn read_request(stream: &mut TcpStream, received: &mut Vec<u8>) -> Option<usize> {
    let mut chunk = [0; 16 * 1024];
    loop {
        if let Some(end) = end_of_request(received) {
            return Some(end);
        }
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => return None,
            Ok(read) => received.extend_from_slice(&chunk[..read]),
        }
    }
}

fn end_of_request(received: &[u8]) -> Option<usize> {
    let head = received.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let headers = String::from_utf8_lossy(&received[..head]).to_lowercase();
    let (_, length) = headers.split_once("content-length:").expect("a request without a length");
    let length: usize = length.lines().next()?.trim().parse().expect("a length");
    (received.len() >= head + length).then_some(head + length)
}

/// A whole response, as Codex wants to read it.
fn answer() -> String {
    let message = |status: &str, content: &str| {
        format!(
            r#"{{"type":"message","role":"assistant","id":"msg_1","status":"{status}","content":[{content}]}}"#
        )
    };
    let part = format!(r#"{{"type":"output_text","text":"{TEXT}","annotations":[]}}"#);
    let at = r#""output_index":0"#;
    let usage = r#"{"input_tokens":1,"output_tokens":1,"total_tokens":2}"#;
    let events = [
        ("response.created", r#""response":{"id":"resp_1"}"#.to_owned()),
        ("response.output_item.added", format!(r#"{at},"item":{}"#, message("in_progress", ""))),
        (
            "response.output_text.delta",
            format!(r#"{at},"item_id":"msg_1","content_index":0,"delta":"{TEXT}""#),
        ),
        ("response.output_item.done", format!(r#"{at},"item":{}"#, message("completed", &part))),
        ("response.completed", format!(r#""response":{{"id":"resp_1","usage":{usage}}}"#)),
    ];
    let frame =
        |(kind, rest): &(_, _)| format!("event: {kind}\ndata: {{\"type\":\"{kind}\",{rest}}}\n\n");
    let body = events.iter().map(frame).collect::<Vec<_>>().concat();
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}
