//! Errors, held against the table in docs/api.md.

use std::sync::LazyLock;

use serde_json::Value;

const API: &str = include_str!("../../../../../docs/api.md");

/// The rows of the table.
static TABLE: LazyLock<Vec<Row>> = LazyLock::new(|| API.lines().filter_map(Row::read).collect());

/// One kind of error.
struct Row {
    status: u16,
    r#type: &'static str,
    /// `None` where there is none.
    code: Option<&'static str>,
    retry_after: RetryAfter,
}

/// Whether an answer says when to come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RetryAfter {
    Always,
    Sometimes,
    Never,
}

/// Where an error was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In an answer with this status, that says or does not say when to come back.
    Answer { status: u16, retry_after: bool },
    /// In a stream that had begun.
    Stream,
}

// === impl Row ===

impl Row {
    fn read(line: &'static str) -> Option<Self> {
        let cells: Vec<&str> = line.strip_prefix("| ")?.split(" | ").collect();
        let [status, r#type, code, _, retry] = cells[..] else { return None };
        let quoted = |cell: &'static str| cell.strip_prefix('`')?.strip_suffix('`');
        Some(Self {
            status: status.parse().ok()?,
            r#type: quoted(r#type)?,
            code: quoted(code),
            retry_after: match retry {
                retry if retry.contains("after `retry-after`") => RetryAfter::Always,
                retry if retry.contains("`retry-after`") => RetryAfter::Sometimes,
                _ => RetryAfter::Never,
            },
        })
    }
}

/// The code of the error in a body, which has these four members and no other.
pub(crate) fn check_body(body: &[u8], place: Place) -> Result<String, String> {
    let body: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let names = |value: &Value| -> Vec<String> {
        value.as_object().into_iter().flat_map(|members| members.keys().cloned()).collect()
    };
    if names(&body) != ["error"] || names(&body["error"]) != ["message", "type", "param", "code"] {
        return Err("other members than those of an error".to_owned());
    }
    check_error(&body["error"], place)
}

/// The code of an error that is in the table; `none` where it has none.
pub(crate) fn check_error(error: &Value, place: Place) -> Result<String, String> {
    let (r#type, code) = (&error["type"], &error["code"]);
    let row = TABLE.iter().find(|row| {
        let is_here = match place {
            Place::Answer { status, .. } => status == row.status,
            Place::Stream => true,
        };
        is_here && r#type == row.r#type && code.as_str() == row.code
    });
    let is_told = error["message"].as_str().is_some_and(|message| !message.is_empty());
    let Some(row) = row.filter(|_| is_told) else {
        return Err(format!("an error that docs/api.md does not have: {type} {code} {place:?}"));
    };
    match (place, row.retry_after) {
        (Place::Answer { retry_after: false, .. }, RetryAfter::Always)
        | (Place::Answer { retry_after: true, .. }, RetryAfter::Never) => {
            Err(format!("{code}: retry-after is not as docs/api.md has it"))
        }
        _ => Ok(row.code.unwrap_or("none").to_owned()),
    }
}
