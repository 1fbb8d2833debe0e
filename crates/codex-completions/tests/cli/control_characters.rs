//! Row 23: a terminal gets no control characters from models, upstreams, servers or files; a pipe gets everything.

mod hostile;

use std::fs::File;
use std::os::unix::process::CommandExt as _;
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
    let output = terminal.read_to_end();
    process.wait().unwrap();
    output
}

/// The same with a file as standard input.
fn typed_on_terminal(mut command: Command, words: &Path) -> String {
    let terminal = plain_terminal(&mut command);
    command.stdin(File::open(words).unwrap());
    shown(command, terminal)
}

fn assert_harmless(output: &str) {
    let found = output.find(is_forbidden);
    let around = found.map(|at| &output[at..]);
    assert_eq!(around.map(|rest| rest.chars().take(40).collect::<String>()), None, "{output:?}");
}

/// Without our own sequences.
fn without_ours(output: &str) -> String {
    let remove = |output: String, ours: &&str| output.replace(&format!("\u{1b}{ours}"), "");
    OURS.iter().fold(output.to_owned(), remove)
}

/// Harmless, and nothing is missing.
fn assert_shown(output: &str, text: &str) {
    assert_harmless(output);
    assert!(output.contains(&visible(text)), "{output:?}");
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
    let output = typed_on_terminal(ask("--json"), &question);
    assert_harmless(&output);
    let answer: Value = serde_json::from_str(&output).unwrap();
    assert_eq!(answer["text"], with_nul());
    let output = typed_on_terminal(ask("--raw"), &question);
    assert_harmless(&output);
    let events = output.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
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
    let output = shown(command, terminal);
    assert!(output.contains("\u{1b}[2m") && output.contains(&visible(&with_nul())), "{output:?}");
    for rest in output.split('\u{1b}').skip(1) {
        assert!(OURS.iter().any(|ours| rest.starts_with(ours)), "{rest:?}");
    }
    let mut command = user.command(&["doctor", "--port", "0"]);
    let terminal = Terminal::of(&mut command);
    let output = shown(command, terminal);
    assert!(output.contains("\u{1b}[32mok\u{1b}[0m    codex-completions "), "{output:?}");
}

#[tokio::test]
async fn row_23_errors_of_an_upstream_are_harmless() {
    let user = User::new().await;
    let server = HostileServer::start(&user);
    for form in ["--raw", "--json", "--effort=low"] {
        let mut command = user.command(&["ask", "--model", "m", "hello", form]);
        command.env("PROXY_UPSTREAM_BASE_URL", server.base_url());
        command.env("PROXY_UPSTREAM_RETRIES", "0");
        let output = on_terminal(command);
        assert!(output.contains("error: ") && output.contains("\\u001b]52;c;"), "{output:?}");
        assert_harmless(&output);
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
        let output = on_terminal(command());
        assert_harmless(&output);
        assert!(output.contains("\\u001b]52;c;"), "{arguments:?}: {output}");
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
    let output = terminal.read_to_end().replace("\r\n", "\n");
    for rest in output.split('\u{1b}').skip(1) {
        assert!(OURS.iter().any(|ours| rest.starts_with(ours)), "{rest:?}");
    }
    let plain = without_ours(&output);
    assert_harmless(&plain);
    assert!(!plain.contains('\t') && plain.contains("\\u001b]52;c;"), "{plain}");
    // A line of the screen is a line of ours, and none is longer than the screen is wide.
    let frame = output.rsplit("\u{1b}[H").next().unwrap().split("\u{1b}[J").next().unwrap();
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
    let output = terminal.read_to_end();
    assert_harmless(&output);
    let event: Value = serde_json::from_str(output.lines().next().unwrap()).unwrap();
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
        let output = on_terminal(user.command(&arguments));
        assert_harmless(&output);
        assert!(output.contains("]52;c;"), "{arguments:?}: {output}");
        assert!(!output.contains("\nforged"), "{arguments:?}: {output}");
        if arguments.contains(&"--json") {
            assert!(serde_json::from_str::<Value>(&output).is_ok(), "{output}");
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
        let output = on_terminal(user.command(&["replay", record, form]));
        assert_harmless(&output);
        assert!(output.contains("]52;c;"), "{form}: {output}");
    }
    let frames = out(&user.run(&["replay", record, "--frames"]));
    assert!(frames.contains("\u{9b}2J") && frames.contains('\u{202e}'), "{frames:?}");
    let broken = file(&user, "broken.jsonl", &format!("{{\"capture\": {json_text}}}\n"));
    let output = on_terminal(user.command(&["replay", broken.to_str().unwrap()]));
    assert!(output.starts_with("error: "), "{output}");
    assert_harmless(&output);

    let event = json!({"type": "function_call", "name": text, "call_id": text, "arguments": text});
    let events = file(&user, "events.jsonl", &format!("{event}\n{text}\n"));
    let events = events.to_str().unwrap();
    let output = on_terminal(user.command(&["calls", "--events", events]));
    assert_shown(&output, &json_text);
    assert!(output.contains("line 2: not JSON"), "{output}");
    assert!(out(&user.run(&["calls", "--events", events])).contains("\u{9b}2J"));

    let settings = file(&user, "settings.env", &format!("CODEX_MODEL='{}'\n", hostile::text()));
    let settings = settings.to_str().unwrap();
    for more in [&["config"][..], &["config", "--json"], &["models"]] {
        let output = on_terminal(user.command(&[&["--env-file", settings], more].concat()));
        assert_harmless(&output);
        assert!(output.contains("]52;c;"), "{more:?}: {output}");
    }
    let wrong = file(&user, "wrong.env", &format!("PROXY_TIMEOUT_MS='{}'\n", hostile::text()));
    let output = on_terminal(user.command(&["--env-file", wrong.to_str().unwrap(), "config"]));
    assert!(output.starts_with("error: PROXY_TIMEOUT_MS="), "{output}");
    assert_harmless(&output);
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
        let output = on_terminal(user.command(arguments));
        assert!(output.contains("error: "), "{arguments:?}: {output}");
        assert_harmless(&output);
    }
    let output = on_terminal(user.command(&["ask", "--no-such-flag", &text]));
    let output = output + &on_terminal(user.command(&["ask", &text, &text]));
    assert!(output.contains(&visible(&text)) && output.contains("Usage: "), "{output}");

    // The name of the program is an argument too.
    let name = text.replace('/', "");
    let mut help = user.command(&["ask", "--help"]);
    help.arg0(&name);
    assert_shown(&on_terminal(help), &name);

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
        let output = on_terminal(user.command_at(&issuer, arguments));
        assert_harmless(&output);
        assert!(output.contains("]52;c;"), "{arguments:?}: {output}");
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
        let mut server = Server::of(process, address);
        let lines =
            ["authorization: Bearer sk-chosen-by-the-owner-0123", "content-type: application/json"];
        let answer = server.send("POST /v1/chat/completions", &lines, &body.to_string());
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        terminal.until("an answer");
        signal(server.process.id(), "-TERM");
        assert!(server.process.wait().unwrap().success());
        let output = terminal.read_to_end();
        assert_eq!(output.contains("\u{1b}[32m INFO\u{1b}[0m"), colours, "{output:?}");
        let output = without_ours(&output);
        assert_harmless(&output);
        assert!(output.matches("\\u001b]52;c;").count() >= 2, "{output}");
    }
}
