//! `soak`: the server with the real Codex under a steady load for an hour, and what that does to its
//! memory, descriptors, threads and latency.
//!
//! Every answer is known before it is asked for, and compared. What happens is written to a file as it
//! happens, so that a run that is cut off can still be reported. `bench/soak` builds the server and
//! runs this. Nothing leaves the machine.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the report is the result")]
#![allow(clippy::cast_precision_loss, reason = "figures for people")]

mod answer;
mod client;
mod conversation;
mod load;
mod record;
mod report;
mod run;
mod sampling;
mod series;
mod turn;
mod verdict;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use server_bench::own_process::serve_model;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use record::Record;
use run::{Plan, Ran};

/// What is wrong is told in full up to here.
const EXPLAINED: usize = 10;

/// The server under a steady load: exit code 1 if an answer was wrong, something grew, or the run was cut off.
#[derive(Parser)]
struct Options {
    /// The server, `codex-completions`.
    #[arg(long, required_unless_present_any = ["report_from", "serve_model"])]
    server: Option<PathBuf>,
    /// The Codex.
    #[arg(long, required_unless_present_any = ["report_from", "serve_model"])]
    codex: Option<PathBuf>,
    /// How long, in minutes.
    #[arg(long, default_value_t = 60.0)]
    minutes: f64,
    /// Turns a second.
    #[arg(long, default_value_t = 8.0)]
    rate: f64,
    /// Draws the same turns again.
    #[arg(long)]
    seed: Option<u64>,
    /// The folder that the record of the run is written to.
    #[arg(long, default_value = "target/soak")]
    folder: PathBuf,
    /// Runs nothing, and reports an earlier run from its record.
    #[arg(long)]
    report_from: Option<PathBuf>,
    /// A Markdown file whose section is written anew, and the plots beside it.
    #[arg(long)]
    report: Option<PathBuf>,
    /// Is the scripted model instead, until the input closes.
    #[arg(long, hide = true)]
    serve_model: bool,
}

fn main() -> ExitCode {
    match soak(&Options::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("soak: {error}");
            ExitCode::FAILURE
        }
    }
}

fn soak(options: &Options) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    if options.serve_model {
        runtime.block_on(serve_model())?;
        return Ok(ExitCode::SUCCESS);
    }
    let file = match (&options.report_from, &options.server, &options.codex) {
        (Some(file), ..) => file.clone(),
        (None, Some(server), Some(codex)) => {
            let plan = Plan {
                server: server.canonicalize()?,
                codex: codex.canonicalize()?,
                time: Duration::try_from_secs_f64(options.minutes * 60.0)?,
                rate: options.rate,
                seed: options.seed.unwrap_or_else(|| fastrand::u64(..)),
                folder: options.folder.clone(),
            };
            match runtime.block_on(until_cut_off(&plan))? {
                Ran::ToItsEnd(file) => file,
                Ran::CutOff(file) => {
                    // No document is written: it may have the report of a whole run.
                    let file = file.display();
                    eprintln!(
                        "cut off, and so not passed; --report-from {file} tells what there is"
                    );
                    return Ok(ExitCode::FAILURE);
                }
            }
        }
        (None, ..) => return Err("no server, or no Codex".into()),
    };
    tell(&file, options.report.as_deref())
}

/// Runs until its end or a signal, and leaves no server behind either way.
async fn until_cut_off(plan: &Plan) -> io::Result<Ran> {
    let (mut terminate, mut interrupt) =
        (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let cut_off = CancellationToken::new();
    let run = plan.run(&cut_off);
    tokio::pin!(run);
    tokio::select! {
        ran = &mut run => return ran,
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    cut_off.cancel();
    // After a second signal nothing is waited for: a server that is dropped is killed.
    tokio::select! {
        ran = run => ran,
        _ = terminate.recv() => Err(io::Error::other("cut off")),
        _ = interrupt.recv() => Err(io::Error::other("cut off")),
    }
}

/// Reports a record.
fn tell(file: &Path, document: Option<&Path>) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let record = Record::read(file)?;
    let report = report::write(&record);
    match document {
        Some(document) => report.put_into(document)?,
        None => println!("{}", report.markdown),
    }
    for wrong in record.wrong.iter().take(EXPLAINED) {
        eprintln!("wrong: {wrong}");
    }
    eprintln!("{}; the record is {}", report.in_a_line, file.display());
    Ok(if report.is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
