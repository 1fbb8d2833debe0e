//! The crates that are pure by contract.

use crate::sources;

/// What leads outside: files, sockets, processes, clocks, random numbers, logs, tasks, globals.
const OUTSIDE: [&str; 16] = [
    "std::fs",
    "std::net",
    "std::process",
    "std::env",
    "std::thread",
    "Instant::now",
    "SystemTime",
    "tokio::",
    "async fn",
    "rand::",
    "fastrand",
    "getrandom",
    "tracing::",
    "thread_local!",
    "LazyLock",
    "OnceLock",
];

#[test]
fn pure_crates_use_nothing_of_the_outside() {
    let pure = ["tool-call-aggregator", "openai-wire", "bridge", "capture"];
    let sources = sources::all();
    for package in pure {
        let files: Vec<_> = sources.iter().filter(|source| source.package == package).collect();
        assert!(files.len() > 5, "{package}");
        for file in files {
            let code = file.shipped().lines().filter(|line| !line.trim_start().starts_with("//"));
            for line in code {
                let found = OUTSIDE.iter().find(|word| line.contains(**word));
                assert_eq!(found, None, "{package}: {}: {line}", file.path);
            }
        }
    }
}
