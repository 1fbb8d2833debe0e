//! Whole answers, kept as files: plain text that can be read beside the wire.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::Value;

use crate::http::Answer;

/// Compares a transcript with the file of that name. `UPDATE_GOLDEN=1` writes it instead; what has
/// changed is then seen in the diff.
pub(crate) fn check(name: &str, transcript: &str) {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/chat/golden"));
    let file = folder.join(format!("{name}.txt"));
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

fn masked(body: &str) -> String {
    let body = replaced(body, r#""id":"chatcmpl-"#, "ID");
    let body = replaced(&body, r#""created":"#, "TIME");
    // The choice and the number of a call stay.
    (0..2).flat_map(|choice| (0..4).map(move |number| (choice, number))).fold(
        body,
        |body, (choice, number)| {
            replaced(&body, &format!(r#""id":"tool_{choice}_{number}_"#), "ID")
        },
    )
}

/// Letters and digits that follow `start`, replaced by `placeholder`.
fn replaced(text: &str, start: &str, placeholder: &str) -> String {
    let mut parts = text.split(start);
    let mut replaced = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric());
        replaced.extend([start, placeholder, rest]);
    }
    replaced
}
