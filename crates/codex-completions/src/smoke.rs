//! `smoke`: tool calls in every form, asked of a running server and compared with what must come.

mod case;
mod check;
mod completion;
mod http;
mod report;

use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use configuration::Settings;
use conformance::reading::Mismatch;

use crate::cli::SmokeOptions;
use crate::target::Target;
use case::Case;
use report::Report;

/// How long all checks may take together.
const WITHIN: Duration = Duration::from_secs(30);

pub(crate) async fn run(
    options: &SmokeOptions,
    settings: &Settings,
) -> Result<ExitCode, Box<dyn Error>> {
    let target = Target::choose(&options.server, settings)?;
    let deadline = Instant::now() + WITHIN;
    let mut report = Report::new(&target, &options.model, options.json);
    // Somebody who is not there or does not let us in need not be asked sixteen times.
    match in_time(deadline, check::access(&target)).await {
        Err(mismatch) => report.add("server", Duration::ZERO, Err(mismatch))?,
        Ok(()) => {
            for case in Case::all() {
                let started = Instant::now();
                let outcome = in_time(deadline, check::case(case, &target, &options.model)).await;
                report.add(&case.to_string(), started.elapsed(), outcome)?;
            }
        }
    }
    Ok(report.end()?)
}

async fn in_time(
    deadline: Instant,
    check: impl Future<Output = Result<(), Mismatch>>,
) -> Result<(), Mismatch> {
    tokio::time::timeout_at(deadline.into(), check).await.unwrap_or_else(|_| {
        let expected = format!("an answer within {WITHIN:?} of the first request");
        Err(Mismatch::new("time", expected, "none"))
    })
}
