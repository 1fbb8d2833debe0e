//! One binary that lets any OpenAI client use the owner's own Codex login.

mod account;
mod app;
mod ask;
mod calls;
mod cli;
mod codex;
mod config;
mod doctor;
mod file_watch;
mod json_log;
mod key;
mod logging;
mod models;
mod panics;
mod reload;
mod serve;
mod service_manager;
mod signals;
mod smoke;

use std::process::ExitCode;

use clap::Parser as _;
use configuration::{Inputs, Loaded};

use cli::{Cli, Command, Task};

/// One thread: the work is waiting for the child and for clients, and a hop between threads
/// costs more than it gains.
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let outcome = match Cli::parse().task {
        Task::Calls(options) => calls::run(&options),
        Task::WithSettings(command) => {
            let inputs = Inputs::of_process(command.flags());
            match configuration::load(&inputs) {
                Ok(loaded) => run(command, inputs, loaded).await,
                Err(problems) => Err(problems.into()),
            }
        }
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

async fn run(
    command: Command,
    inputs: Inputs,
    loaded: Loaded,
) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let logs = logging::start(&loaded.settings.log, &command);
    panics::log_without_content();
    for warning in &loaded.warnings {
        tracing::warn!("{warning}");
    }
    match command {
        Command::Serve(_) => serve::run(inputs, loaded, logs).await,
        Command::Ask(question) => ask::run(question, loaded.settings).await,
        Command::Login(options) => account::login(&options, &loaded.settings).await,
        Command::Logout => account::logout(&loaded.settings).await,
        Command::Status(options) => account::status(&options, &loaded.settings).await,
        Command::Models(options) => models::run(&options, loaded.settings).await,
        Command::Doctor(_) => doctor::run(loaded.settings).await,
        Command::Config(options) => config::run(&options, &loaded.values, &loaded.warnings),
        Command::Key(options) => key::run(options, &loaded.settings, &loaded.values),
        Command::Smoke(options) => smoke::run(&options, &loaded.settings).await,
    }
}
