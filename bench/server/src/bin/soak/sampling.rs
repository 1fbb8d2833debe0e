//! The server and its Codex, looked at from outside every few seconds.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use server_bench::machine::load_average;
use testkit::process::{Footprint, codex_children};
use testkit::server_process::{Target, metric};
use tokio_util::sync::CancellationToken;

use crate::record::RecordFile;

const EVERY: Duration = Duration::from_secs(3);

/// Everything at one moment.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Sample {
    /// Since the start.
    pub(crate) at: Duration,
    pub(crate) server: Footprint,
    pub(crate) codex: Footprint,
    /// As `/metrics` has them.
    pub(crate) running: u64,
    pub(crate) idle_threads: u64,
    pub(crate) held_threads: u64,
    pub(crate) restarts: u64,
    pub(crate) database_bytes: u64,
    pub(crate) log_bytes: u64,
    pub(crate) load: f64,
}

/// Whom to look at.
pub(crate) struct Watch<'a> {
    pub(crate) pid: u32,
    pub(crate) target: Target,
    pub(crate) data: &'a Path,
    pub(crate) log: &'a Path,
    pub(crate) started: Instant,
}

// === impl Watch ===

impl Watch<'_> {
    /// Looks until it is told to stop.
    pub(crate) async fn watch(&self, record: &RecordFile, stop: &CancellationToken) {
        while stop.run_until_cancelled(tokio::time::sleep(EVERY)).await.is_some() {
            match self.look().await {
                Ok(sample) => record.sample(sample),
                Err(wrong) => record.wrong(&wrong),
            }
        }
    }

    pub(crate) async fn look(&self) -> Result<Sample, String> {
        // First of all: asking takes a connection.
        let (server, codex) =
            (Footprint::of(&[self.pid]), Footprint::of(&codex_children(self.pid)));
        let (_, metrics) = self.target.look("/metrics").await?;
        let value = |name: &str| metric(&metrics, name).ok_or_else(|| format!("no {name}"));
        Ok(Sample {
            at: self.started.elapsed(),
            server,
            codex,
            running: value("turns_running")?,
            idle_threads: value(r#"kept_threads{state="idle"}"#)?,
            held_threads: value(r#"kept_threads{state="held"}"#)?,
            restarts: value("codex_restarts_total")?,
            database_bytes: bytes_in(&self.data.join("store")),
            log_bytes: fs::metadata(self.log).map_or(0, |log| log.len()),
            load: load_average(),
        })
    }
}

/// The files of a folder: the database has three.
fn bytes_in(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum()
}
