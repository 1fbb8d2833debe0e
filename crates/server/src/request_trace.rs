//! Requests whose turns have ended, as they are told to whoever keeps traces.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use codex_app_server::TokenUsage;
use tokio::sync::mpsc;

use crate::gate::TraceContext;

/// A request and its turns: names, numbers and times, and nothing of what was said.
#[derive(Debug, Clone)]
pub struct RequestTrace {
    /// The trace that it belongs to.
    pub context: TraceContext,
    /// The path that it was sent to.
    pub route: &'static str,
    /// As in the log.
    pub request_id: String,
    /// The name of the key that it came with.
    pub key: String,
    /// The model as the client names it.
    pub model: String,
    /// The real one.
    pub backend_model: String,
    /// Whether the answer was streamed.
    pub streamed: bool,
    /// In which shape calls were sent.
    pub output_mode: &'static str,
    /// When its head was there.
    pub received: SystemTime,
    /// When its turns were let in.
    pub admitted: SystemTime,
    /// The first text, reasoning or call for the client.
    pub first_token: Option<FirstToken<SystemTime>>,
    /// When all of it had ended.
    pub ended: SystemTime,
    /// A turn for each choice, in their order.
    pub turns: Vec<TurnTrace>,
}

/// Which choice has spoken first, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstToken<T> {
    /// Which of the request's choices.
    pub choice: usize,
    /// When.
    pub at: T,
}

/// One turn of a request.
#[derive(Debug, Clone)]
pub struct TurnTrace {
    /// Why it ended.
    pub stop_reason: &'static str,
    /// Whether that was a failure.
    pub failed: bool,
    /// Calls that were forwarded.
    pub tool_call_count: usize,
    /// Whether a call was dropped, or the turn was cut.
    pub tool_call_truncated: bool,
    /// The upstream's figures, where it gave some.
    pub usage: Option<TokenUsage>,
}

/// Tells of requests. Clones share the queue.
#[derive(Debug, Clone)]
pub struct TraceSender {
    queue: mpsc::Sender<RequestTrace>,
    lost: Arc<AtomicU64>,
}

/// Hears of requests.
#[derive(Debug)]
pub struct TraceReceiver {
    /// Those that wait.
    pub queue: mpsc::Receiver<RequestTrace>,
    lost: Arc<AtomicU64>,
}

/// A queue for so many requests.
pub fn trace_queue(capacity: usize) -> (TraceSender, TraceReceiver) {
    let (sender, queue) = mpsc::channel(capacity);
    let lost = Arc::<AtomicU64>::default();
    (TraceSender { queue: sender, lost: Arc::clone(&lost) }, TraceReceiver { queue, lost })
}

// === impl TraceSender ===

impl TraceSender {
    /// Never waits: one that finds no room is lost, and counted.
    pub(crate) fn tell(&self, trace: RequestTrace) {
        if self.queue.try_send(trace).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

// === impl TraceReceiver ===

impl TraceReceiver {
    /// How many found no room since this was asked last.
    pub fn take_lost(&self) -> u64 {
        self.lost.swap(0, Ordering::Relaxed)
    }
}
