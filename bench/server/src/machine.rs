//! What a report says about the machine and the programs behind its figures.

use std::fs;
use std::process::Command;

/// The machine in a few words.
pub fn name() -> String {
    let cores = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let count = cores.lines().filter(|line| line.starts_with("processor")).count();
    let name = cores.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    format!("{count} cores of {}", name.trim_start_matches([' ', '\t', ':']))
}

/// How many processes wanted to run in the last minute, on average.
pub fn load_average() -> f64 {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or_default()
}

/// What a program says first.
pub fn first_line(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let said = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    said.unwrap_or_default().lines().next().unwrap_or_default().to_owned()
}
