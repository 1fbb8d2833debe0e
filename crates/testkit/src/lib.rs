//! What every test with the real Codex needs: a binary, a home, a scripted upstream, a scripted
//! issuer of logins, and turns; a server, and a client of it.
#![allow(clippy::missing_errors_doc, reason = "every error ends a test or a benchmark")]

mod browser;
mod codex;
mod files;
pub mod http;
mod image;
mod issuer;
mod outcome;
mod pool;
pub mod process;
mod program;
mod random;
pub mod server_process;
mod token;
mod until;

pub use browser::{Page, browse};
pub use codex::{TestCodex, canary, codex_binary};
pub use files::{file_sizes, files_with, write_altered_codex, write_script};
pub use image::gray_jpeg;
pub use issuer::{Consent, IssuedAccount, IssuerRequest, RefreshTokens, Routing, ScriptedIssuer};
pub use outcome::{Outcome, StreamedCall};
pub use pool::{TestPool, quick_heartbeat};
pub use program::workspace_program;
pub use random::{seed, times};
pub use token::unsigned_token;
pub use until::{Look, blocking_until, until, within};

use model_turn::{HistoryItem, Role, Tool, TurnRequest, Upstream};
use serde_json::json;

/// What differs between the requests of any two turns: ids of the thread, the session, the turn and the
/// child's folder, and the time.
pub const OF_THE_TURN: [&str; 11] = [
    "prompt_cache_key",
    "thread_id",
    "session_id",
    "turn_id",
    "root_turn_id",
    "window_id",
    "context_window_id",
    "installation_id",
    "x-codex-window-id",
    "x-codex-installation-id",
    "turn_started_at_unix_ms",
];

/// A request for one user message to the model `gpt-5.5`, upstream `base_url`.
pub fn ask(base_url: &str, text: &str) -> TurnRequest {
    TurnRequest {
        model: "gpt-5.5".to_owned(),
        history: vec![HistoryItem::text(Role::User, text)],
        upstream: Some(Upstream { base_url: base_url.to_owned(), api_key: None }),
        ..TurnRequest::default()
    }
}

/// Tools of these names, each with a city as its parameter.
pub fn tools(names: &[&str]) -> Vec<Tool> {
    names
        .iter()
        .map(|name| {
            let parameters = json!({
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
            });
            Tool::function(name, &format!("Runs {name}"), parameters)
        })
        .collect()
}
