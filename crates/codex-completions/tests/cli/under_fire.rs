//! A short time under fire: `scripts/under-fire` does the same for longer.

use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::codex_binary;

const SERVER: &str = env!("CARGO_BIN_EXE_codex-completions");

/// A program of the workspace that is built beside ours.
fn beside(name: &str) -> PathBuf {
    let program = Path::new(SERVER).with_file_name(name);
    assert!(program.exists(), "{name} is not built: cargo build -p testkit --bins");
    program
}

/// Runs it, and shows what it tells.
fn fire(codex: &Path, options: &[&str]) {
    let output = Command::new(beside("under-fire"))
        .args(["--server", SERVER, "--codex"])
        .arg(codex)
        .args(options)
        .output()
        .unwrap();
    println!("{}", String::from_utf8_lossy(&output.stdout));
    println!("{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success());
}

#[test]
fn sixty_clients_and_a_child_that_is_killed() {
    fire(&beside("scripted-app-server"), &["--minutes", "0.15", "--streams", "60"]);
}

#[tokio::test]
async fn eight_clients_of_the_real_codex() {
    let codex = codex_binary().await;
    fire(codex.path(), &["--real", "--minutes", "0.15", "--streams", "8"]);
}
