//! A short time under fire: `bench/under-fire` does the same for longer.

use std::path::Path;
use std::process::Command;

use testkit::{codex_binary, workspace_program};

/// Runs it, and shows what it tells.
fn fire(codex: &Path, options: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_under-fire"))
        .arg("--server")
        .arg(workspace_program("codex-completions"))
        .arg("--codex")
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
    fire(&workspace_program("scripted-app-server"), &["--minutes", "0.05", "--streams", "60"]);
}

#[tokio::test]
async fn eight_clients_of_the_real_codex() {
    let codex = codex_binary().await;
    fire(codex.path(), &["--real", "--minutes", "0.05", "--streams", "8"]);
}
