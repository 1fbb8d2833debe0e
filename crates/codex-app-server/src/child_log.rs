//! What the child's own log brings earlier than its standard output: the arguments of a call as the
//! model writes them, and the text of a refusal.
//!
//! It is a log, not an interface. Standard output stays the authority: what comes from here is
//! compared with it, and nothing depends on it.

mod attribution;
mod line;
mod trust;
#[cfg(test)]
pub(crate) mod written;

use std::sync::Arc;

use model_turn::ToolName;

use crate::connection::Connection;
use crate::line::Line;
use crate::stats::Counter;
use crate::turn::thread_event::{RoutedEvent, ThreadEvent};
pub(crate) use attribution::Attribution;
pub(crate) use line::LogLine;
pub use trust::EarlyArguments;
pub(crate) use trust::LogTrust;

/// The filter and form of the log, as variables of the child's environment. Spans of `tasks` are what
/// names the turn of an item; `router` would report every call that we leave unanswered as an error.
pub(crate) const ENVIRONMENT: [(&str, &str); 2] = [
    (
        "RUST_LOG",
        "error,codex_core::tools::router=off,codex_api::sse::responses=trace,\
         codex_core::stream_events_utils=debug,codex_core::tasks=info",
    ),
    ("LOG_FORMAT", "json"),
];

/// A call whose arguments are still being written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StartedCall {
    /// Its place among the items of its response.
    pub(crate) output_index: u64,
    pub(crate) item_id: Box<str>,
    pub(crate) call_id: String,
    /// Towards Codex.
    pub(crate) name: ToolName,
}

/// What the log reports of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LogEvent {
    CallStarted(StartedCall),
    /// More of the arguments of a call.
    Arguments {
        item_id: Box<str>,
        /// Bytes of them that came before.
        offset: usize,
        text: String,
    },
    /// The text of a message that Codex withholds.
    Refusal(String),
}

/// Reads the child's log, and hands what it finds to the turns of a connection.
pub(crate) struct LogReader {
    connection: Arc<Connection>,
    attribution: Attribution,
}

/// Whether our filter has asked for a line of the child's log, for the benchmark of reading one.
#[doc(hidden)]
pub fn is_from_our_filter(line: &[u8]) -> bool {
    LogLine::read(line) != LogLine::Other
}

// === impl LogEvent ===

impl LogEvent {
    /// About how much memory it holds.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::CallStarted(call) => call.item_id.len() + call.call_id.len() + call.name.bytes(),
            Self::Arguments { text, .. } | Self::Refusal(text) => text.len(),
        }
    }
}

// === impl LogReader ===

impl LogReader {
    pub(crate) fn new(connection: Arc<Connection>) -> Self {
        Self { connection, attribution: Attribution::default() }
    }

    /// Takes a line; false if our filter did not ask for it.
    pub(crate) fn take(&mut self, line: &Line) -> bool {
        let line = match line {
            Line::Whole(line) => LogLine::read(line),
            Line::Oversize(line) => LogLine::read_head(&line.head),
        };
        if line == LogLine::Other {
            return false;
        }
        if line != LogLine::Unused {
            let connection = &self.connection;
            // A check compares, however late a line comes.
            let is_checked = connection.log_trust().is_checked();
            let is_live =
                |thread: &str, turn: &str| is_checked || connection.router.is_running(thread, turn);
            self.attribution.on_line(line, ambient::now(), is_live);
        }
        true
    }

    /// Hands over what the lines so far have brought; fragments that came together go together.
    pub(crate) fn deliver(&mut self) {
        let connection = &*self.connection;
        let trust = connection.log_trust();
        if trust.is_lost() {
            self.attribution.clear();
            return;
        }
        if trust.is_checked() {
            self.attribution.take_events(|thread, _, event| trust.witness(thread, &event));
            return;
        }
        let counts = self.attribution.take_events(|thread_id, turn_id, event| {
            let event = RoutedEvent {
                thread_id: thread_id.into(),
                turn_id: turn_id.into(),
                event: ThreadEvent::Logged(event),
            };
            connection.router.on_event(event, connection);
        });
        connection.stats().add(Counter::Fragment, counts.fragments);
        connection.stats().add(Counter::UnattributedFragment, counts.unattributed);
    }
}
