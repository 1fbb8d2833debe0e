//! Requests over connections that are kept, as a client's pool does.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::http::{Connection, request_head};
use testkit::server_process::Target;

use crate::answer::{Answer, Api, Delivery};

/// A connection that has rested for longer may be closed by the server just now.
const RESTS_AT_MOST: Duration = Duration::from_secs(5);

/// A key, and the connections of its client.
pub(crate) struct Client {
    target: Target,
    at_rest: Mutex<Vec<(Connection, Instant)>>,
}

/// One request.
pub(crate) struct Ask<'a> {
    pub(crate) id: &'a str,
    pub(crate) api: Api,
    pub(crate) delivery: Delivery,
    pub(crate) body: Value,
}

/// What came of it.
pub(crate) enum Outcome {
    Answered(Answer),
    Refused { status: u16, code: String },
}

/// When something came.
pub(crate) struct Times {
    pub(crate) first_text: Option<Duration>,
    pub(crate) took: Duration,
}

// === impl Client ===

impl Client {
    pub(crate) fn new(target: Target) -> Self {
        Self { target, at_rest: Mutex::default() }
    }

    /// Asks, and reads the answer to its end.
    pub(crate) async fn ask(&self, ask: Ask<'_>) -> Result<(Outcome, Times), String> {
        let (api, delivery) = (ask.api, ask.delivery);
        let from = Instant::now();
        let mut connection = self.send(ask).await?;
        let head = connection.head().await?;
        let (mut body, mut first_text) = (Vec::new(), None);
        while let Some(piece) = connection.piece(usize::MAX).await? {
            body.extend_from_slice(&piece);
            if first_text.is_none() && api.has_text(&body) {
                first_text = Some(from.elapsed());
            }
        }
        let times = Times { first_text, took: from.elapsed() };
        if !connection.is_clean() {
            return Err("bytes behind the answer".to_owned());
        }
        if !head.closes() {
            self.at_rest().push((connection, Instant::now()));
        }
        let body = String::from_utf8(body).map_err(|error| error.to_string())?;
        if head.status != 200 {
            let error: Value = serde_json::from_str(&body).map_err(|error| error.to_string())?;
            let code = error["error"]["code"].as_str().unwrap_or("none").to_owned();
            return Ok((Outcome::Refused { status: head.status, code }, times));
        }
        let mut answer = Answer::read(api, delivery, &body)?;
        head.header("x-proxy-continuity").unwrap_or("untold").clone_into(&mut answer.continuity);
        Ok((Outcome::Answered(answer), times))
    }

    /// Asks, and leaves as soon as there is text.
    pub(crate) async fn ask_and_leave(&self, ask: Ask<'_>) -> Result<(), String> {
        let api = ask.api;
        let mut connection = self.send(ask).await?;
        let head = connection.head().await?;
        let mut body = Vec::new();
        while let Some(piece) = connection.piece(usize::MAX).await? {
            body.extend_from_slice(&piece);
            if api.has_text(&body) {
                return Ok(());
            }
        }
        Err(format!("status {} and no text: {}", head.status, String::from_utf8_lossy(&body)))
    }

    async fn send(&self, ask: Ask<'_>) -> Result<Connection, String> {
        let Ask { id, api, delivery, mut body } = ask;
        body["model"] = self.target.model.into();
        body["stream"] = (delivery == Delivery::Streamed).into();
        let body = body.to_string();
        let lines = format!(
            "{}content-type: application/json\r\ncontent-length: {}\r\n",
            self.target.authorization(),
            body.len()
        );
        let mut request = request_head("POST", api.path(), &self.target.host, id, &lines);
        request.extend_from_slice(body.as_bytes());
        let rested = self.take_rested();
        let mut connection = match rested {
            Some(connection) => connection,
            None => Connection::open(self.target.address).await?,
        };
        connection.send(&request).await?;
        Ok(connection)
    }

    fn take_rested(&self) -> Option<Connection> {
        let mut at_rest = self.at_rest();
        at_rest.retain(|(_, since)| since.elapsed() < RESTS_AT_MOST);
        at_rest.pop().map(|(connection, _)| connection)
    }

    fn at_rest(&self) -> std::sync::MutexGuard<'_, Vec<(Connection, Instant)>> {
        self.at_rest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
