//! `ask`.

use std::io::Read as _;
use std::process::Stdio;

use serde_json::{Value, json};
use testkit::process::{descendants, signal, until_gone};
use testkit::write_script;

use crate::terminal::Terminal;
use crate::user::{User, err, out};

#[tokio::test]
async fn ask_streams_an_answer_without_an_account() {
    let user = User::new().await;
    let output = user.run(&["ask", "--model", "demo", "hello"]);
    assert!(output.status.success(), "{}", err(&output));
    assert!(out(&output).contains("demo"), "{}", out(&output));
    assert_eq!(err(&output), "");
}

#[tokio::test]
async fn ask_shows_the_calls_of_the_tools_that_it_offers() {
    let user = User::new().await;
    let question = "What is the weather in Paris, and what is the time?";
    let output = user.run(&[
        "ask",
        "--model",
        "demo",
        question,
        "--tool",
        "get_weather",
        "--tool",
        "get_time",
    ]);
    assert!(output.status.success(), "{}", err(&output));
    let calls: Vec<_> =
        out(&output).lines().filter(|line| line.starts_with("→ ")).map(str::to_owned).collect();
    assert!(
        matches!(&calls[..], [weather, time]
        if weather.starts_with("→ get_weather {") && time.starts_with("→ get_time {")),
        "{calls:?}"
    );
}

#[tokio::test]
async fn a_failure_is_explained_and_has_an_exit_code() {
    let user = User::new().await;
    let output = user.run(&["ask", "--model", "demo", "[[http:401]]"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("login` signs you in"), "{}", err(&output));

    let output = user.command(&["ask", "x"]).env("PROXY_TIMEOUT_MS", "soon").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).starts_with("error: PROXY_TIMEOUT_MS=\"soon\": expected"));
}

#[tokio::test]
async fn odd_places_and_readers_are_fine() {
    let user = User::new().await;
    let parent = user.folder.path().join("with a space, and ümläuts");
    std::fs::create_dir(&parent).unwrap();
    let output = user
        .command(&["ask", "--model", "demo", "[[text:fine]]"])
        .current_dir(&parent)
        .env("PROXY_CODEX_HOME", "relative/home")
        .output()
        .unwrap();
    assert_eq!((out(&output).as_str(), err(&output).as_str()), ("fine\n", ""));
    assert!(parent.join("relative/home/config.toml").exists());

    let mut unread = user
        .command(&["ask", "--model", "demo", "[[big:1000000]]"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(unread.stdout.take());
    assert_eq!(err(&unread.wait_with_output().unwrap()), "");
}

#[tokio::test]
async fn another_upstream_gets_the_question_with_its_own_key() {
    let user = User::new().await;
    let model = scripted_model::ScriptedModel::start().await.unwrap();
    let mut command = user.command(&["ask", "--model", "my-model", "[[echo]]to you"]);
    command
        .env("PROXY_UPSTREAM_BASE_URL", model.base_url())
        .env("PROXY_UPSTREAM_API_KEY", "sk-mine");
    // The model lives in this process, so nothing may block its only thread.
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    assert_eq!(out(&output), "to you\n", "{}", err(&output));
    let request = model.last_request().unwrap();
    assert_eq!(request.header("authorization"), Some("Bearer sk-mine"));
    assert_eq!(request.body["model"], "my-model");
}

#[tokio::test]
async fn a_turn_that_is_ended_by_a_signal_leaves_nothing() {
    let user = User::new().await;
    for ending in ["-INT", "-TERM", "-KILL"] {
        let mut process = user
            .command(&["ask", "--model", "demo", "[[hang]]"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0];
        process.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
        let processes = descendants(process.id());
        assert!(!processes.is_empty());
        signal(process.id(), ending);
        process.wait().unwrap();
        until_gone(&processes).await;
    }
}

#[tokio::test]
async fn the_whole_answer_comes_as_json() {
    let user = User::new().await;
    let tool = r#"{"type":"function","function":{"name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}"#;
    let question = "What is the weather in Paris?";
    let output = user.run(&["ask", "--model", "demo", question, "--tool", tool, "--json"]);
    assert!(output.status.success(), "{}", err(&output));
    let mut answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let call = answer["tool_calls"][0].as_object_mut().unwrap();
    assert!(call.remove("id").unwrap().as_str().is_some_and(|id| !id.is_empty()));
    assert!(answer["usage"].as_object_mut().unwrap().remove("total_tokens").unwrap().is_u64());
    let expected = json!({
        "text": "Let me use `get_weather`.",
        "refusal": null,
        "reasoning": "",
        "tool_calls": [{"name": "get_weather", "arguments": r#"{"city":"Paris"}"#}],
        "usage": answer["usage"],
        "end": "tool_calls",
        "failure": null,
    });
    assert_eq!(answer, expected);

    let failed = user.run(&["ask", "--model", "demo", "[[http:401]]", "--json"]);
    assert_eq!(failed.status.code(), Some(1));
    let answer: Value = serde_json::from_slice(&failed.stdout).unwrap();
    assert_eq!(
        (&answer["end"], answer["failure"].is_string()),
        (&json!("failed"), true),
        "{answer}"
    );
    assert!(err(&failed).starts_with("error: "), "{}", err(&failed));
}

#[tokio::test]
async fn every_event_comes_as_a_line() {
    let user = User::new().await;
    let output = user.run(&["ask", "--model", "demo", "[[text:fine]]", "--raw"]);
    let events: Vec<Value> =
        out(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let text: String = events.iter().filter_map(|event| event["text"].as_str()).collect();
    assert_eq!((text.as_str(), events.last()), ("fine", Some(&json!({"end": "completed"}))));
}

#[tokio::test]
async fn a_question_is_read_from_standard_input() {
    let user = User::new().await;
    for arguments in [&["ask", "--model", "demo"][..], &["ask", "--model", "demo", "-"]] {
        let output = user.type_in(arguments, "[[text:read]]\n");
        assert_eq!(out(&output), "read\n", "{}", err(&output));
    }
    let output = user.type_in(&["ask", "--model", "demo"], " \n");
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).starts_with("error: there is no question"), "{}", err(&output));
}

#[tokio::test]
async fn colours_and_progress_are_for_a_terminal_and_gone_afterwards() {
    let mut user = User::new().await;
    // A start that takes a while.
    let slow = user.folder.path().join("slow");
    let script = format!(
        "if [ \"$1\" = app-server ]; then sleep 0.8; fi\nexec '{}' \"$@\"",
        user.codex.display()
    );
    write_script(&slow, &script);
    user.codex = slow;
    let question =
        ["ask", "--model", "demo", "What is the weather in Paris?", "--tool", "get_weather"];
    let mut command = user.command(&question);
    let terminal = Terminal::of(&mut command);
    let mut process = command.spawn().unwrap();
    drop(command);
    let said = terminal.read_to_end();
    assert!(process.wait().unwrap().success(), "{said}");
    assert!(said.contains(" Starting Codex …\r\u{1b}[K"), "{said:?}");
    assert!(said.contains("→ \u{1b}[1mget_weather\u{1b}[0m {"), "{said:?}");
    let plain = user.run(&question);
    assert!(!out(&plain).contains('\u{1b}'));
    assert_eq!(err(&plain), "");
}
