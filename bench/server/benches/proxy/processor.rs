//! Which cores are used, and what a process has used of them.

use std::fs;
use std::process::Command;
use std::sync::OnceLock;

/// The unit of user time, in microseconds.
pub(crate) const TICK: f64 = 10_000.0;

/// The cores that were allowed when we were started, as the kernel lists them.
static ALLOWED: OnceLock<String> = OnceLock::new();

/// Which cores this process and those it starts from now on run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cores {
    /// Everything on one core: what is measured is work, and not the waking of another core.
    One,
    /// All that were allowed at first.
    All,
}

/// Processor time of a process, in microseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessorTime {
    pub(crate) total: f64,
    /// The part outside the kernel, which is sampled in ticks: few of them say little. The kernel tells
    /// of no finer one.
    pub(crate) user: f64,
}

// === impl Cores ===

impl Cores {
    pub(crate) fn pin(self) {
        let allowed = ALLOWED.get_or_init(allowed).as_str();
        let cores = match self {
            Self::One => allowed.split(['-', ',']).next().unwrap_or(allowed),
            Self::All => allowed,
        };
        let this = std::process::id().to_string();
        let pinned = Command::new("taskset").args(["-a", "-p", "-c", cores, &this]).output();
        assert!(pinned.is_ok_and(|output| output.status.success()), "taskset is needed");
    }
}

/// The cores that this process may use, such as `0-1,4`: a container may not have the first.
fn allowed() -> String {
    let status = fs::read_to_string("/proc/self/status").expect("no status of this process");
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.expect("no list of cores").trim().to_owned()
}

// === impl ProcessorTime ===

impl ProcessorTime {
    /// What a process has used so far.
    pub(crate) fn of(process: u32) -> Self {
        let tasks = fs::read_dir(format!("/proc/{process}/task")).expect("no list of threads");
        let run_times = tasks.filter_map(|task| {
            let times = fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
            times.split(' ').next()?.parse::<f64>().ok()
        });
        Self { total: run_times.sum::<f64>() / 1_000.0, user: user_time(process) }
    }

    /// What was used since then.
    pub(crate) fn since(self, before: Self) -> Self {
        Self { total: self.total - before.total, user: self.user - before.user }
    }
}

/// As the kernel tells it, in whole ticks.
fn user_time(process: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).expect("no such process");
    let (_, fields) = stat.rsplit_once(") ").expect("the name in brackets");
    let ticks: f64 = fields.split(' ').nth(11).and_then(|ticks| ticks.parse().ok()).expect("ticks");
    ticks * TICK
}

/// The machine's load over 1, 5 and 15 minutes.
pub(crate) fn load_average() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').take(3).collect::<Vec<_>>().join(" ")
}
