//! Logs, on standard error.

use std::io::IsTerminal as _;

use configuration::{LogFormat, LogSettings};
use tracing_subscriber::EnvFilter;

use crate::cli::Command;
use crate::json_log::JsonLines;

/// Starts logging; by default only the server says what it does, and only settings are warned about.
pub(crate) fn start(settings: &LogSettings, command: &Command) {
    let default = match command {
        Command::Serve(_) => "info",
        Command::Ask(_)
        | Command::Login(_)
        | Command::Logout
        | Command::Status(_)
        | Command::Models(_)
        | Command::Doctor(_)
        | Command::Smoke(_) => "error",
        Command::Config(_) | Command::Key(_) => "warn",
    };
    let is_terminal = std::io::stderr().is_terminal();
    let by_reader = if is_terminal { LogFormat::Text } else { LogFormat::Json };
    let log = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(settings.filter.as_deref().unwrap_or(default)))
        .with_ansi(is_terminal)
        .with_writer(std::io::stderr);
    match settings.format.unwrap_or(by_reader) {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.event_format(JsonLines).init(),
    }
}
