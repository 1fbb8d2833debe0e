//! Log lines as JSON.
//!
//! By hand, because a line for every turn is written while clients wait: the subscriber's own format
//! takes six times as long.

use std::fmt::{self, Write as _};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime as _, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use crate::request_ids::RequestIds;

/// One object a line: the time, the level, the event's own fields, the ids of the request that it
/// belongs to, and the target. No event has fields of those names within a request's span.
pub(crate) struct JsonLines;

/// A line in the making.
struct Line(String);

/// Room for the line of a turn.
const USUAL_LENGTH: usize = 768;

// === impl JsonLines ===

impl<S, N> FormatEvent<S, N> for JsonLines
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
        let metadata = event.metadata();
        let mut line = Line(String::with_capacity(USUAL_LENGTH));
        line.0.push_str("{\"timestamp\":\"");
        SystemTime.format_time(&mut Writer::new(&mut line.0))?;
        line.0.push_str("\",\"level\":\"");
        line.0.push_str(metadata.level().as_str());
        line.0.push('"');
        event.record(&mut line);
        for span in context.event_scope().into_iter().flatten() {
            if let Some(ids) = span.extensions().get::<RequestIds>() {
                line.text("request_id", &ids.request_id);
                line.text("trace_id", &ids.trace_id);
                break;
            }
        }
        line.text("target", metadata.target());
        line.0.push_str("}\n");
        writer.write_str(&line.0)
    }
}

// === impl Line ===

impl Line {
    fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
        if value.bytes().all(is_plain) {
            self.0.push('"');
            self.0.push_str(value);
            self.0.push('"');
        } else {
            self.0.push_str(&serde_json::Value::from(value).to_string());
        }
    }

    fn bare(&mut self, name: &str, value: impl fmt::Display) {
        self.name(name);
        // A string takes everything.
        let _ = write!(self.0, "{value}");
    }

    fn name(&mut self, name: &str) {
        self.0.push_str(",\"");
        self.0.push_str(name);
        self.0.push_str("\":");
    }
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.text(field.name(), value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.bare(field.name(), value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.bare(field.name(), value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.bare(field.name(), value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        if value.is_finite() {
            self.bare(field.name(), value);
        } else {
            self.bare(field.name(), "null");
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.text(field.name(), &format!("{value:?}"));
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use serde_json::{Value, json};

    use super::*;

    /// What was logged.
    #[derive(Clone, Default)]
    pub(crate) struct Written(Arc<Mutex<Vec<u8>>>);

    impl Written {
        pub(crate) fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What is logged by something.
    pub(crate) fn logged(something: impl FnOnce()) -> String {
        let written = Written::default();
        let writer = written.clone();
        let subscriber = tracing_subscriber::fmt()
            .event_format(JsonLines)
            .with_writer(move || writer.clone())
            .finish();
        tracing::subscriber::with_default(subscriber, something);
        written.text()
    }

    #[test]
    fn every_kind_of_field_is_json() {
        let line = logged(|| {
            let (none, quoted) = (None::<u64>, "a \"b\"\n\\ \u{1} é");
            tracing::warn!(
                target: "turn", text = quoted, shown = %quoted, number = 7, negative = -7, half = 0.5,
                nothing = f64::NAN, flag = true, some = Some(3_u64), none, list = ?["x"], "it \"ended\""
            );
        });
        assert!(line.ends_with("}\n"), "{line}");
        let mut line: Value = serde_json::from_str(&line).unwrap();
        assert!(line["timestamp"].take().as_str().unwrap().ends_with('Z'));
        assert_eq!(
            line,
            json!({
                "timestamp": null, "level": "WARN", "message": "it \"ended\"",
                "text": "a \"b\"\n\\ \u{1} é", "shown": "a \"b\"\n\\ \u{1} é",
                "number": 7, "negative": -7, "half": 0.5, "nothing": null, "flag": true, "some": 3,
                "list": "[\"x\"]", "target": "turn",
            })
        );
    }
}
