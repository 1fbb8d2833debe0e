//! Requests whose turns have ended, as they are told to whoever keeps traces.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use bridge::ChoiceReport;
use model_turn::TokenUsage;
use tokio::sync::mpsc;

use crate::request_info::RequestInfo;

/// A request and its turns: names, numbers and times, and nothing of its content.
#[derive(Debug, Clone)]
pub struct RequestTrace {
    /// The request.
    pub request: Arc<RequestInfo>,
    /// When its head was read.
    pub received: SystemTime,
    /// When its turns were admitted.
    pub admitted: SystemTime,
    /// The first text, reasoning or call for the client, and the choice that has it.
    pub first_token: Option<(u32, SystemTime)>,
    /// When all of it had ended.
    pub ended: SystemTime,
    /// A turn for each choice, in their order.
    pub turns: Vec<TurnTrace>,
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

// === impl TurnTrace ===

impl From<&ChoiceReport> for TurnTrace {
    fn from(report: &ChoiceReport) -> Self {
        Self {
            stop_reason: report.end.as_str(),
            failed: report.end.is_failure(),
            tool_call_count: report.call_count,
            tool_call_truncated: report.truncated,
            usage: report.usage,
        }
    }
}

// === impl TraceSender ===

impl TraceSender {
    /// Never waits: one that finds no room is lost, and counted.
    pub(crate) fn send(&self, trace: RequestTrace) {
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
