//! Row 23: a terminal gets no control characters from models, upstreams, servers or files; a pipe gets everything.

mod hostile;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use testkit::process::signal;
use testkit::{IssuedAccount, ScriptedIssuer};

use crate::server::Server;
use crate::terminal::Terminal;
use crate::user::{User, err, out};
use hostile::{HostileServer, is_forbidden, visible, with_nul};

/// The columns of the terminal.
const WIDTH: usize = 100;

/// Our own sequences, of which hostile texts have none.
const OURS: &[&str] = &[
    "[0m",
    "[1m",
    "[2m",
    "[3m",
    "[31m",
    "[32m",
    "[33m",
    "[1m\u{1b}[31m",
    "[4m",
    "[36m",
    "[K",
    "[H",
    "[J",
    "[?25l",
    "[?25h",
    "[?1049h",
    "[?1049l",
    "[?7l",
    "[?7h",
];

/// Gives a command a terminal without colours, so that no control character on it is ours.
fn plain_terminal(command: &mut Command) -> Terminal {
    let terminal = Terminal::of(command);
    command.env("NO_COLOR", "1").env("TERM", "dumb").env_remove("CLICOLOR_FORCE");
    terminal
}

/// What a command leaves on a terminal.
fn on_terminal(mut command: Command) -> String {
    let terminal = plain_terminal(&mut command);
    shown(command, terminal)
}

fn shown(mut command: Command, terminal: Terminal) -> String {
    let mut process = command.spawn().unwrap();
    drop(command);
    let said = terminal.read_to_end();
    process.wait().unwrap();
    said
}

/// The same with a file as standard input.
fn typed_on_terminal(mut command: Command, words: &Path) -> String {
    let terminal = plain_terminal(&mut command);
    command.stdin(File::open(words).unwrap());
    shown(command, terminal)
}

fn assert_harmless(said: &str) {
    let found = said.find(is_forbidden);
    let around = found.map(|at| &said[at..]);
    assert_eq!(around.map(|rest| rest.chars().take(40).collect::<String>()), None, "{said:?}");
}

/// Without our own sequences.
fn without_ours(said: &str) -> String {
    let remove = |said: String, ours: &&str| said.replace(&format!("\u{1b}{ours}"), "");
    OURS.iter().fold(said.to_owned(), remove)
}

/// Harmless, and nothing is missing.
fn assert_shown(said: &str, text: &str) {
    assert_harmless(said);
    assert!(said.contains(&visible(text)), "{said:?}");
}

fn file(user: &User, name: &str, text: &str) -> PathBuf {
    let path = user.folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// A question for the model that does what the mark says.
fn question(user: &User, mark: &str) -> PathBuf {
    file(user, "question", &format!("{mark}{}", with_nul()))
}

#[tokio::test]
async fn row_23_ask_shows_no_control_characters_of_a_model() {
    let user = User::new().await;
    for mark in ["[[echo]]", "[[echo-chars]]", "[[echo-whole]]", "[[echo-reasoning]]"] {
        let question = question(&user, mark);
        let ask = || user.command(&["ask", "--model", "demo", "-"]);
        assert_shown(&typed_on_terminal(ask(), &question), &with_nul());
        let mut piped = ask();
        let piped = piped.stdin(File::open(&question).unwrap()).output().unwrap();
        assert_eq!(out(&piped), with_nul() + "\n", "{mark}: {}", err(&piped));
    }
    let arguments = json!({"city": hostile::text()}).to_string();
    let call = json!({"name": "get_weather", "arguments": arguments}).to_string();
    // Brackets end a mark.
    let call = call.replace('[', "\\u005b").replace(']', "\\u005d");
    let question = file(&user, "question", &format!("[[items:[{call}]]]"));
    let ask = ["ask", "--model", "demo", "-", "--tool", "get_weather"];
    assert_shown(&typed_on_terminal(user.command(&ask), &question), &arguments);
}

#[tokio::test]
async fn row_23_json_on_a_terminal_is_the_same_json_without_control_characters() {
    let user = User::new().await;
    let question = question(&user, "[[echo]]");
    let ask = |form| user.command(&["ask", "--model", "demo", "-", form]);
    let said = typed_on_terminal(ask("--json"), &question);
    assert_harmless(&said);
    let answer: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(answer["text"], with_nul());
    let said = typed_on_terminal(ask("--raw"), &question);
    assert_harmless(&said);
    let events = said.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let text: String =
        events.filter_map(|event| Some(event["text"].as_str()?.to_owned())).collect();
    assert_eq!(text, with_nul());
    let mut piped = ask("--json");
    let piped = piped.stdin(File::open(&question).unwrap()).output().unwrap();
    assert!(out(&piped).contains(['\u{9b}', '\u{202e}', '\u{7f}']), "{}", out(&piped));
}

#[tokio::test]
async fn row_23_colours_are_ours_and_split_sequences_stay_split() {
    let user = User::new().await;
    let question = question(&user, "[[echo-reasoning]]");
    let mut command = user.command(&["ask", "--model", "demo", "-"]);
    let terminal = Terminal::of(&mut command);
    command.stdin(File::open(question).unwrap());
    let said = shown(command, terminal);
    assert!(said.contains("\u{1b}[2m") && said.contains(&visible(&with_nul())), "{said:?}");
    for rest in said.split('\u{1b}').skip(1) {
        assert!(OURS.iter().any(|ours| rest.starts_with(ours)), "{rest:?}");
    }
    let mut command = user.command(&["doctor", "--port", "0"]);
    let terminal = Terminal::of(&mut command);
    let said = shown(command, terminal);
    assert!(said.contains("\u{1b}[32mok\u{1b}[0m    codex-completions "), "{said:?}");
}

#[tokio::test]
async fn row_23_errors_of_an_upstream_are_harmless() {
    let user = User::new().await;
    let server = HostileServer::start(&user);
    for form in ["--raw", "--json", "--effort=low"] {
        let mut command = user.command(&["ask", "--model", "m", "hello", form]);
        command.env("PROXY_UPSTREAM_BASE_URL", server.base_url());
        command.env("PROXY_UPSTREAM_RETRIES", "0");
        let said = on_terminal(command);
        assert!(said.contains("error: ") && said.contains("\\u001b]52;c;"), "{said:?}");
        assert_harmless(&said);
    }
}

#[tokio::test]
async fn row_23_status_and_doctor_show_no_control_characters_of_a_server() {
    let user = User::new().await;
    let server = HostileServer::start(&user);
    for arguments in [&["status"][..], &["status", "--json"], &["doctor"]] {
        let command = || {
            let mut command = user.command(arguments);
            command.env("PORT", &server.port);
            command
        };
        let said = on_terminal(command());
        assert_harmless(&said);
        assert!(said.contains("\\u001b]52;c;"), "{arguments:?}: {said}");
        let piped = out(&command().output().unwrap());
        let raw = if arguments.len() == 2 { "\u{9b}2J" } else { "\u{1b}]52;c;" };
        assert!(piped.contains(raw), "{arguments:?}: {piped:?}");
    }
}

#[tokio::test]
async fn row_23_top_keeps_its_layout() {
    let user = User::new().await;
    let server = HostileServer::start(&user);
    let base_url = server.base_url();
    let top = ["top", "--base-url", &base_url, "--key", "accepted"];
    let mut command = user.command(&top);
    let mut terminal = Terminal::of(&mut command);
    let mut process = command.spawn().unwrap();
    drop(command);
    terminal.until("upstream: ");
    terminal.until("Ctrl-C leaves");
    signal(process.id(), "-INT");
    process.wait().unwrap();
    // Each line begins at the left edge, whatever the terminal makes of a line end.
    let said = terminal.read_to_end().replace("\r\n", "\n");
    for rest in said.split('\u{1b}').skip(1) {
        assert!(OURS.iter().any(|ours| rest.starts_with(ours)), "{rest:?}");
    }
    let plain = without_ours(&said);
    assert_harmless(&plain);
    assert!(!plain.contains('\t') && plain.contains("\\u001b]52;c;"), "{plain}");
    // A line of the screen is a line of ours, and none is longer than the screen is wide.
    let frame = said.rsplit("\u{1b}[H").next().unwrap().split("\u{1b}[J").next().unwrap();
    let lines: Vec<_> = frame.split("\u{1b}[K").map(|line| line.trim_start_matches('\n')).collect();
    assert!(
        lines.iter().all(|line| line.chars().count() <= WIDTH && !line.contains('\n')),
        "{lines:?}"
    );
    let starts = ["codex-completions ", "turns: ", "upstream: ", "", "STARTED "];
    assert!(lines.iter().zip(starts).all(|(line, start)| line.starts_with(start)), "{lines:?}");

    let mut command = user.command(&[&top[..], &["--json"]].concat());
    let mut terminal = plain_terminal(&mut command);
    let mut process = command.spawn().unwrap();
    drop(command);
    terminal.until("\"event\":\"turn\"");
    signal(process.id(), "-INT");
    process.wait().unwrap();
    let said = terminal.read_to_end();
    assert_harmless(&said);
    let event: Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
    assert_eq!(event["data"]["reason"], with_nul());

    let refused = on_terminal(user.command(&["top", "--base-url", &base_url, "--key", "wrong"]));
    assert_shown(&refused, &with_nul());
}

#[tokio::test]
async fn row_23_checks_of_a_hostile_server_are_harmless() {
    let user = User::new().await;
    let server = HostileServer::start(&user);
    let base_url = server.base_url();
    for arguments in [
        &["smoke", "--key", "any"][..],
        &["smoke", "--key", "any", "--json"],
        &["conformance", "--timeout", "5"],
        &["conformance", "--timeout", "5", "--json"],
        &["conformance", "--timeout", "5", "--model", &hostile::text()],
    ] {
        let arguments = [arguments, &["--base-url", &base_url]].concat();
        let said = on_terminal(user.command(&arguments));
        assert_harmless(&said);
        assert!(said.contains("]52;c;"), "{arguments:?}: {said}");
        if arguments.contains(&"--json") {
            assert!(serde_json::from_str::<Value>(&said).is_ok(), "{said}");
        }
    }
}

/// A record whose names and texts are hostile.
fn record(user: &User) -> PathBuf {
    let record = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../capture/tests/captures/parallel-calls.jsonl");
    let record = std::fs::read_to_string(record).unwrap();
    let text = serde_json::to_string(&with_nul()).unwrap();
    let record = record.replace("\"demo\"", &text).replace("Kdj", text.trim_matches('"'));
    file(user, "record.jsonl", &record)
}

#[tokio::test]
async fn row_23_files_are_shown_without_their_control_characters() {
    let user = User::new().await;
    let (text, json_text) = (with_nul(), serde_json::to_string(&with_nul()).unwrap());
    let record = record(&user);
    let record = record.to_str().unwrap();
    for form in ["--diff", "--frames", "--json"] {
        let said = on_terminal(user.command(&["replay", record, form]));
        assert_harmless(&said);
        assert!(said.contains("]52;c;"), "{form}: {said}");
    }
    let frames = out(&user.run(&["replay", record, "--frames"]));
    assert!(frames.contains("\u{9b}2J") && frames.contains('\u{202e}'), "{frames:?}");
    let broken = file(&user, "broken.jsonl", &format!("{{\"capture\": {json_text}}}\n"));
    let said = on_terminal(user.command(&["replay", broken.to_str().unwrap()]));
    assert!(said.starts_with("error: "), "{said}");
    assert_harmless(&said);

    let event = json!({"type": "function_call", "name": text, "call_id": text, "arguments": text});
    let events = file(&user, "events.jsonl", &format!("{event}\n{text}\n"));
    let events = events.to_str().unwrap();
    let said = on_terminal(user.command(&["calls", "--events", events]));
    assert_shown(&said, &json_text);
    assert!(said.contains("line 2: not JSON"), "{said}");
    assert!(out(&user.run(&["calls", "--events", events])).contains("\u{9b}2J"));

    let settings = file(&user, "settings.env", &format!("CODEX_MODEL='{}'\n", hostile::text()));
    let settings = settings.to_str().unwrap();
    for more in [&["config"][..], &["config", "--json"], &["models"]] {
        let said = on_terminal(user.command(&[&["--env-file", settings], more].concat()));
        assert_harmless(&said);
        assert!(said.contains("]52;c;"), "{more:?}: {said}");
    }
    let wrong = file(&user, "wrong.env", &format!("PROXY_TIMEOUT_MS='{}'\n", hostile::text()));
    let said = on_terminal(user.command(&["--env-file", wrong.to_str().unwrap(), "config"]));
    assert!(said.starts_with("error: PROXY_TIMEOUT_MS="), "{said}");
    assert_harmless(&said);
}

#[tokio::test]
async fn row_23_arguments_and_paths_are_repeated_without_their_control_characters() {
    let mut user = User::new().await;
    let text = hostile::text();
    let tool = file(&user, "tool.json", &serde_json::to_string(&with_nul()).unwrap());
    let tool = format!("@{}", tool.display());
    let record = record(&user);
    for arguments in [
        &[text.as_str()][..],
        &["ask", "--no-such-flag", &text],
        &["key", "add", &text],
        &["completions", &text],
        &["conformance", "--base-url", &text],
        &["smoke", "--base-url", &text],
        &["replay", &text],
        &["replay", "--set", &text, record.to_str().unwrap()],
        &["calls", "--events", &text],
        &["ask", "hello", "--tool", &tool],
    ] {
        let said = on_terminal(user.command(arguments));
        assert!(said.contains("error: "), "{arguments:?}: {said}");
        assert_harmless(&said);
    }
    let said = on_terminal(user.command(&["ask", "--no-such-flag", &text]));
    let said = said + &on_terminal(user.command(&["ask", &text, &text]));
    assert!(said.contains(&visible(&text)) && said.contains("Usage: "), "{said}");

    // Paths with control characters, which another program may have made.
    let text = hostile::path();
    let folder = user.folder.path().join(&text);
    std::fs::create_dir_all(&folder).unwrap();
    let codex = folder.join("codex");
    std::os::unix::fs::symlink(&user.codex, &codex).unwrap();
    user.codex = codex;
    for arguments in [&["key", "rotate"][..], &["key", "list"], &["doctor", "--port", "0"]] {
        let mut command = user.command(arguments);
        command.env("PROXY_DATA_DIR", &folder);
        assert_shown(&on_terminal(command), &text);
    }
}

// The issuer lives in this process, next to commands that are waited for: hence several threads.
#[tokio::test(flavor = "multi_thread")]
async fn row_23_an_account_is_shown_without_its_control_characters() {
    let (user, issuer) = (User::new().await, ScriptedIssuer::start().await);
    let text = hostile::text();
    let (email, workspace) = (format!("{text}@example.com"), text.clone());
    let account = IssuedAccount { email, workspace, ..IssuedAccount::default() };
    issuer.change(|script| script.account = account);
    for arguments in
        [&["login"][..], &["status"], &["status", "--json"], &["doctor", "--port", "0"]]
    {
        let said = on_terminal(user.command_at(&issuer, arguments));
        assert_harmless(&said);
        assert!(said.contains("]52;c;"), "{arguments:?}: {said}");
    }
}

#[tokio::test]
async fn row_23_serve_greets_and_logs_without_foreign_control_characters() {
    let user = User::new().await;
    let body = json!({
        "model": "demo",
        "messages": [{"role": "user", "content": format!("[[echo]]{}", with_nul())}],
    });
    for (format, colours) in [("text", false), ("text", true), ("json", false)] {
        let folder = user.folder.path().join(hostile::path());
        let mut command = user.command(&["serve", "--port", "0"]);
        command.env("PROXY_DATA_DIR", &folder);
        command.env("PROXY_CODEX_HOME", user.folder.path().join("home"));
        command.envs([
            ("PROXY_LOG_CONTENT", "true"),
            ("PROXY_LOG_FORMAT", format),
            ("PROXY_API_KEY", "sk-chosen-by-the-owner-0123"),
        ]);
        let mut terminal =
            if colours { Terminal::of(&mut command) } else { plain_terminal(&mut command) };
        let process = command.spawn().unwrap();
        drop(command);
        let greeting = terminal.until("/v1/chat/completions");
        let (_, address) = greeting.rsplit_once("curl -N http://").unwrap();
        let address = address.split('/').next().unwrap().to_owned();
        let mut server = Server { process, address };
        let lines =
            ["authorization: Bearer sk-chosen-by-the-owner-0123", "content-type: application/json"];
        let answer = server.send("POST /v1/chat/completions", &lines, &body.to_string());
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        terminal.until("an answer");
        signal(server.process.id(), "-TERM");
        assert!(server.process.wait().unwrap().success());
        let said = terminal.read_to_end();
        assert_eq!(said.contains("\u{1b}[32m INFO\u{1b}[0m"), colours, "{said:?}");
        let said = without_ours(&said);
        assert_harmless(&said);
        assert!(said.matches("\\u001b]52;c;").count() >= 2, "{said}");
    }
}
