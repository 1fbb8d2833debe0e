//! The events of a server, over its restarts.

use std::error::Error;
use std::time::Duration;

use conformance::reading::{Frame, Received, SseReader};
use http_body_util::BodyExt as _;
use hyper::StatusCode;
use hyper::body::Incoming;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use crate::cli;
use crate::target::{Target, Unanswered, read_text};

const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(4);

/// What comes of a server.
#[derive(Debug)]
pub(super) enum News {
    Event(ServerEvent),
    /// It does not answer any more, and is asked again.
    Lost(String),
}

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerEvent {
    pub(super) name: String,
    pub(super) data: String,
}

/// Follows a server until nobody listens.
///
/// # Errors
/// If it cannot be followed in the first place.
pub(super) async fn follow(target: Target) -> Result<mpsc::Receiver<News>, Box<dyn Error>> {
    let body = connect(&target).await?;
    let (sender, news) = mpsc::channel(64);
    TaskTracker::new().spawn(keep_following(target, body, sender));
    Ok(news)
}

async fn keep_following(target: Target, mut body: Incoming, sender: mpsc::Sender<News>) {
    loop {
        let mut reader = SseReader::default();
        while let Some(Ok(frame)) = body.frame().await {
            let received = frame.data_ref().map(|data| reader.take(data)).unwrap_or_default();
            for event in received.into_iter().filter_map(ServerEvent::of) {
                if sender.send(News::Event(event)).await.is_err() {
                    return;
                }
            }
        }
        if sender.send(News::Lost("it has ended the connection".to_owned())).await.is_err() {
            return;
        }
        let mut pause = FIRST_PAUSE;
        body = loop {
            tokio::time::sleep(pause).await;
            match connect(&target).await.map_err(|error| error.to_string()) {
                Ok(body) => break body,
                Err(_) if sender.is_closed() => return,
                Err(_) => pause = LONGEST_PAUSE.min(pause * 2),
            }
        };
    }
}

async fn connect(target: &Target) -> Result<Incoming, Box<dyn Error>> {
    let url = &target.base_url;
    let answer = match target.get(&url.path_of("/proxy/events")).await {
        Ok(answer) => answer,
        Err(Unanswered::Nobody(error)) => {
            let program = cli::program();
            return Err(
                format!("no server at {url} ({error}); `{program} serve` starts one").into()
            );
        }
        Err(error @ Unanswered::NotProven) => return Err(format!("{url}: {error}").into()),
        Err(error) => return Err(format!("{url} does not answer: {error}").into()),
    };
    if answer.status() == StatusCode::OK {
        return Ok(answer.into_body());
    }
    let status = answer.status();
    let text = read_text(answer.into_body()).await.unwrap_or_default();
    let error: Value = serde_json::from_str(&text).unwrap_or_default();
    let message = error["error"]["message"].as_str().unwrap_or("it is not a server of ours");
    Err(format!("{url} answers {status}: {message}").into())
}

// === impl ServerEvent ===

impl ServerEvent {
    fn of(received: Received) -> Option<Self> {
        match received.frame {
            Frame::Event { name: Some(name), data } => Some(Self { name, data }),
            _ => None,
        }
    }
}
