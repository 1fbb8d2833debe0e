//! One JSON-RPC connection: requests and their answers, notifications, requests of the server.

mod letting_go;
mod reading;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio::sync::{Notify, Semaphore, broadcast, mpsc, oneshot, watch};
use tokio::time::Instant;

use crate::backoff::Backoff;
use crate::child_log::{EarlyArguments, LogTrust};
use crate::ids::{ThreadId, TurnId};
use crate::message::RpcError;
use crate::outbox::{Closed, Outbox};
use crate::protocol::incoming::MakesId;
use crate::protocol::outgoing::{LoginCancel, Params, Request, TurnInterrupt};
use crate::request_error::RequestError;
use crate::stats::{Counter, Stats};
use crate::timing::{Timing, Timings};
use crate::turn::router::{Router, Wire};
use letting_go::Unwanted;
pub(crate) use reading::Damage;

/// Unrouted notifications that a slow listener may fall behind by.
const NOTIFICATION_BACKLOG: usize = 256;

/// Requests that may wait for their answers at the same time.
///
/// Codex takes about 128. Beyond that it answers most with an error, and some not at all.
const MAX_WAITING_REQUESTS: usize = 64;

/// In the ids of requests whose answers nobody waits for. It is small enough for readers that take
/// numbers for floats.
const UNHEARD: u64 = 1 << 52;

/// A notification that belongs to no turn, as it came.
#[derive(Debug, Clone)]
pub struct Notification {
    /// Its method.
    pub method: String,
    /// Its parameters, untouched.
    pub params: Option<Box<RawValue>>,
}

/// Sees every line in both directions, with everything that is secret in them.
pub type WireTap = Arc<dyn Fn(Direction, &[u8]) + Send + Sync>;

/// Where a line went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From us to Codex.
    ToCodex,
    /// From Codex to us.
    FromCodex,
}

enum Reply {
    Result(Option<Box<RawValue>>),
    Error(RpcError),
    TooLarge(usize),
    Unreadable(String),
}

/// The shared half of a connection; the tasks that read and write hold it too.
pub(crate) struct Connection {
    outbox: Outbox,
    next_id: AtomicU64,
    waiting: Mutex<HashMap<u64, oneshot::Sender<Reply>>>,
    all_answered: Notify,
    places: Semaphore,
    unwanted: mpsc::UnboundedSender<Unwanted>,
    pub(crate) router: Router,
    stats: Arc<Stats>,
    lines_read: AtomicU64,
    notifications: broadcast::Sender<Notification>,
    closed: watch::Sender<Option<Arc<str>>>,
    request_timeout: Duration,
    onlookers: Onlookers,
    log_trust: LogTrust,
}

/// Who is told what happens on a connection.
#[derive(Clone, Default)]
pub(crate) struct Onlookers {
    pub(crate) tap: Option<WireTap>,
    pub(crate) timings: Option<Timings>,
}

/// Gives up the place of an answer, also when the request is given up half-way.
struct ForgetOnDrop<'a> {
    connection: &'a Connection,
    id: u64,
}

impl Drop for ForgetOnDrop<'_> {
    fn drop(&mut self) {
        let mut waiting = self.connection.waiting.lock();
        waiting.remove(&self.id);
        if waiting.is_empty() {
            self.connection.all_answered.notify_waiters();
        }
    }
}

/// A limit that lies beyond the end of time is none.
fn deadline(limit: Duration) -> Instant {
    const FAR: Duration = Duration::from_hours(8_760);
    let now = Instant::now();
    now.checked_add(limit).unwrap_or(now + FAR)
}

/// The line of a request.
fn encode(id: u64, method: &str, params: &impl Params) -> Result<Vec<u8>, String> {
    let mut line = format!(r#"{{"id":{id},"method":"{method}","params":"#).into_bytes();
    params.write(&mut line).map_err(|error| error.to_string())?;
    line.push(b'}');
    Ok(line)
}

// === impl Connection ===

impl Connection {
    /// The connection, and what [`Self::let_go_of_all`] is to let go.
    pub(crate) fn new(
        request_timeout: Duration,
        onlookers: Onlookers,
        early_arguments: EarlyArguments,
        stats: Arc<Stats>,
    ) -> (Self, mpsc::UnboundedReceiver<Unwanted>) {
        let (unwanted, left) = mpsc::unbounded_channel();
        let connection = Self {
            outbox: Outbox::default(),
            next_id: AtomicU64::new(1),
            waiting: Mutex::default(),
            all_answered: Notify::new(),
            places: Semaphore::new(MAX_WAITING_REQUESTS),
            unwanted,
            router: Router::default(),
            stats,
            lines_read: AtomicU64::new(0),
            notifications: broadcast::channel(NOTIFICATION_BACKLOG).0,
            closed: watch::Sender::new(None),
            request_timeout,
            onlookers,
            log_trust: LogTrust::new(early_arguments),
        };
        (connection, left)
    }

    pub(crate) fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    pub(crate) fn stats(&self) -> &Stats {
        &self.stats
    }

    pub(crate) fn log_trust(&self) -> &LogTrust {
        &self.log_trust
    }

    pub(crate) fn notifications(&self) -> broadcast::Receiver<Notification> {
        self.notifications.subscribe()
    }

    /// Becomes `Some(reason)` when the connection has ended.
    pub(crate) fn closed(&self) -> watch::Receiver<Option<Arc<str>>> {
        self.closed.subscribe()
    }

    /// Waits a while, but not longer than the connection lasts.
    pub(crate) async fn pause(&self, pause: Duration) {
        let _ = tokio::time::timeout(pause, self.closed().wait_for(Option::is_some)).await;
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.borrow().is_some()
    }

    /// Sends a request and waits for its result, as long as a request may take.
    pub(crate) async fn request<P: Request, R: DeserializeOwned>(
        &self,
        params: &P,
    ) -> Result<R, RequestError> {
        let result = self.request_raw(P::METHOD, params).await?;
        let text = result.as_deref().map_or("null", RawValue::get);
        serde_json::from_str(text).map_err(|error| RequestError::Unreadable {
            method: P::METHOD,
            reason: error.to_string(),
        })
    }

    /// Makes a request that starts something, and gives its id.
    pub(crate) async fn start<R: MakesId>(
        &self,
        method: &'static str,
        params: &impl Params,
    ) -> Result<String, RequestError> {
        let result = self.request_raw(method, params).await?;
        R::read_id(result.as_deref().map_or("null", RawValue::get))
            .map_err(|error| RequestError::Unreadable { method, reason: error.to_string() })
    }

    /// A request of any method, with the result as it came.
    pub(crate) async fn request_raw(
        &self,
        method: &'static str,
        params: &impl Params,
    ) -> Result<Option<Box<RawValue>>, RequestError> {
        let deadline = deadline(self.request_timeout);
        let mut backoff = Backoff::new(Duration::from_millis(20), Duration::from_secs(1));
        loop {
            match self.request_once(method, params, deadline).await? {
                Reply::Result(result) => return Ok(result),
                Reply::TooLarge(bytes) => return Err(RequestError::TooLarge { method, bytes }),
                Reply::Unreadable(reason) => {
                    return Err(RequestError::Unreadable { method, reason });
                }
                Reply::Error(error) if error.code != RpcError::OVERLOADED => {
                    return Err(RequestError::Rejected { method, error });
                }
                Reply::Error(_) => {
                    let pause = backoff.next_pause();
                    if Instant::now() + pause >= deadline {
                        return Err(RequestError::Overloaded { method });
                    }
                    self.stats.count(Counter::Flood);
                    self.pause(pause).await;
                }
            }
        }
    }

    async fn request_once(
        &self,
        method: &'static str,
        params: &impl Params,
        deadline: Instant,
    ) -> Result<Reply, RequestError> {
        let timeout = || RequestError::Timeout { method, after: self.request_timeout };
        let _place = tokio::time::timeout_at(deadline, self.places.acquire())
            .await
            .map_err(|_| timeout())?;
        tokio::time::timeout_at(deadline, self.exchange(method, params))
            .await
            .unwrap_or_else(|_| Err(timeout()))
    }

    /// Asks for any answer at all, without waiting for a place.
    pub(crate) async fn ping<P: Request>(
        &self,
        params: &P,
        after: Duration,
    ) -> Result<(), RequestError> {
        let method = P::METHOD;
        tokio::time::timeout(after, self.exchange(method, params))
            .await
            .unwrap_or(Err(RequestError::Timeout { method, after }))
            .map(|_| ())
    }

    /// One request and its answer, however long that takes.
    async fn exchange(
        &self,
        method: &'static str,
        params: &impl Params,
    ) -> Result<Reply, RequestError> {
        let id = self.next_id();
        let since = Instant::now();
        let (sender, reply) = oneshot::channel();
        self.waiting.lock().insert(id, sender);
        let _forget = ForgetOnDrop { connection: self, id };
        let line = encode(id, method, params)
            .map_err(|reason| RequestError::Unwritable { method, reason })?;
        self.see(Direction::ToCodex, &line);
        let gone = || RequestError::ChildGone(self.close_reason());
        self.outbox.push_when_there_is_room(&line).await.map_err(|Closed| gone())?;
        drop(line);
        let reply = reply.await.map_err(|_| gone())?;
        self.time(Timing::Request { method, took: since.elapsed() });
        Ok(reply)
    }

    /// Tells how long something took to whoever wants to know.
    pub(crate) fn time(&self, timing: Timing) {
        if let Some(timings) = &self.onlookers.timings {
            timings(timing);
        }
    }

    /// Waits until no request waits for its answer.
    pub(crate) async fn until_all_is_answered(&self) {
        loop {
            let answered = self.all_answered.notified();
            if self.waiting.lock().is_empty() {
                return;
            }
            answered.await;
        }
    }

    /// Answers a request of Codex's, when there is room for the answer.
    pub(crate) async fn answer(&self, id: &RawValue, result: &RawValue) {
        let line = format!(r#"{{"id":{id},"result":{result}}}"#);
        self.see(Direction::ToCodex, line.as_bytes());
        // A connection that has ended is noticed elsewhere, and so is a turn in which nothing happens.
        let pushing = self.outbox.push_when_there_is_room(line.as_bytes());
        let _ = tokio::time::timeout(self.request_timeout, pushing).await;
    }

    /// Gives a login up, whatever comes of it.
    pub(crate) fn cancel_login(&self, login_id: &str) {
        self.send_request(&LoginCancel { login_id });
    }

    /// Sends a request right away, past the queue, whose answer nobody waits for.
    fn send_request<P: Request>(&self, params: &P) {
        if let Ok(line) = encode(self.next_id() | UNHEARD, P::METHOD, params) {
            self.send(&line);
        }
    }

    pub(crate) fn notify(&self, method: &str) {
        self.send(format!(r#"{{"method":"{method}"}}"#).as_bytes());
    }

    /// Sends a small line at once; a connection that has ended is noticed elsewhere.
    fn send(&self, line: &[u8]) {
        self.see(Direction::ToCodex, line);
        let _ = self.outbox.push(line);
    }

    fn answer_error(&self, id: &RawValue, message: &str) {
        let error = format!(r#"{{"code":-32601,"message":"{message}"}}"#);
        self.send(format!(r#"{{"id":{id},"error":{error}}}"#).as_bytes());
    }

    fn see(&self, direction: Direction, line: &[u8]) {
        if let Some(tap) = &self.onlookers.tap {
            tap(direction, line);
        }
    }

    /// Ends the connection: nobody is left waiting.
    pub(crate) fn close(&self, reason: &str) {
        self.closed.send_if_modified(|closed| {
            let first = closed.is_none();
            if first {
                *closed = Some(Arc::from(reason));
            }
            first
        });
        self.outbox.close();
        self.waiting.lock().clear();
        self.router.child_gone(&self.close_reason(), self);
    }

    pub(crate) fn lines_read(&self) -> u64 {
        self.lines_read.load(Ordering::Relaxed)
    }

    fn close_reason(&self) -> Arc<str> {
        self.closed.borrow().clone().unwrap_or_else(|| Arc::from("Codex has gone"))
    }

    fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }
}

impl Wire for Connection {
    fn interrupt(&self, thread: &ThreadId, turn: &TurnId) {
        // Past the queue of requests, because Codex may be about to ask the model again. What
        // comes of it is seen in the turn's own events.
        self.send_request(&TurnInterrupt { thread_id: thread.as_str(), turn_id: turn.as_str() });
    }

    fn interrupt_later(&self, thread: &ThreadId, turn: &TurnId) {
        self.leave(Unwanted::Turn(thread.clone(), turn.clone()));
    }

    fn reject_call(&self, request: &RawValue) {
        self.answer_error(request, "the client runs its tools itself");
    }

    fn unsubscribe(&self, thread: &ThreadId) {
        self.leave(Unwanted::Thread(thread.clone()));
    }

    fn distrust_log(&self, reason: &'static str) {
        tracing::error!(reason, "Codex's log contradicts its output: it is not used any more");
        self.stats.count(Counter::LogMismatch);
        self.log_trust.lose(reason);
    }

    fn head_start(&self, time: Duration) {
        self.time(Timing::HeadStart(time));
    }

    fn count(&self, counter: Counter) {
        self.stats.count(counter);
    }
}

#[cfg(test)]
mod tests;
