//! The crates that are pure by contract: their dependencies lead nowhere, and clippy refuses what
//! the standard library has of the outside.

use std::path::Path;
use std::process::Command;

use crate::sources;

const PURE: [&str; 5] = ["bridge", "capture", "model-turn", "openai-wire", "tool-call-aggregator"];

/// What leads outside: tasks, sockets, databases, processes, random numbers, logs.
const OUTSIDE: [&str; 11] = [
    "fastrand",
    "getrandom",
    "hyper",
    "log",
    "mio",
    "process-wrap",
    "rand",
    "rusqlite",
    "rustix",
    "tokio",
    "tracing",
];

#[test]
fn pure_crates_reach_nothing_of_the_outside() {
    for package in PURE {
        let reached = reached_by(package);
        assert!(reached.iter().any(|name| name == package), "{reached:?}");
        let outside: Vec<_> =
            reached.iter().filter(|name| OUTSIDE.contains(&name.as_str())).collect();
        assert!(outside.is_empty(), "{package} reaches {outside:?}");
    }
}

#[test]
fn clippy_knows_which_crates_are_pure() {
    let rules = sources::read("crates/model-turn/clippy.toml");
    assert!(rules.contains("\"std::time::Instant::now\""));
    for package in PURE {
        assert_eq!(sources::read(&format!("crates/{package}/clippy.toml")), rules, "{package}");
    }
}

/// The packages that are part of a package when it is built, itself included.
fn reached_by(package: &str) -> Vec<String> {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--offline", "--edges", "normal", "--prefix", "none"])
        .args(["--all-features", "--format", "{p}", "--package", package])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .output()
        .expect("cargo runs");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let text = String::from_utf8(tree.stdout).expect("cargo writes text");
    text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}
