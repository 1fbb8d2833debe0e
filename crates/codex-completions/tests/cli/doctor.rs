//! `doctor`, and what it finds.

use testkit::write_script;

use crate::user::{User, err, out};

#[tokio::test]
async fn doctor_says_what_is_well_and_what_to_do() {
    let user = User::new().await;
    let output = user.run(&["doctor", "--port", "0"]);
    assert!(output.status.success(), "{}", out(&output));
    let lines = out(&output);
    assert_eq!(lines.lines().filter(|line| line.starts_with("ok ")).count(), 6, "{lines}");
    assert!(lines.contains("note  nobody is signed in: only the model demo works"), "{lines}");

    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = user.run(&["doctor", "--port", &port]);
    assert_eq!(output.status.code(), Some(1));
    assert!(out(&output).contains("choose another port"), "{}", out(&output));
}

#[tokio::test]
async fn an_old_or_missing_codex_is_named() {
    let mut user = User::new().await;
    user.codex = user.folder.path().join("codex");
    let missing = user.run(&["ask", "x"]);
    assert!(err(&missing).contains("no Codex at"), "{}", err(&missing));

    write_script(&user.codex, "echo codex-cli 0.1.0");
    let old = user.run(&["doctor", "--port", "0"]);
    assert_eq!(old.status.code(), Some(1));
    assert!(out(&old).contains("too old: 0.166.0 or newer is needed"), "{}", out(&old));
}
