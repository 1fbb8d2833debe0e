//! Logs, on standard error.

use std::fmt;
use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use configuration::{LogFormat, LogSettings};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::{Format, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Registry, reload};

use crate::cli::Command;
use crate::json_log::JsonLines;

/// The watch of files tells of each write, also of those to a log in a folder that is watched.
const UNHEARD: &str = "notify=off";

/// What can be changed about logs while they are written.
pub(crate) struct Logs {
    filter: reload::Handle<EnvFilter, Registry>,
    is_json: Arc<AtomicBool>,
    /// What is logged if nobody says.
    default_filter: &'static str,
    default_format: LogFormat,
}

/// Lines in either form.
struct Lines {
    text: Format,
    json: JsonLines,
    is_json: Arc<AtomicBool>,
}

/// Starts logging; by default only the server says what it does, and only settings are warned about.
pub(crate) fn start(settings: &LogSettings, command: &Command) -> Logs {
    let default_filter = match command {
        Command::Serve(_) => "info",
        Command::Ask(_)
        | Command::Login(_)
        | Command::Logout
        | Command::Status(_)
        | Command::Models(_)
        | Command::Doctor(_)
        | Command::Smoke(_) => "error",
        Command::Config(_) | Command::Key(_) => "warn",
    };
    let is_terminal = std::io::stderr().is_terminal();
    let default_format = if is_terminal { LogFormat::Text } else { LogFormat::Json };
    let is_json = Arc::new(AtomicBool::new(false));
    let (filter, handle) = reload::Layer::new(EnvFilter::default());
    let logs =
        Logs { filter: handle, is_json: Arc::clone(&is_json), default_filter, default_format };
    let text = Format::default().with_ansi(is_terminal);
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(is_terminal)
        .event_format(Lines { text, json: JsonLines, is_json })
        .with_writer(std::io::stderr);
    logs.change(settings);
    tracing_subscriber::registry().with(filter).with(lines).init();
    logs
}

// === impl Logs ===

impl Logs {
    /// From now on it is logged like this.
    pub(crate) fn change(&self, settings: &LogSettings) {
        let format = settings.format.unwrap_or(self.default_format);
        self.is_json.store(format == LogFormat::Json, Ordering::Relaxed);
        let filter = settings.filter.as_deref().unwrap_or(self.default_filter);
        // Who writes the logs lives as long as we do.
        let _ = self.filter.reload(EnvFilter::new(format!("{filter},{UNHEARD}")));
    }
}

// === impl Lines ===

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        if self.is_json.load(Ordering::Relaxed) {
            self.json.format_event(context, writer, event)
        } else {
            self.text.format_event(context, writer, event)
        }
    }
}
