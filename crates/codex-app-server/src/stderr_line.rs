//! What may be told of a line that Codex writes to standard error.
//!
//! Once it takes turns it can quote them: a prompt, an argument, an upstream's answer. Where a line
//! comes from is known without that, and is what a search for the cause begins with.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::{Map, Value};

/// The levels that Codex's log lines name.
const LEVELS: [&str; 5] = ["ERROR", "WARN", "INFO", "DEBUG", "TRACE"];

/// A line of Codex's log, where that is written as JSON.
#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(borrow)]
    level: Cow<'a, str>,
    #[serde(borrow)]
    target: Cow<'a, str>,
    fields: Map<String, Value>,
}

/// A line as people read it: `LEVEL target: message`, where it is JSON.
pub(crate) fn readable(line: &str) -> Cow<'_, str> {
    let Some(Entry { level, target, mut fields }) = entry(line) else { return line.into() };
    let message = match fields.remove("message") {
        Some(Value::String(message)) => message,
        _ => String::new(),
    };
    let mut readable = format!("{level} {target}: {message}");
    for (name, value) in fields {
        // Writing to a string cannot fail.
        let _ = write!(readable, " {name}={value}");
    }
    readable.into()
}

/// Where a line comes from, and how long it was.
pub(crate) fn without_content(line: &str) -> String {
    let bytes = line.len();
    let origin = match entry(line) {
        Some(Entry { level, target, .. }) => known_level(&level).map(|level| at(level, &target)),
        None => origin(line),
    };
    match origin {
        Some(origin) => format!("{origin} … ({bytes} bytes)"),
        None => format!("… ({bytes} bytes)"),
    }
}

/// `ERROR module::path` of a log line, `panicked at file:line:column` of a panic.
fn origin(line: &str) -> Option<String> {
    if let Some((_, place)) = line.split_once(" panicked at ") {
        let place = place.trim_end_matches(':');
        let is_place =
            place.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-:".contains(&byte));
        return is_place.then(|| format!("panicked at {place}"));
    }
    // The time is in front of the level, and the target behind it unless a span is.
    let mut words = line.split_whitespace().take(3).skip_while(|word| !LEVELS.contains(word));
    let (level, target) = (words.next()?, words.next().unwrap_or_default());
    Some(at(level, target.strip_suffix(':').unwrap_or_default()))
}

fn entry(line: &str) -> Option<Entry<'_>> {
    line.starts_with(r#"{"timestamp":"#).then(|| serde_json::from_str(line).ok()).flatten()
}

fn known_level(level: &str) -> Option<&'static str> {
    LEVELS.into_iter().find(|known| *known == level)
}

/// The level, and the target if it looks like one.
fn at(level: &str, target: &str) -> String {
    let is_path =
        target.bytes().all(|byte| byte.is_ascii_lowercase() || b"_:0123456789".contains(&byte));
    if is_path && !target.is_empty() { format!("{level} {target}") } else { level.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_9_only_the_origin_of_a_line_is_told() {
        for (line, told) in [
            (
                "2026-11-16T07:52:00.26Z ERROR codex_core::tools: cannot parse {\"a\": \"secret\"}",
                "ERROR codex_core::tools … (77 bytes)",
            ),
            ("ERROR turn{model=secret}:codex_core: secret", "ERROR … (43 bytes)"),
            ("WARN secret", "WARN … (11 bytes)"),
            (
                r#"{"timestamp":"2026","level":"ERROR","fields":{"message":"secret"},"target":"codex_core::tools"}"#,
                "ERROR codex_core::tools … (95 bytes)",
            ),
            (
                r#"{"timestamp":"2026","level":"secret","fields":{},"target":"codex_core"}"#,
                "… (71 bytes)",
            ),
            (
                r#"{"timestamp":"2026","level":"WARN","fields":{},"target":"a secret"}"#,
                "WARN … (67 bytes)",
            ),
            (
                "thread 'tokio-rt' (12) panicked at core/src/lib.rs:12:5:",
                "panicked at core/src/lib.rs:12:5 … (56 bytes)",
            ),
            ("thread 'main' panicked at 'a secret', src/lib.rs:1:2", "… (52 bytes)"),
            ("byte index 9 is not a char boundary of `secret`", "… (47 bytes)"),
            ("", "… (0 bytes)"),
        ] {
            assert_eq!(without_content(line), told);
        }
    }

    #[test]
    fn a_line_of_json_is_shown_as_text() {
        for (line, shown) in [
            (
                r#"{"timestamp":"2026","level":"ERROR","fields":{"message":"no \"room\"","left":3},"target":"codex_core"}"#,
                r#"ERROR codex_core: no "room" left=3"#,
            ),
            (
                r#"{"timestamp":"2026","level":"ERROR","fields":{"error":"x"},"target":"codex_core"}"#,
                r#"ERROR codex_core:  error="x""#,
            ),
            (r#"{"timestamp":"2026","level"#, r#"{"timestamp":"2026","level"#),
            ("plain", "plain"),
        ] {
            assert_eq!(readable(line), shown);
        }
    }
}
