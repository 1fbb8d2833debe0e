//! Which cores are used, and what a process has used of them.

use std::fs;
use std::process::Command;

/// Which cores this process and those it starts from now on run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cores {
    /// Everything on one core: what is measured is work, and not the waking of another core.
    One,
    All,
}

/// Processor time of a process, in microseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessorTime {
    pub(crate) total: f64,
    /// The part outside the kernel, which is sampled and so needs a second or more to be exact.
    pub(crate) user: f64,
}

// === impl Cores ===

impl Cores {
    pub(crate) fn pin(self) {
        let cores = match self {
            Self::One => "0".to_owned(),
            Self::All => format!("0-{}", count() - 1),
        };
        let this = std::process::id().to_string();
        let pinned = Command::new("taskset").args(["-a", "-p", "-c", &cores, &this]).output();
        assert!(pinned.is_ok_and(|output| output.status.success()), "taskset is needed");
    }
}

/// Cores of the machine, wherever we run.
fn count() -> usize {
    let cores = fs::read_to_string("/proc/cpuinfo").expect("no list of cores");
    cores.lines().filter(|line| line.starts_with("processor")).count()
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

/// In hundredths of a second, as the kernel tells it.
fn user_time(process: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).expect("no such process");
    let (_, fields) = stat.rsplit_once(") ").expect("the name in brackets");
    let ticks: f64 = fields.split(' ').nth(11).and_then(|ticks| ticks.parse().ok()).expect("ticks");
    ticks * 10_000.0
}

/// The machine's load over 1, 5 and 15 minutes.
pub(crate) fn load_average() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').take(3).collect::<Vec<_>>().join(" ")
}
