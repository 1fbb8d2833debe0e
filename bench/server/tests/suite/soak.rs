//! A short soak: `bench/soak` does the same for an hour.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;
use testkit::process::{descendants, signal, until_gone};
use testkit::{codex_binary, workspace_program};

fn soak(options: &[&str], folder: &TempDir) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_soak"))
        .args(options)
        .arg("--folder")
        .arg(folder.path())
        .output()
        .unwrap();
    println!("{}", String::from_utf8_lossy(&output.stdout));
    println!("{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn record(folder: &TempDir) -> PathBuf {
    std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path()
}

/// Long enough that every kind of turn comes, and that the record tells of it; a record in which an
/// answer was wrong, or that was cut off, is reported as what it is.
#[tokio::test]
async fn a_short_run_is_right_and_its_record_tells_the_same() {
    let codex = codex_binary().await;
    let folder = tempfile::tempdir().unwrap();
    let codex = codex.path().to_str().unwrap();
    let server = workspace_program("codex-completions");
    let mut run = vec!["--server", server.to_str().unwrap(), "--codex", codex];
    run.extend(["--minutes", "0.3", "--rate", "10", "--seed", "2"]);
    let output = soak(&run, &folder);
    assert!(output.status.success());
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains(" 0 wrong"), "{told}");
    let record = record(&folder);
    let lines = std::fs::read_to_string(&record).unwrap();
    for how in ["fresh", "reused", "resumed"] {
        assert!(lines.contains(&format!("\"continuity\":\"{how}\"")), "{how}");
    }

    let document = folder.path().join("soak.md");
    std::fs::write(&document, "# A\n<!-- soak: written by the run -->\n<!-- end -->\nZ\n").unwrap();
    let from = |document: &Path| {
        let (record, document) = (record.to_str().unwrap(), document.to_str().unwrap());
        soak(&["--report-from", record, "--report", document], &folder)
    };
    assert!(from(&document).status.success());
    let written = std::fs::read_to_string(&document).unwrap();
    assert!(written.starts_with("# A\n") && written.ends_with("Z\n"), "{written}");
    assert!(written.contains(told.trim()), "{written}");
    assert!(folder.path().join("soak-memory.svg").exists());

    let (cut_off, _) = lines.split_once("{\"end\":").unwrap();
    std::fs::write(&record, cut_off).unwrap();
    assert_eq!(from(&document).status.code(), Some(1));
    let written = std::fs::read_to_string(&document).unwrap();
    assert!(written.contains(" 0 wrong") && written.contains("cut off"), "{written}");

    let wrong = lines.replace("{\"end\":", "{\"wrong\":\"another text\"}\n{\"end\":");
    std::fs::write(&record, wrong).unwrap();
    assert_eq!(from(&document).status.code(), Some(1));
    let written = std::fs::read_to_string(&document).unwrap();
    assert!(written.contains(" 1 wrong") && written.contains("another text"), "{written}");
    assert!(!written.contains("cut off"), "{written}");
}

/// Whoever ends a soak need not look for its server afterwards.
#[tokio::test]
async fn a_run_that_is_cut_off_stops_its_server_and_has_not_passed() {
    let codex = codex_binary().await;
    let folder = tempfile::tempdir().unwrap();
    let mut run = Command::new(env!("CARGO_BIN_EXE_soak"))
        .arg("--server")
        .arg(workspace_program("codex-completions"))
        .args(["--codex", codex.path().to_str().unwrap(), "--minutes", "5"])
        .arg("--folder")
        .arg(folder.path())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The first line comes when the server is there.
    let mut said = BufReader::new(run.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert!(line.contains("the record is"), "{line}");
    let started = descendants(run.id());
    assert!(started.len() > 2, "a model, a server and its Codex: {started:?}");
    signal(run.id(), "-TERM");
    said.read_to_string(&mut line).unwrap();
    println!("{line}");
    assert_eq!(run.wait().unwrap().code(), Some(1));
    assert!(line.contains("cut off") && line.contains("--report-from"), "{line}");
    until_gone(&started).await;
}
