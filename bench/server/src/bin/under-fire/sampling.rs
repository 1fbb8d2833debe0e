//! The server, looked at from outside every second.

use std::time::{Duration, Instant};

use testkit::process::{open_files, resident_kilobytes, threads};
use testkit::server_process::Target;
use tokio_util::sync::CancellationToken;

const EVERY: Duration = Duration::from_secs(1);

/// The server at one moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    /// Since the start.
    pub(crate) at: Duration,
    pub(crate) resident_kilobytes: u64,
    pub(crate) files: usize,
    pub(crate) threads: usize,
    /// Turns, as `/metrics` has them.
    pub(crate) running: u64,
    pub(crate) waiting: u64,
}

/// Takes samples until it is told to stop.
pub(crate) async fn sample(
    pid: u32,
    target: &Target,
    stop: &CancellationToken,
) -> (Vec<Sample>, Vec<String>) {
    let (started, mut samples, mut wrong) = (Instant::now(), Vec::new(), Vec::new());
    while stop.run_until_cancelled(tokio::time::sleep(EVERY)).await.is_some() {
        match take(pid, target, started).await {
            Ok(sample) => samples.push(sample),
            Err(error) => wrong.push(error),
        }
    }
    (samples, wrong)
}

pub(crate) async fn take(pid: u32, target: &Target, started: Instant) -> Result<Sample, String> {
    // First of all: asking takes connections.
    let (files, threads) = (open_files(pid), threads(pid));
    Ok(Sample {
        at: started.elapsed(),
        resident_kilobytes: resident_kilobytes(pid),
        files,
        threads,
        running: target.metric("turns_running").await?,
        waiting: target.metric("turns_waiting").await?,
    })
}
