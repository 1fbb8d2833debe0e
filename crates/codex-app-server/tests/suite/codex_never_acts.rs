//! Whatever the model asks for, nothing runs: the call is handed over as it is, once.

use std::sync::{Arc, Mutex};

use codex_app_server::Direction;
use model_turn::{ToolCallKind, TurnEnd};
use serde_json::{Value, json};
use testkit::{Outcome, TestCodex, tools};

/// How often each odd call is made.
const ROUNDS: u64 = 5;

async fn asked(codex: &TestCodex, mark: &str) -> Outcome {
    let mut request = codex.ask(mark);
    request.tools = tools(&["get_weather"]);
    let outcome = codex.run(request).await;
    assert_eq!(outcome.end, Ok(TurnEnd::ToolCalls), "{mark}");
    outcome
}

/// What Codex itself says of every thread that we start.
#[tokio::test]
async fn row_7_every_thread_may_only_read_and_never_asks() {
    let answers = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&answers);
    let codex = TestCodex::with(|config| {
        config.tap = Some(Arc::new(move |direction, line: &[u8]| {
            let message: Value = serde_json::from_slice(line).unwrap();
            if direction == Direction::FromCodex && !message["result"]["thread"].is_null() {
                seen.lock().unwrap().push(message["result"].clone());
            }
        }));
    })
    .await;
    asked(&codex, "[[tool]]").await;
    codex.run(codex.ask("[[text]]")).await;
    codex.client.shutdown().await;
    let answers = answers.lock().unwrap();
    assert_eq!(answers.len(), 2);
    for answer in &*answers {
        assert_eq!(answer["approvalPolicy"], "never");
        assert_eq!(answer["sandbox"], json!({"type": "readOnly", "networkAccess": false}));
        assert_eq!(answer["thread"]["environments"], json!([]));
        assert_eq!(answer["cwd"].as_str(), codex.home.path().join("empty").to_str());
    }
}

#[tokio::test]
async fn row_7_shell_commands_do_not_run() {
    let codex = TestCodex::start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("made-by-the-model");
    let path = file.to_str().unwrap();

    let shell = asked(&codex, &format!("[[shell:{path}]]")).await;
    let arguments = json!({"cmd": format!("touch {path}")});
    assert_eq!(shell.calls[0].name, "exec_command".into());
    assert_eq!(serde_json::from_str::<Value>(&shell.calls[0].arguments).unwrap(), arguments);

    let local = asked(&codex, &format!("[[local-shell:{path}]]")).await;
    assert_eq!(local.calls[0].kind, ToolCallKind::Foreign);
    let item: Value = serde_json::from_str(&local.calls[0].arguments).unwrap();
    assert_eq!(item["action"]["command"], json!(["touch", path]));

    codex.client.shutdown().await;
    assert!(!file.exists());
    assert_eq!(codex.model.requests(), 2);
}

/// Codex answers some of these itself and asks the model again, unless our interrupt is faster. Which of the two is
/// faster is not ours to decide; that the client has the call once and nothing else is.
#[tokio::test]
async fn row_7_odd_calls_are_handed_over_verbatim_and_once() {
    let codex = TestCodex::start().await;
    let table = [
        ("[[unknown-tool]]", "no_such_tool", None, ToolCallKind::Function),
        ("[[bad-args]]", "get_weather", Some(r#"{"city": "Par"#), ToolCallKind::Function),
        ("[[empty-args]]", "get_weather", Some(""), ToolCallKind::Function),
        (
            "[[tool:get_weather,{ \"a\" :1,  \"a\":2 }]]",
            "get_weather",
            Some(r#"{ "a" :1,  "a":2 }"#),
            ToolCallKind::Function,
        ),
        ("[[namespace:functions]]", "get_weather", None, ToolCallKind::Function),
        ("[[namespace:github]]", "github.get_weather", None, ToolCallKind::Function),
        ("[[custom]]", "apply_patch", None, ToolCallKind::Custom),
        ("[[tool-search]]", "tool_search_call", None, ToolCallKind::Foreign),
    ];
    let mut extra = 0;
    for (mark, name, arguments, kind) in table {
        let before = codex.model.requests();
        for _ in 0..ROUNDS {
            let outcome = asked(&codex, mark).await;
            assert_eq!(outcome.text, "", "{mark}");
            let [call] = &outcome.calls[..] else { panic!("{mark}: {:?}", outcome.calls) };
            assert_eq!((call.name.name.as_str(), call.kind), (name, kind), "{mark}");
            if let Some(arguments) = arguments {
                assert_eq!(call.arguments, arguments, "{mark}");
            }
            assert!(!call.call_id.is_empty(), "{mark}");
        }
        codex.until_no_thread_is_loaded().await;
        let requests = codex.model.requests() - before;
        assert!((ROUNDS..=2 * ROUNDS).contains(&requests), "{mark}: {requests}");
        extra += requests - ROUNDS;
    }
    println!("{extra} requests more than turns");
    assert!(codex.client.stats().extra_model_requests <= extra);
    codex.client.shutdown().await;
}

#[tokio::test]
async fn text_around_calls_keeps_its_place() {
    let codex = TestCodex::start().await;
    let mixed = asked(&codex, "[[mixed-reasoning]]").await;
    assert!(!mixed.reasoning.is_empty() && !mixed.text.is_empty());
    assert_eq!(mixed.calls.len(), 2);
    let after = asked(&codex, "[[text-after-call]]").await;
    assert!(!after.text.is_empty());
    assert_eq!(after.calls.len(), 1);
    codex.client.shutdown().await;
}

#[tokio::test]
async fn the_rest_of_what_a_model_can_say_comes_through() {
    let codex = TestCodex::start().await;
    let reasoning = codex.run(codex.ask("[[reasoning]]")).await;
    assert_eq!(reasoning.reasoning.len(), 2);
    assert_eq!(codex.run(codex.ask("[[raw-reasoning]]")).await.reasoning.len(), 1);
    let whole = codex.run(codex.ask("[[no-deltas]]")).await;
    assert!(!whole.text.is_empty(), "text without deltas is lost");
    let two = codex.run(codex.ask("[[two-messages]]")).await;
    assert!(two.end.is_ok() && two.text_events > 1);
    assert_eq!(codex.run(codex.ask("[[no-usage]]")).await.usage, None);
    assert_eq!(codex.run(codex.ask("[[usage:4711]]")).await.usage.unwrap().input_tokens, 4711);
    codex.client.shutdown().await;
}
