//! One binary that lets any OpenAI client use the owner's own Codex login.

mod account;
mod app;
mod ask;
mod calls;
mod cli;
mod codex;
mod completions;
mod config;
mod conformance;
mod console;
mod demo;
mod doctor;
mod file_watch;
mod greeting;
mod json_log;
mod key;
mod logging;
mod models;
mod panics;
mod progress;
mod reload;
mod replay;
mod request_ids;
mod serve;
mod service_manager;
mod signals;
mod smoke;
mod status;
mod target;
mod top;
mod traces;

use std::path::PathBuf;
use std::process::ExitCode;

use configuration::{Flags, Inputs, Loaded, Warning};
use rustix::fs::Mode;

use cli::{Cli, Command, Task};

fn main() -> ExitCode {
    panics::print_without_content();
    let Cli { env_file, task } = match cli::parse() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let outcome = match task {
        Task::Calls(options) => calls::run(&options),
        Task::Conformance(options) => conformance::run(&options),
        Task::Replay(options) => replay::run(&options),
        Task::Completions { shell } => completions::run(shell),
        Task::WithSettings(command) => run_with_settings(command, env_file),
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

/// One thread: the work is waiting for the child and for clients, and a hop between threads
/// costs more than it gains.
fn run_with_settings(
    command: Command,
    env_file: Option<PathBuf>,
) -> Result<ExitCode, Box<dyn std::error::Error>> {
    // What we or Codex make is for nobody else, whatever the user's habit is.
    rustix::process::umask(Mode::from_raw_mode(0o077));
    let inputs = Inputs::of_process(Flags { env_file, ..command.flags() });
    let loaded = configuration::load(&inputs)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(run(command, inputs, loaded));
    // A name that is still looked up for somebody must not keep us.
    runtime.shutdown_background();
    outcome
}

async fn run(
    command: Command,
    inputs: Inputs,
    loaded: Loaded,
) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let logs = logging::start(&loaded.settings.log, &command);
    panics::log_without_content();
    warn(&loaded.warnings, &command);
    match command {
        Command::Serve(_) => serve::run(inputs, loaded, logs).await,
        Command::Ask(question) => ask::run(question, loaded.settings).await,
        Command::Login(options) => account::login(&options, &loaded.settings).await,
        Command::Logout => account::logout(&loaded.settings).await,
        Command::Status(options) => status::run(&options, &loaded.settings).await,
        Command::Models(options) => models::run(&options, loaded.settings).await,
        Command::Doctor(_) => doctor::run(loaded).await,
        Command::Config(options) => {
            config::run(&options, &loaded.settings.values, &loaded.warnings)
        }
        Command::Key(options) => key::run(options, &loaded.settings),
        Command::Smoke(options) => smoke::run(&options, &loaded.settings).await,
        Command::Top(options) => top::run(&options, &loaded.settings).await,
    }
}

/// Once for each command: those that log no warnings by default print them.
fn warn(warnings: &[Warning], command: &Command) {
    match command {
        Command::Serve(_) | Command::Config(_) | Command::Key(_) => {
            for warning in warnings {
                tracing::warn!("{warning}");
            }
        }
        // They are in its report.
        Command::Doctor(_) => {}
        Command::Ask(_)
        | Command::Login(_)
        | Command::Logout
        | Command::Status(_)
        | Command::Models(_)
        | Command::Smoke(_)
        | Command::Top(_) => warnings.iter().for_each(cli::warn),
    }
}
