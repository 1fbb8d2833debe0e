//! Logs, on standard error.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use configuration::{LogFormat, LogSettings};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::field::{RecordFields, VisitOutput as _};
use tracing_subscriber::fmt::format::{DefaultFields, DefaultVisitor, Format, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Registry, reload};

use crate::cli::Command;
use crate::console::{self, Console};
use crate::json_log::JsonLines;
use crate::request_ids::{HEARD, KeepRequestIds};

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
    console: Console,
}

/// The fields of events and spans in lines of text: a line of JSON has those of spans from [`KeepRequestIds`].
struct Fields {
    is_json: Arc<AtomicBool>,
    console: Console,
}

/// The values of fields are the only foreign text of a line.
struct Values<'a> {
    visitor: DefaultVisitor<'a>,
}

/// Starts logging; by default only the server says what it does, and only settings are warned about.
pub(crate) fn start(settings: &LogSettings, command: &Command) -> Logs {
    let default_filter = match command {
        Command::Serve(_) => "info",
        // They print themselves what a canary shows.
        Command::Ask(_) | Command::Doctor(_) => "error,codex_app_server::canary=off",
        Command::Login(_)
        | Command::Logout
        | Command::Status(_)
        | Command::Models(_)
        | Command::Smoke(_)
        | Command::Top(_) => "error",
        Command::Config(_) | Command::Key(_) => "warn",
    };
    let console = console::stderr();
    let default_format = if console.is_terminal() { LogFormat::Text } else { LogFormat::Json };
    let is_json = Arc::new(AtomicBool::new(false));
    let (filter, handle) = reload::Layer::new(EnvFilter::default());
    let logs =
        Logs { filter: handle, is_json: Arc::clone(&is_json), default_filter, default_format };
    let has_colours = console.has_colours();
    let text = Format::default().with_ansi(has_colours);
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(has_colours)
        .fmt_fields(Fields { is_json: Arc::clone(&is_json), console })
        .event_format(Lines { text, json: JsonLines, is_json, console })
        .with_writer(raw_stderr);
    logs.change(settings);
    tracing_subscriber::registry().with(filter).with(KeepRequestIds).with(lines).init();
    logs
}

/// Lines come with our colours: what is foreign in them was made visible before.
#[expect(clippy::disallowed_methods, reason = "the values of lines come through the console")]
fn raw_stderr() -> io::Stderr {
    io::stderr()
}

// === impl Logs ===

impl Logs {
    /// From now on it is logged like this.
    pub(crate) fn change(&self, settings: &LogSettings) {
        let format = settings.format.unwrap_or(self.default_format);
        self.is_json.store(format == LogFormat::Json, Ordering::Relaxed);
        // Who writes the logs lives as long as we do.
        let filter = settings.filter.as_deref().unwrap_or(self.default_filter);
        let _ = self.filter.reload(filter_of(filter));
    }
}

/// What is wanted, beside what always is and never.
fn filter_of(wanted: &str) -> EnvFilter {
    EnvFilter::new(format!("{wanted},{UNHEARD},{HEARD}"))
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
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        if !self.is_json.load(Ordering::Relaxed) {
            return self.text.format_event(context, writer, event);
        }
        if !self.console.is_terminal() {
            return self.json.format_event(context, writer, event);
        }
        let mut line = String::new();
        self.json.format_event(context, Writer::new(&mut line), event)?;
        writer.write_str(&self.console.visible(&line))
    }
}

// === impl Fields ===

impl<'w> FormatFields<'w> for Fields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'w>, fields: R) -> fmt::Result {
        if self.is_json.load(Ordering::Relaxed) {
            return Ok(());
        }
        if !self.console.is_terminal() {
            return DefaultFields::new().format_fields(writer, fields);
        }
        let mut values = Values { visitor: DefaultVisitor::new(writer, true) };
        fields.record(&mut values);
        values.visitor.finish()
    }
}

// === impl Values ===

impl Visit for Values<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            self.record_debug(field, &format_args!("{value}"));
        } else {
            self.record_debug(field, &value);
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let value = format!("{value:?}");
        self.visitor.record_debug(field, &format_args!("{}", console::visible_line(&value)));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::json_log::tests::Written;

    /// The fields of what is logged in a request, through this filter.
    fn logged(filter: &str) -> Vec<Value> {
        let written = Written::default();
        let writer = written.clone();
        let lines = tracing_subscriber::fmt::layer()
            .event_format(JsonLines)
            .with_writer(move || writer.clone());
        let subscriber =
            tracing_subscriber::registry().with(filter_of(filter)).with(KeepRequestIds).with(lines);
        tracing::subscriber::with_default(subscriber, || {
            let trace_id = format_args!("{:032x}", 7);
            let request = tracing::error_span!(
                target: server::REQUEST_SPAN, "request", request_id = "a\"b", %trace_id,
            );
            request.in_scope(|| {
                tracing::info_span!(target: "inner", "inner").in_scope(|| {
                    tracing::error!(target: "inner", "failed");
                });
                tracing::debug!(target: "server::body", "ended early");
                tracing::info!(target: "turn", parent: None, request_id = "own", "ended");
            });
            tracing::error!(target: "inner", "of no request");
        });
        let of_line = |line: &str| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            let members = line.as_object_mut().unwrap();
            members.remove("timestamp");
            members.remove("level");
            line
        };
        written.text().lines().map(of_line).collect()
    }

    #[test]
    fn ids_are_told_through_any_filter() {
        let ids = |target: &str, message: &str| {
            let trace_id = "00000000000000000000000000000007";
            json!({
                "message": message, "target": target, "request_id": "a\"b", "trace_id": trace_id,
            })
        };
        let failed = ids("inner", "failed");
        let early = ids("server::body", "ended early");
        let ended = json!({"message": "ended", "target": "turn", "request_id": "own"});
        let other = json!({"message": "of no request", "target": "inner"});
        for (filter, lines) in [
            ("error", vec![&failed, &other]),
            ("warn,turn=info", vec![&failed, &ended, &other]),
            ("info", vec![&failed, &ended, &other]),
            ("info,server=debug", vec![&failed, &early, &ended, &other]),
            ("off,server=debug", vec![&early]),
            ("server=debug", vec![&early]),
            ("request=off,inner=error", vec![&failed, &other]),
            ("off", vec![]),
        ] {
            assert_eq!(logged(filter).iter().collect::<Vec<_>>(), lines, "{filter}");
        }
    }
}
