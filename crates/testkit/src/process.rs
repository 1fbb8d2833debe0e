//! Processes, looked at from outside.

use std::ops::{Deref, DerefMut};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::until;

/// The kernel counts processor time for others in hundredths of a second.
const TICK: Duration = Duration::from_millis(10);

/// What some processes take together. Those that are gone take nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Footprint {
    /// Memory that is in RAM, in the kernel's kilobytes: [`megabytes`] makes real ones of them.
    pub resident_kilobytes: u64,
    /// File descriptors.
    pub files: usize,
    /// Threads.
    pub threads: usize,
    /// Processor time since their start.
    pub processor: Duration,
}

/// A process that is killed when this is dropped, and its children of ours with it.
pub struct KilledOnDrop(pub Child);

// === impl KilledOnDrop ===

impl Deref for KilledOnDrop {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for KilledOnDrop {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for KilledOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

// === impl Footprint ===

impl Footprint {
    /// Of these processes, without what they have started.
    pub fn of(pids: &[u32]) -> Self {
        pids.iter().fold(Self::default(), |sum, &pid| {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
            let resident =
                resident.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
            let files = std::fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count);
            Self {
                resident_kilobytes: sum.resident_kilobytes + resident.unwrap_or(0_u64),
                files: sum.files + files,
                threads: sum.threads + threads(pid),
                processor: sum.processor + processor_time_of(pid),
            }
        })
    }
}

/// Whether a process is there and does something.
pub fn is_running(pid: u32) -> bool {
    // A dead process that nobody has waited for is still listed, as a zombie.
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().starts_with(" Z"))
}

/// Waits until none of these processes is there.
pub async fn until_gone(pids: &[u32]) {
    let what = format!("the end of the processes {pids:?}");
    until(&what, async || !pids.iter().any(|pid| is_running(*pid))).await;
}

/// Sends a signal, named as `kill` takes it.
///
/// # Panics
/// If there is no such process.
pub fn signal(pid: u32, name: &str) {
    assert!(send_signal(pid, name), "no {name} to process {pid}");
}

/// Sends a signal, and returns whether the process was there.
pub fn send_signal(pid: u32, name: &str) -> bool {
    let mut kill = Command::new("kill");
    kill.args([name, &pid.to_string()]).stderr(Stdio::null());
    kill.status().is_ok_and(|status| status.success())
}

/// Kills a process and everything else of its group.
///
/// # Panics
/// If there is no such process.
#[allow(clippy::expect_used, reason = "a test that cannot signal cannot go on")]
pub fn kill_group(pid: u32) {
    let group = format!("-{}", process_group(pid));
    let sent = Command::new("kill").args(["-KILL", "--", &group]).status().expect("kill runs");
    assert!(sent.success(), "no group {group}");
}

/// The process group of a process.
///
/// # Panics
/// If there is no such process.
#[allow(clippy::expect_used, reason = "a test that cannot look cannot go on")]
pub fn process_group(pid: u32) -> u32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("a process");
    let (_, fields) = stat.rsplit_once(") ").expect("the name in brackets");
    // State, parent and group follow the name.
    fields.split(' ').nth(2).and_then(|group| group.parse().ok()).expect("a number")
}

/// Everything that a process has started, and what that has started.
pub fn descendants(pid: u32) -> Vec<u32> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists =
        threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    let children: Vec<u32> = lists
        .flat_map(|list| {
            list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>()
        })
        .collect();
    let below: Vec<u32> = children.iter().flat_map(|child| descendants(*child)).collect();
    children.into_iter().chain(below).collect()
}

/// The children of Codex that a server has, real or scripted, without the shells that started them.
pub fn codex_children(server: u32) -> Vec<u32> {
    let is_codex = |pid: &u32| {
        let program = std::fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
        let name = program.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        // A child that does not run its own program yet is still a copy of the server.
        name == "scripted-app-server"
            || name.starts_with("codex") && !name.starts_with("codex-completions")
    };
    descendants(server).into_iter().filter(is_codex).collect()
}

/// The kernel's kilobytes, which are 1,024 bytes each, as megabytes, which are a million.
#[allow(clippy::cast_precision_loss, reason = "figures for people")]
pub fn megabytes(kilobytes: u64) -> f64 {
    kilobytes as f64 * 1.024 / 1_000.0
}

/// Memory of a process that is in RAM, in the kernel's kilobytes.
///
/// # Panics
/// If there is no such process.
#[allow(clippy::expect_used, reason = "a test that cannot look cannot go on")]
pub fn resident_kilobytes(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// How many file descriptors a process holds.
///
/// # Panics
/// If there is no such process.
#[allow(clippy::expect_used, reason = "a test that cannot look cannot go on")]
pub fn open_files(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).expect("a process").count()
}

/// How many threads a process has; 0 if it is gone.
pub fn threads(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count)
}

/// Processor time of a process and of its children that have gone; nothing if it is gone itself.
pub fn processor_time_of(pid: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let Some((_, fields)) = stat.rsplit_once(") ") else { return Duration::ZERO };
    // User and system time, of the process itself and of its children.
    let ticks = fields.split(' ').skip(11).take(4).map(str::parse::<u32>);
    TICK * ticks.sum::<Result<u32, _>>().unwrap_or_default()
}

/// How many sockets a process holds.
///
/// # Panics
/// If there is no such process.
#[allow(clippy::expect_used, reason = "a test that cannot look cannot go on")]
pub fn open_sockets(pid: u32) -> usize {
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).expect("a process").flatten();
    let targets = files.filter_map(|file| std::fs::read_link(file.path()).ok());
    targets.filter(|target| target.to_string_lossy().starts_with("socket:")).count()
}

/// Processor time of this process, and of its children that have gone.
///
/// # Panics
/// If the kernel does not tell.
#[allow(clippy::expect_used, reason = "a test that cannot measure cannot go on")]
pub fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("a list of counters");
    let (_, fields) = stat.rsplit_once(") ").expect("the name in brackets");
    // User and system time, of the process itself and of its children.
    let ticks = fields.split(' ').skip(11).take(4).map(str::parse::<u32>);
    TICK * ticks.sum::<Result<u32, _>>().expect("numbers")
}
