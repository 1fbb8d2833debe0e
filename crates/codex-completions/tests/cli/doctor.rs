//! `doctor`, and what it finds.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use testkit::{ScriptedIssuer, write_script};

use crate::server::Server;
use crate::user::{User, err, out};

#[tokio::test]
async fn doctor_says_what_is_well_and_what_to_do() {
    let user = User::new().await;
    let output = user.run(&["doctor", "--port", "0"]);
    assert!(output.status.success(), "{}", out(&output));
    let lines = out(&output);
    assert_eq!(lines.lines().filter(|line| line.starts_with("ok ")).count(), 8, "{lines}");
    let early = "ok    arguments of tool calls are streamed as the model writes them\n";
    assert!(lines.contains(early), "{lines}");
    let nobody = "note  nobody is signed in: only the model demo works\n      fix: `";
    assert!(lines.contains(nobody) && lines.contains("login` signs you in\n"), "{lines}");

    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = user.run(&["doctor", "--port", &port]);
    assert_eq!(output.status.code(), Some(1));
    assert!(out(&output).contains("\n      fix: choose another port"), "{}", out(&output));
}

// The issuer lives in this process, next to commands that are waited for: hence several threads.
#[tokio::test(flavor = "multi_thread")]
async fn row_24_doctor_names_the_message_that_codex_adds_for_an_account() {
    let (user, issuer) = (User::new().await, ScriptedIssuer::start().await);
    assert!(user.command_at(&issuer, &["login"]).output().unwrap().status.success());
    for enabled in [false, true] {
        issuer.change(|script| script.commit_attribution = enabled);
        let output = user.command_at(&issuer, &["doctor", "--port", "0"]).output().unwrap();
        let lines = out(&output);
        assert!(output.status.success() && lines.contains("canary turn after "), "{lines}");
        let note = "note  this account has Codex add a message about the attribution of commits to every prompt\n";
        assert_eq!(lines.contains(note), enabled, "{lines}");
    }
}

#[tokio::test]
async fn doctor_knows_its_own_server_and_its_files() {
    let user = User::new().await;
    let server = Server::start(&user, &[]);
    let (_, port) = server.address.rsplit_once(':').unwrap();
    let output = user.run(&["doctor", "--port", port]);
    let lines = out(&output);
    assert!(output.status.success(), "{lines}");
    let data = user.folder.path();
    for expected in [
        format!("ok    data folder {} is for you alone\n", data.display()),
        format!("ok    the key is in {}\n", data.join("api-key").display()),
        format!("ok    port {port} is our own server, which is ready\n"),
        format!("ok    the page answers at http://127.0.0.1:{port}/\n"),
    ] {
        assert!(lines.contains(&expected), "{expected}: {lines}");
    }
    assert!(lines.contains(" can be used\n"), "the database: {lines}");

    let with_another_key =
        user.command(&["doctor", "--port", port]).env("PROXY_API_KEY", "sk-x").output();
    let lines = out(&with_another_key.unwrap());
    let expected = format!("note  port {port} is a server of ours that takes another key\n");
    assert!(lines.contains(&expected), "{lines}");
    // With another data folder it cannot be distinguished from any other program.
    let lines = out(&User::new().await.run(&["doctor", "--port", port]));
    assert!(lines.contains(&format!("FAIL  127.0.0.1:{port} is in use")), "{lines}");
    // Who starts it twice finds the first one.
    let again = user.run(&["serve", "--port", port]);
    let expected = format!("is running there already: its page is http://127.0.0.1:{port}/");
    assert_eq!(again.status.code(), Some(1));
    assert!(err(&again).contains(&expected), "{}", err(&again));
    drop(server);

    std::fs::set_permissions(data, Permissions::from_mode(0o755)).unwrap();
    std::fs::write(data.join("api-key"), "short\n").unwrap();
    let output = user.run(&["doctor", "--port", "0"]);
    let lines = out(&output);
    assert_eq!(output.status.code(), Some(1), "{lines}");
    let open = format!("is open to other users\n      fix: chmod 700 '{}'\n", data.display());
    assert!(lines.contains(&open), "{lines}");
    assert!(lines.contains("      fix: remove that file, then `"), "{lines}");
}

#[tokio::test]
async fn status_tells_of_the_server() {
    let user = User::new().await;
    let server = Server::start(&user, &[]);
    let address = server.address.clone();
    let (_, port) = address.rsplit_once(':').unwrap();
    let status = |port: &str, more: &[&str]| {
        let mut command = user.command(&[&["status"], more].concat());
        command.env("PORT", port).output().unwrap()
    };
    let said = out(&status(port, &[]));
    let url = format!("http://127.0.0.1:{port}");
    let ready = format!("The server at {url}/v1 is ready. Its page is {url}/\n");
    assert!(said.ends_with(&ready), "{said}");
    let json: Value = serde_json::from_slice(&status(port, &["--json"]).stdout).unwrap();
    let expected = json!({
        "base_url": format!("{url}/v1"), "page": format!("{url}/"), "running": true, "ready": true, "reason": null,
    });
    assert_eq!(json["server"], expected);
    drop(server);
    let said = out(&status(port, &[]));
    assert!(said.contains(&format!("No server runs at {url}/v1; `")), "{said}");
    assert!(!out(&status("0", &[])).contains("server"));
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
    let mut command = user.command(&["doctor", "--port", "0"]);
    let without_npm = command.env("PATH", "/nowhere").output().unwrap();
    let fix =
        "      fix: install Node.js (https://nodejs.org), which brings npm, then: npm install ";
    assert!(out(&without_npm).contains(fix), "{}", out(&without_npm));
}
