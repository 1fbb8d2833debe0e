//! `login`, `logout` and `status`.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use testkit::process::signal;
use testkit::{Consent, Routing, ScriptedIssuer, blocking_until, browse};

use crate::server::Server;
use crate::user::{User, err, out};

#[tokio::test]
async fn an_api_key_signs_in_and_a_running_server_takes_it_up() {
    let user = User::new().await;
    let server = Server::start(&user, &[]);
    let before = server.children();
    let status = user.run(&["status"]);
    assert!(status.status.success() && out(&status).starts_with("Nobody is signed in"));
    let nobody = user.run(&["ask", "hello"]);
    assert_eq!(nobody.status.code(), Some(1));
    assert!(err(&nobody).starts_with("error: not signed in to Codex"), "{}", err(&nobody));

    let login = user.type_in(&["login", "--with-api-key"], "sk-of-the-user\n");
    assert_eq!((out(&login).as_str(), err(&login).as_str()), ("Signed in with an API key.\n", ""));
    let status = user.run(&["status", "--json"]);
    let status: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(status["account"]["type"], "api_key");
    let doctor = user.run(&["doctor", "--port", "0"]);
    assert!(out(&doctor).contains("ok    signed in with an API key\n"), "{}", out(&doctor));
    blocking_until("another child", || server.children().iter().any(|it| !before.contains(it)));

    assert_eq!(out(&user.run(&["logout"])), "Signed out.\n");
    assert_eq!(out(&user.run(&["logout"])), "Nobody was signed in.\n");
    let empty = user.type_in(&["login", "--with-api-key"], "\n");
    assert!(err(&empty).contains("standard input holds no API key"), "{}", err(&empty));
}

/// Reads what a login asks the user to do, up to the line that says that it waits.
fn prompt_of(login: &mut Child) -> String {
    let lines = BufReader::new(login.stdout.as_mut().unwrap()).lines();
    let mut prompt = String::new();
    for line in lines.map_while(Result::ok) {
        prompt = prompt + &line + "\n";
        if line.starts_with("Waiting") {
            break;
        }
    }
    prompt
}

// The issuer lives in this process, next to commands that are waited for: hence several threads.
#[tokio::test(flavor = "multi_thread")]
async fn a_device_code_signs_in() {
    let (user, issuer) = (User::new().await, ScriptedIssuer::start().await);
    let login = user.command_at(&issuer, &["login"]).output().unwrap();
    assert!(login.status.success(), "{}", err(&login));
    let said = out(&login);
    assert!(said.contains(&format!("  {}/codex/device\n", issuer.url())), "{said}");
    assert!(said.contains("Then enter this code"), "{said}");
    assert!(said.lines().last().unwrap().starts_with("Signed in as "), "{said}");

    let status = user.command_at(&issuer, &["status", "--refresh"]).output().unwrap();
    let said = out(&status);
    assert!(said.starts_with("Signed in as ") && said.contains("(plan "), "{said}");
    assert_eq!(said.matches(" % of the allowance of ").count(), 2, "{said}");
    assert!(said.contains("used, reset in "), "{said}");
    let json = user.command_at(&issuer, &["status", "--json"]).output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!((&json["signed_in"], &json["account"]["type"]), (&true.into(), &"chatgpt".into()));
    assert!(json["rate_limits"]["primary"]["used_percent"].is_u64(), "{json}");

    let logout = user.command_at(&issuer, &["logout"]).output().unwrap();
    assert_eq!(out(&logout), "Signed out.\n", "{}", err(&logout));
    assert_eq!(issuer.requests_at("/oauth/revoke").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_that_fails_says_why() {
    let (user, issuer) = (User::new().await, ScriptedIssuer::start().await);
    let login = || user.command_at(&issuer, &["login", "--device-code"]).output().unwrap();
    issuer.change(|script| script.consent = Consent::Denied);
    let denied = login();
    assert_eq!(denied.status.code(), Some(1));
    assert!(err(&denied).starts_with("error: device auth failed"), "{}", err(&denied));

    issuer.change(|script| (script.consent, script.routing) = (Consent::Given, Routing::Fails));
    let lost = login();
    assert_eq!(lost.status.code(), Some(1));
    assert!(err(&lost).contains("workspace routing discovery failed"), "{}", err(&lost));
    let doctor = user.command_at(&issuer, &["doctor", "--port", "0"]).output().unwrap();
    let words = "the account cannot be looked up: workspace routing discovery failed";
    assert!(out(&doctor).contains(&format!("FAIL  signed in, but {words}")), "{}", out(&doctor));
    let status = user.command_at(&issuer, &["status"]).output().unwrap();
    assert!(status.status.success() && out(&status).contains(words), "{}", out(&status));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_can_be_given_up() {
    let (user, issuer) = (User::new().await, ScriptedIssuer::start().await);
    issuer.change(|script| script.consent = Consent::Pending);
    let mut login = user
        .command_at(&issuer, &["login", "--device-code"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let prompt = prompt_of(&mut login);
    assert!(prompt.ends_with("Waiting … (Ctrl-C gives up)\n"), "{prompt}");
    signal(login.id(), "-INT");
    let login = login.wait_with_output().unwrap();
    assert_eq!(login.status.code(), Some(1));
    assert_eq!(err(&login), "error: given up: nobody was signed in\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_signs_in() {
    let (user, issuer) = (User::new().await, ScriptedIssuer::start().await);
    let mut login =
        user.command_at(&issuer, &["login", "--browser"]).stdout(Stdio::piped()).spawn().unwrap();
    let prompt = prompt_of(&mut login);
    let url = prompt.lines().find(|line| line.starts_with("  http")).unwrap().trim();
    assert_eq!(browse(url).await.status, 200);
    let login = login.wait_with_output().unwrap();
    assert!(login.status.success());
}

/// The server is killed during a sign-in: what that has left is gone after the next start.
#[tokio::test(flavor = "multi_thread")]
async fn row_21_what_a_sign_in_leaves_after_a_crash_is_removed_at_the_next_start() {
    let (user, issuer) = (User::new().await, ScriptedIssuer::start().await);
    issuer.change(|script| script.routing = Routing::Waits);
    let serve = || {
        let mut command = user.command_at(&issuer, &["serve", "--port", "0"]);
        command.env("PROXY_API_KEY", "sk-of-the-owner");
        Server::spawn(command)
    };
    let homes = || {
        let entries = std::fs::read_dir(user.folder.path().join("codex-home")).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let is_one = |path: &PathBuf| path.to_string_lossy().contains("/sign-in-");
        paths.filter(is_one).collect::<Vec<_>>()
    };
    let server = serve();
    let lines = ["authorization: Bearer sk-of-the-owner", "content-type: application/json"];
    let begun = server.send("POST /v1/proxy/login", &lines, r#"{"method": "device_code"}"#);
    assert!(begun.contains(r#""state":"waiting""#), "{begun}");
    // Codex has written the tokens, and looks up the account.
    issuer.until_asked("/accounts/check", 1).await;
    drop(server);
    assert!(homes()[0].join("auth.json").exists());
    let server = serve();
    assert_eq!(homes(), Vec::<PathBuf>::new());
    drop(server);
}
