//! Prompts and answers in the log, for an operator who asks for them.

use std::borrow::Cow;

/// Most of a text that one line has: a prompt can be megabytes.
const MOST_BYTES: usize = 16 * 1024;

/// Whether prompts, answers and arguments may be logged. Nothing else logs any of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ContentLog {
    /// Never.
    #[default]
    Off,
    /// Under the target `content`.
    On,
}

// === impl ContentLog ===

impl ContentLog {
    /// A request's body, as it came.
    pub(crate) fn request(self, body: &[u8]) {
        if self == Self::On {
            let bytes = body.len();
            tracing::info!(target: "content", bytes, body = %start_of(body), "a request");
        }
    }

    /// What the model has said for one choice: text, and names and arguments of calls.
    pub(crate) fn answer(self, choice: usize, said: &str) {
        if self == Self::On {
            let bytes = said.len();
            let said = start_of(said.as_bytes());
            tracing::info!(target: "content", choice, bytes, %said, "an answer");
        }
    }
}

/// As much as a line may have.
fn start_of(content: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(&content[..content.len().min(MOST_BYTES)])
}
