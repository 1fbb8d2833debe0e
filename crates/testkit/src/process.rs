//! Processes, looked at from outside.

use std::process::Command;

/// Whether a process is there and does something.
pub fn is_running(pid: u32) -> bool {
    // A dead process that nobody has waited for is still listed, as a zombie.
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().starts_with(" Z"))
}

/// Sends a signal, named as `kill` takes it.
///
/// # Panics
/// If there is no such process.
#[allow(clippy::expect_used, reason = "a test that cannot signal cannot go on")]
pub fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args([name, &pid.to_string()]).status().expect("kill runs");
    assert!(sent.success(), "no {name} to process {pid}");
}

/// Memory of a process that is in RAM.
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
