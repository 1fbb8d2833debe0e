//! `top`: the turns of a running server.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use testkit::process::{KilledOnDrop, signal};

use crate::server::Server;
use crate::terminal::Terminal;
use crate::user::{User, err, out};

/// One turn with a call, of a client that says who it is.
fn take_a_turn(user: &User, server: &Server) {
    let key = std::fs::read_to_string(user.folder.path().join("api-key")).unwrap();
    let lines = [
        &format!("authorization: Bearer {}", key.trim()),
        "content-type: application/json",
        "user-agent: OpenAI/Python 1.2.3",
    ];
    let body = r#"{"model":"demo","messages":[{"role":"user","content":"What is the weather in Paris?"}],"tools":[{"type":"function","function":{"name":"get_weather"}}]}"#;
    let answer = server.send("POST /v1/chat/completions", &lines, body);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[tokio::test]
async fn a_terminal_shows_turns_and_is_as_it_was_afterwards() {
    let user = User::new().await;
    let server = Server::start(&user, &[]);
    let base_url = format!("http://{}/v1", server.address);
    let mut command = user.command(&["top", "--base-url", &base_url]);
    let mut terminal = Terminal::of(&mut command);
    let mut top = KilledOnDrop(command.spawn().unwrap());
    drop(command);
    terminal.until("  ready  up ");
    take_a_turn(&user, &server);
    terminal.until("get_weather");
    signal(top.0.id(), "-INT");
    assert_eq!(top.0.wait().unwrap().code(), Some(0));
    let said = terminal.read_to_end();
    assert!(said.starts_with("\u{1b}[?1049h\u{1b}[?25l"), "{said:?}");
    assert!(said.ends_with("\u{1b}[?25h\u{1b}[?1049l"), "{said:?}");
    assert!(said.contains("  OpenAI/Python") && !said.contains("weather in Paris"), "{said:?}");
}

#[tokio::test]
async fn elsewhere_a_turn_is_a_line_and_an_event_is_json() {
    let user = User::new().await;
    let server = Server::start(&user, &[]);
    let base_url = format!("http://{}/v1", server.address);
    let watch = |more: &[&str]| {
        let arguments = [&["top", "--base-url", &base_url], more].concat();
        let mut top = user.command(&arguments).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(top.stdout.take().unwrap()).lines().map_while(Result::ok);
        (KilledOnDrop(top), lines)
    };
    let (_json, events) = watch(&["--json"]);
    let mut events = events.map(|line| serde_json::from_str::<Value>(&line).unwrap());
    // Then it follows, and misses nothing.
    assert_eq!(events.next().unwrap()["event"], "turns");
    take_a_turn(&user, &server);
    let ended =
        events.find(|event| event["event"] == "turn" && event["data"]["state"] == "ended").unwrap();
    assert_eq!(ended["data"]["tool_calls"][0], "get_weather");

    let (_lines, mut lines) = watch(&[]);
    // Whether it follows already cannot be seen: turns are taken until one is told.
    let told = AtomicBool::new(false);
    let line = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !told.load(Ordering::Relaxed) {
                take_a_turn(&user, &server);
            }
        });
        let line = lines.next();
        told.store(true, Ordering::Relaxed);
        line
    });
    let line = line.unwrap();
    assert!(line.contains("  default  ") && line.contains("get_weather"), "{line}");
}

#[tokio::test]
async fn nobody_there_and_a_key_that_is_not_the_owners_are_told() {
    let user = User::new().await;
    let nobody = user.run(&["top", "--base-url", "http://127.0.0.1:1/v1"]);
    assert_eq!(nobody.status.code(), Some(1));
    assert!(
        err(&nobody).starts_with("error: no server at http://127.0.0.1:1/v1 ("),
        "{}",
        err(&nobody)
    );

    let phone = out(&user.run(&["key", "add", "phone"]));
    let server = Server::start(&user, &[]);
    let base_url = format!("http://{}/v1", server.address);
    let refused = user.run(&["top", "--base-url", &base_url, "--key", phone.trim()]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(err(&refused).contains(" answers 403 Forbidden: "), "{}", err(&refused));
}
