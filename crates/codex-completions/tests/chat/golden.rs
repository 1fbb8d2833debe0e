//! Whole answers, kept as files: plain text that can be read beside the wire.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::Value;

use crate::http::Answer;

/// Compares a transcript with the file at that path beside this one. `UPDATE_GOLDEN=1` writes it
/// instead; what has changed is then seen in the diff.
pub(crate) fn check(path: &str, transcript: &str) {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/chat"));
    let file = folder.join(format!("{path}.txt"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, transcript).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == transcript, "{} is\n{kept}\nbut there came\n{transcript}", file.display());
}

/// An answer with placeholders for what differs from run to run.
pub(crate) fn transcript(request: &Value, answer: &Answer) -> String {
    let mut text = format!("POST {request}\n\n{}\n", answer.status);
    let mut headers: Vec<_> = answer.headers.iter().collect();
    headers.sort_by_key(|(name, _)| name.as_str());
    for (name, value) in headers {
        let value = match name.as_str() {
            "date" | "content-length" => continue,
            "x-request-id" => "REQUEST-ID",
            _ => value.to_str().unwrap(),
        };
        let _ = writeln!(text, "{name}: {value}");
    }
    let _ = writeln!(text, "\n{}", masked(&answer.body).trim_end());
    text
}

/// Only ids and times differ from run to run. How an id begins stays, and so do the choice and the
/// number of a call.
fn masked(body: &str) -> String {
    let calls =
        (0..2).flat_map(|choice| (0..4).map(move |number| format!(r#""tool_{choice}_{number}_"#)));
    let ids = ["chatcmpl-", "resp_", "msg_", "fc_", "rs_"].map(|start| format!(r#""{start}"#));
    let body = calls.chain(ids).fold(body.to_owned(), |body, start| replaced(&body, &start, "ID"));
    [r#""created":"#, r#""created_at":"#, r#""completed_at":"#]
        .into_iter()
        .fold(body, |body, start| replaced(&body, start, "TIME"))
}

/// Letters and digits that follow `start`, replaced by `placeholder`. `null` stays.
fn replaced(text: &str, start: &str, placeholder: &str) -> String {
    let mut parts = text.split(start);
    let mut replaced = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric());
        let placeholder = if part.starts_with("null") { "null" } else { placeholder };
        replaced.extend([start, placeholder, rest]);
    }
    replaced
}
