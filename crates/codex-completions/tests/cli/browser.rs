//! A real browser at the page of a running server. The programs that drive it are in `tests/browser` at
//! the root; each of them makes its own checks.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the server takes from its owner.
pub(crate) const KEY: &str = "the-key-of-the-owner";

/// Runs a program of `tests/browser` to its end, and `grant`s it what it asks for meanwhile: it gives the
/// program the line that it gets back.
pub(crate) fn drive(program: &str, address: &str, mut grant: impl FnMut(&str) -> String) {
    let home = tempfile::tempdir().unwrap();
    // Nothing of our environment may change the browser.
    let mut running = Command::new("node")
        .arg(root().join("tests/browser").join(program))
        .env_clear()
        .envs(["PATH", "SCREENSHOT"].map(|name| (name, std::env::var_os(name).unwrap_or_default())))
        .env("HOME", home.path())
        .env("CHROMIUM", chromium())
        .env("ORIGIN", format!("http://{address}"))
        .env("KEY", KEY)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut answers = running.stdin.take().unwrap();
    let mut said = String::new();
    for line in BufReader::new(running.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        if let Some(wish) = line.strip_prefix("? ") {
            writeln!(answers, "{}", grant(wish)).unwrap();
        }
        said = said + &line + "\n";
    }
    assert!(running.wait().unwrap().success(), "{program}\n{said}");
}

/// The browser, which is installed if need be.
fn chromium() -> String {
    let output = Command::new(root().join("scripts/install-browser")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
