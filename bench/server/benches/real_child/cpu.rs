//! Processor time of this process, and how busy the machine is.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// Processor time of each thread so far, in nanoseconds.
///
/// The kernel's tick-based counters are far too coarse for a turn; these are exact to a switch.
pub(crate) struct CpuTimes(HashMap<String, u64>);

// === impl CpuTimes ===

impl CpuTimes {
    pub(crate) fn now() -> Self {
        let tasks = fs::read_dir("/proc/self/task").expect("no list of threads");
        Self(
            tasks
                .filter_map(|task| {
                    let task = task.ok()?;
                    let thread = task.file_name().into_string().ok()?;
                    Some((thread, run_time(&task.path())?))
                })
                .collect(),
        )
    }

    /// Microseconds that the threads which still live have used since.
    pub(crate) fn elapsed_micros(&self) -> f64 {
        let nanos: u64 = Self::now()
            .0
            .iter()
            .map(|(thread, now)| now.saturating_sub(self.0.get(thread).copied().unwrap_or(0)))
            .sum();
        micros(nanos)
    }
}

fn run_time(task: &Path) -> Option<u64> {
    fs::read_to_string(task.join("schedstat")).ok()?.split(' ').next()?.parse().ok()
}

#[allow(clippy::cast_precision_loss, reason = "2^53 nanoseconds are a hundred days")]
fn micros(nanos: u64) -> f64 {
    nanos as f64 / 1_000.0
}

/// The machine's load over 1, 5 and 15 minutes.
pub(crate) fn load_average() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').take(3).collect::<Vec<_>>().join(" ")
}
