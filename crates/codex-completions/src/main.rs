//! One binary that lets any OpenAI client use the owner's own Codex login.

mod account;
mod ask;
mod calls;
mod cli;
mod codex;
mod doctor;
mod logging;
mod models;
mod serve;
mod settings;
mod signals;

use std::process::ExitCode;

use clap::Parser as _;

use cli::{Cli, Command, Task};
use settings::Settings;

/// One thread: the work is waiting for the child and for clients, and a hop between threads
/// costs more than it gains.
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let outcome = match Cli::parse().task {
        Task::Calls(options) => calls::run(&options),
        Task::WithSettings(command) => match Settings::from_environment() {
            Ok(settings) => run(command, settings).await,
            Err(error) => Err(error.into()),
        },
    };
    outcome.unwrap_or_else(|error| {
        // Whoever read our output has seen enough, as in `… | head`.
        let unread = error
            .downcast_ref::<std::io::Error>()
            .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe);
        if !unread {
            cli::complain(&*error);
        }
        ExitCode::FAILURE
    })
}

async fn run(command: Command, settings: Settings) -> Result<ExitCode, Box<dyn std::error::Error>> {
    logging::start(&settings, &command)?;
    match command {
        Command::Serve(options) => serve::run(options, settings).await,
        Command::Ask(question) => ask::run(question, settings).await,
        Command::Login(options) => account::login(&options, &settings).await,
        Command::Logout => account::logout(&settings).await,
        Command::Status(options) => account::status(&options, &settings).await,
        Command::Models(options) => models::run(&options, settings).await,
        Command::Doctor(options) => doctor::run(options, settings).await,
    }
}
