//! What the server remembers: counters, and the newest requests.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use parking_lot::Mutex;
use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::sync::watch;

const MOST_REQUESTS: usize = 1_000;
const MOST_BYTES: usize = 64 << 20;
const MOST_ATTEMPTS: usize = 100_000;

/// How much the server had to do since its start or its last reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Requests for a response, answered or refused.
    pub requests: u64,
    /// Responses whose end has not been reached.
    pub in_flight: u64,
    /// The most responses that were in flight at the same time.
    pub max_in_flight: u64,
    /// Clients that went away before the end of their response.
    pub disconnects: u64,
}

/// A request for a response, as it came.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedRequest {
    /// The path, with the query if there was one.
    pub path: String,
    /// The headers in the order of their arrival, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body; a string where it was not JSON.
    pub body: Value,
}

impl RecordedRequest {
    /// The first header of this name, which is given in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn to_json(&self) -> Value {
        let mut headers = Map::new();
        for (name, value) in &self.headers {
            let joined = match headers.get(name).and_then(Value::as_str) {
                Some(earlier) => format!("{earlier}, {value}"),
                None => value.clone(),
            };
            headers.insert(name.clone(), joined.into());
        }
        json!({"path": self.path, "headers": headers, "body": self.body})
    }
}

/// The newest requests, within a bound on their number and their bytes.
#[derive(Default)]
struct Log {
    requests: VecDeque<(usize, RecordedRequest)>,
    bytes: usize,
}

impl Log {
    /// The newest request stays, whatever its size.
    fn push(&mut self, bytes: usize, request: RecordedRequest) {
        self.requests.push_back((bytes, request));
        self.bytes += bytes;
        while self.requests.len() > MOST_REQUESTS
            || (self.bytes > MOST_BYTES && self.requests.len() > 1)
        {
            self.bytes -= self.requests.pop_front().map_or(0, |(bytes, _)| bytes);
        }
    }
}

/// Whether requests are remembered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Memory {
    /// The newest ones.
    #[default]
    Requests,
    /// Only how many there were.
    Counters,
}

/// The memory that all connections of a server share.
#[derive(Default)]
pub(crate) struct Record {
    memory: Memory,
    counters: watch::Sender<Counters>,
    log: Mutex<Log>,
    attempts: Mutex<HashMap<u64, u64>>,
}

impl Record {
    pub(crate) fn new(memory: Memory) -> Self {
        Self { memory, ..Self::default() }
    }

    fn remember(&self, bytes: usize, request: RecordedRequest) {
        match self.memory {
            Memory::Requests => self.log.lock().push(bytes, request),
            Memory::Counters => {}
        }
    }

    pub(crate) fn counters(&self) -> Counters {
        *self.counters.borrow()
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Counters> {
        self.counters.subscribe()
    }

    pub(crate) fn last(&self) -> Option<RecordedRequest> {
        self.log.lock().requests.back().map(|(_, request)| request.clone())
    }

    pub(crate) fn all(&self) -> Vec<RecordedRequest> {
        self.log.lock().requests.iter().map(|(_, request)| request.clone()).collect()
    }

    /// Forgets everything but the responses that are still under way.
    pub(crate) fn reset(&self) {
        *self.log.lock() = Log::default();
        self.attempts.lock().clear();
        self.counters.send_modify(|counters| {
            let in_flight = counters.in_flight;
            *counters = Counters { in_flight, max_in_flight: in_flight, ..Counters::default() };
        });
    }

    /// How often this text has been asked, this time included. Only a hash of it is kept.
    pub(crate) fn attempt(&self, text: &str) -> u64 {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let mut attempts = self.attempts.lock();
        if attempts.len() >= MOST_ATTEMPTS {
            attempts.clear();
        }
        let attempt = attempts.entry(hasher.finish()).or_insert(0);
        *attempt += 1;
        *attempt
    }

    /// A request that is refused.
    pub(crate) fn refused(&self, bytes: usize, request: RecordedRequest) {
        self.remember(bytes, request);
        self.counters.send_modify(|counters| counters.requests += 1);
    }

    /// A request whose response begins now. Both counters change in one step, so that nobody can
    /// see the request without its response.
    pub(crate) fn begun(self: &Arc<Self>, bytes: usize, request: RecordedRequest) -> InFlight {
        self.remember(bytes, request);
        self.counters.send_modify(|counters| {
            counters.requests += 1;
            counters.in_flight += 1;
            counters.max_in_flight = counters.max_in_flight.max(counters.in_flight);
        });
        InFlight { record: Arc::clone(self), ended: false }
    }
}

/// A response under way. Dropping it before its end means that the client went away.
pub(crate) struct InFlight {
    record: Arc<Record>,
    ended: bool,
}

impl InFlight {
    pub(crate) fn end(&mut self) {
        self.leave(false);
    }

    fn leave(&mut self, disconnected: bool) {
        if !std::mem::replace(&mut self.ended, true) {
            self.record.counters.send_modify(|counters| {
                counters.in_flight -= 1;
                counters.disconnects += u64::from(disconnected);
            });
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.leave(true);
    }
}

#[cfg(test)]
mod tests;
