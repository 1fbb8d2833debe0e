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
