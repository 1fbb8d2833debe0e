//! The command line.

mod examples;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::Styles;
use clap::{ArgGroup, Args, Parser, Subcommand};
use clap_complete::Shell;
use configuration::{Flags, Warning};

use crate::ask::OfferedTools;
use crate::calls::CallsOptions;
use crate::conformance::ConformanceOptions;
use crate::console;
use crate::key::KeyOptions;
use crate::replay::ReplayOptions;

/// Use your own Codex login from any OpenAI client.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 100, after_help = examples::ALL, styles = Styles::plain())]
pub(crate) struct Cli {
    /// File with settings as lines of NAME=value, such as .env; none is read unless it is named here
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) env_file: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) task: Task,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    #[command(flatten)]
    WithSettings(Command),
    /// Show the tool calls of a captured stream: a tool for debugging
    Calls(CallsOptions),
    /// Test any OpenAI-compatible server against the rules that real clients depend on
    #[command(after_help = examples::CONFORMANCE)]
    Conformance(ConformanceOptions),
    /// Play a record of `PROXY_CAPTURE_DIR` again, and compare what comes out
    Replay(ReplayOptions),
    /// Print what lets a shell complete our commands
    #[command(after_help = examples::COMPLETIONS)]
    Completions {
        /// Which shell
        shell: Shell,
    },
}

/// What needs the settings.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the server
    #[command(after_help = examples::SERVE)]
    Serve(SettingFlags),
    /// Stream one turn to the terminal: the quickest way to see that everything works
    #[command(after_help = examples::ASK)]
    Ask(Question),
    /// Sign in to Codex
    #[command(after_help = examples::LOGIN)]
    Login(LoginOptions),
    /// Sign out of Codex, and ask the issuer to forget the login
    #[command(after_help = examples::LOGOUT)]
    Logout,
    /// Show who is signed in, what is left of the account's allowance, and whether a server runs
    #[command(after_help = examples::STATUS)]
    Status(StatusOptions),
    /// List the models and their other names
    #[command(after_help = examples::MODELS)]
    Models(ModelsOptions),
    /// Check everything that a turn needs, and say how to mend what is wrong
    #[command(after_help = examples::DOCTOR)]
    Doctor(SettingFlags),
    /// Show every setting, and where it comes from
    #[command(after_help = examples::CONFIG)]
    Config(ConfigOptions),
    /// Add, list, revoke and rotate the keys of clients
    Key(KeyOptions),
    /// Ask a running server for tool calls in every form, and check what comes; needs no account
    #[command(after_help = examples::SMOKE)]
    Smoke(SmokeOptions),
    /// Show the turns of a running server, as they happen
    #[command(after_help = examples::TOP)]
    Top(TopOptions),
}

/// Settings that a flag can set; they are checked with all the others.
#[derive(Debug, Args)]
pub(crate) struct SettingFlags {
    /// Port to listen on; 0 lets the system choose [default: `PORT`, or 11435]
    #[arg(long)]
    port: Option<String>,
    /// Address to listen on [default: `PROXY_HOST`, or the loopback addresses]
    #[arg(long, value_name = "ADDRESS")]
    host: Option<String>,
    /// TOML file with settings [default: `PROXY_CONFIG`, or config.toml in the data folder]
    #[arg(long, value_name = "FILE")]
    config: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigOptions {
    #[command(flatten)]
    flags: SettingFlags,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Question {
    /// What to ask; without it, or for `-`, standard input is read
    pub(crate) text: Option<String>,
    /// Model to ask; "demo" needs no account [default: `CODEX_MODEL`, or Codex's own default]
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Tool that the model may call: a name, its JSON as in a request to OpenAI, or a file with
    /// that; can be given several times
    #[arg(long = "tool", value_name = "NAME|JSON|@FILE")]
    pub(crate) tools: Vec<OfferedTools>,
    /// Reasoning effort, such as low, medium or high
    #[arg(long)]
    pub(crate) effort: Option<String>,
    /// Print the whole answer as one JSON object, when it has ended
    #[arg(long, conflicts_with = "raw")]
    pub(crate) json: bool,
    /// Print every event as a line of JSON, as it comes
    #[arg(long)]
    pub(crate) raw: bool,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("method").multiple(false)))]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(crate) struct LoginOptions {
    /// Sign in with a browser on this machine [default on a terminal with a display]
    #[arg(long, group = "method")]
    pub(crate) browser: bool,
    /// Sign in with a code, in a browser on any machine [default otherwise]
    #[arg(long, group = "method")]
    pub(crate) device_code: bool,
    /// Read an API key from standard input, which pays by use
    #[arg(long, group = "method")]
    pub(crate) with_api_key: bool,
    /// Copy the login of another Codex, from its home [default: `CODEX_HOME`, or ~/.codex]
    #[arg(long, group = "method", value_name = "FOLDER")]
    #[expect(clippy::option_option, reason = "the flag may be there without a folder")]
    pub(crate) import: Option<Option<PathBuf>>,
    /// With --import: replace the login that is there
    #[arg(long, requires = "import")]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StatusOptions {
    /// Get new tokens for the login first
    #[arg(long)]
    pub(crate) refresh: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ModelsOptions {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which running server is meant.
#[derive(Debug, Default, Args)]
pub(crate) struct ServerOptions {
    /// Base URL of the server [default: the one that the settings describe]
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// API key of the server; `-` reads it from standard input. Without --base-url the server must first
    /// prove that it is ours [default: `PROXY_API_KEY`, or the one that the server keeps]
    #[arg(long)]
    pub(crate) key: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SmokeOptions {
    #[command(flatten)]
    pub(crate) server: ServerOptions,
    /// Model to ask; the checks know the answers of "demo", which another one may word differently
    #[arg(long, default_value = "demo")]
    pub(crate) model: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TopOptions {
    #[command(flatten)]
    pub(crate) server: ServerOptions,
    /// Print every event as a line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

// === impl Command ===

impl Command {
    /// The settings that the command line sets.
    pub(crate) fn flags(&self) -> Flags {
        match self {
            Self::Serve(flags)
            | Self::Doctor(flags)
            | Self::Config(ConfigOptions { flags, .. }) => Flags {
                port: flags.port.clone(),
                host: flags.host.clone(),
                config: flags.config.clone(),
                ..Flags::default()
            },
            Self::Ask(_)
            | Self::Login(_)
            | Self::Logout
            | Self::Status(_)
            | Self::Models(_)
            | Self::Key(_)
            | Self::Smoke(_)
            | Self::Top(_) => Flags::default(),
        }
    }
}

/// The command line, or the exit code of help and of one that is wrong.
///
/// Both repeat arguments, errors files too. They have no styles of ours, so that every sequence in them is foreign.
pub(crate) fn parse() -> Result<Cli, ExitCode> {
    Cli::try_parse().map_err(|error| {
        let console = if error.use_stderr() { console::stderr() } else { console::stdout() };
        let _ = write!(console, "{}", error.render().ansi());
        u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
    })
}

/// How we were called, so that a line that we print can be pasted.
pub(crate) fn program() -> String {
    let name = std::env::args_os().next();
    name.map_or_else(|| "codex-completions".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Tells what went wrong, with its causes.
pub(crate) fn complain(error: &dyn Error) {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !words.contains(&more) {
            words = format!("{words}: {more}");
        }
        cause = error.source();
    }
    let _ = writeln!(console::stderr(), "error: {words}");
}

/// Something odd that does not stop the command.
pub(crate) fn warn(warning: &Warning) {
    let _ = writeln!(console::stderr(), "warning: {warning}");
}

#[cfg(test)]
mod tests;
