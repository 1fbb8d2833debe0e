//! `under-fire`: the server with hundreds of clients that behave in every way, while its child is
//! killed again and again.
//!
//! Every answer is checked to its last byte. Each request has a mark, which is in every piece that the
//! model says, with its number: so it is known what each client must be told, and a byte that is
//! missing, doubled or somebody else's is found. Whatever else ends a request must say so, and must
//! have a cause. In the end memory, descriptors, counters and log are held against all that.
//!
//! `bench/under-fire` builds the server and runs this. Nothing leaves the machine.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the report is the result")]

mod aftermath;
mod client;
mod completion;
mod errors;
mod expected;
mod incident;
mod mischief;
mod plot;
mod report;
mod run;
mod sampling;
mod server;
mod story;
mod stream;
mod tally;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use tokio::runtime::Builder;

use run::Plan;
use server::Kind;

/// Violations that are explained.
const EXPLAINED: usize = 10;

/// The server under fire: exit code 1 if anything went wrong that must not.
#[derive(Parser)]
struct Options {
    /// The server, `codex-completions`.
    #[arg(long)]
    server: PathBuf,
    /// The scripted app-server; with --real the Codex.
    #[arg(long)]
    codex: PathBuf,
    /// The real Codex, with the scripted model behind it.
    #[arg(long)]
    real: bool,
    /// How long, in minutes [10, or 3 with --real].
    #[arg(long)]
    minutes: Option<f64>,
    /// Clients at once [500, or 32 with --real].
    #[arg(long)]
    streams: Option<usize>,
    /// Draws the same requests again.
    #[arg(long)]
    seed: Option<u64>,
    /// A Markdown file whose section about this kind of run is written anew.
    #[arg(long)]
    report: Option<PathBuf>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    match fire(&options) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("under-fire: {error}");
            ExitCode::FAILURE
        }
    }
}

fn fire(options: &Options) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let (kind, minutes, streams) =
        if options.real { (Kind::Real, 3.0, 32) } else { (Kind::Scripted, 10.0, 500) };
    let plan = Plan {
        kind,
        streams: options.streams.unwrap_or(streams),
        time: Duration::try_from_secs_f64(options.minutes.unwrap_or(minutes) * 60.0)?,
        seed: options.seed.unwrap_or_else(|| fastrand::u64(..)),
        server: options.server.canonicalize()?,
        codex: options.codex.canonicalize()?,
    };
    eprintln!("--seed {}", plan.seed);
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let seen = runtime.block_on(plan.run())?;
    let report = report::write(&plan, &seen);
    match &options.report {
        Some(path) => report.put_into(path)?,
        None => println!("{}", report.markdown),
    }
    let violations = &seen.tally.violations;
    for violation in violations.iter().take(EXPLAINED) {
        eprintln!("violation: {}: {}: {}", violation.rule, violation.whose, violation.what);
    }
    if violations.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("{} violations; --seed {}", violations.len(), plan.seed);
    Ok(ExitCode::FAILURE)
}
