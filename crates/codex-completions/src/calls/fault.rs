//! What is wrong with a record.

use serde_json::Value;

/// Why a record cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error("not UTF-8 from byte {0} on")]
    NotUtf8(usize),
    #[error("not JSON: {0}")]
    NotJson(String),
    #[error("expected {0}")]
    Shape(&'static str),
    #[error("{name}: expected {allowed}")]
    Field { name: &'static str, allowed: &'static str },
}

/// The JSON of a record.
pub(super) fn json(text: &str) -> Result<Value, Fault> {
    serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let words = error.to_string();
        // A record is one line for the parser: its "line 1" would only be taken for the file's.
        let place = format!(" at line {line} column {column}");
        let words = words.strip_suffix(&place).unwrap_or(&words);
        Fault::NotJson(if text.contains('\n') {
            format!("{words} at column {column} of line {line} of the data")
        } else {
            format!("{words} at column {column}")
        })
    })
}
