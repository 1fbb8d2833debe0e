//! Logs, on standard error.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;

use crate::cli::Command;
use crate::settings::Settings;

/// Starts logging at `PROXY_LOG`; by default only the server says what it does.
pub(crate) fn start(settings: &Settings, command: &Command) -> Result<(), LogError> {
    let default = match command {
        Command::Serve(_) => "info",
        Command::Ask(_)
        | Command::Login(_)
        | Command::Logout
        | Command::Status(_)
        | Command::Models(_)
        | Command::Doctor(_) => "error",
    };
    let chosen = settings.log.as_deref().unwrap_or(default);
    let filter = EnvFilter::try_new(chosen)
        .map_err(|source| LogError { value: chosen.to_owned(), source })?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .init();
    Ok(())
}

/// `PROXY_LOG` cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("PROXY_LOG={value:?}: expected error, warn, info, debug, trace, or target=level pairs")]
pub(crate) struct LogError {
    value: String,
    source: ParseError,
}
