//! A Codex that breaks a promise, played by a filter in front of the real one.

use std::process::Output;

use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::altered_codex::AlteredCodex;
use crate::asking::ask;
use crate::proxy::Proxy;
use testkit::until;

/// Another tool in every thread.
const TOOL: &str = concat!(
    r#"s/"dynamicTools":\[/&{"type":"function","name":"shell","description":"","#,
    r#""inputSchema":{"type":"object","properties":{}}},/"#
);

/// Adds a row to the log database, past what ignores rows.
const ROW: &str = r#"
import glob, os, sqlite3
for file in glob.glob(os.environ["CODEX_HOME"] + "/logs_*.sqlite"):
    sqlite3.connect(file, timeout=5).executescript("""
        BEGIN IMMEDIATE;
        DROP TRIGGER codex_completions_mute;
        INSERT INTO logs (ts, ts_nanos, level, target) VALUES (0, 0, 'INFO', 'x');
        CREATE TRIGGER codex_completions_mute BEFORE INSERT ON logs BEGIN SELECT RAISE(IGNORE); END;
        COMMIT;
    """)
"#;

/// A command of `sed`, the promise that it breaks, and a part of the reason.
const BROKEN: [(&str, &str, &str); 5] = [
    (TOOL, "no_own_tools", r#"the tool "shell""#),
    (
        r#"s/"baseInstructions":""/"baseInstructions":"You are Codex"/"#,
        "no_own_text",
        "You are Codex",
    ),
    // The call is answered instead of being interrupted, so that the model is asked once more.
    (
        r#"s/^.*"turn\/interrupt".*$/{"id":0,"result":{"contentItems":[],"success":true}}/"#,
        "one_request",
        "makes 2 requests",
    ),
    // A row in the log database, as @ROW@ adds it.
    (r#"/"turn\/start"/e python3 @ROW@"#, "nothing_on_disk", "is not muted"),
    (r#"s/"ephemeral":true/"ephemeral":false/"#, "nothing_on_disk", "to its file sessions/"),
];

/// A command beside the server, with its Codex and its upstream.
async fn run(
    proxy: &Proxy,
    codex: &AlteredCodex,
    settings: &[(&str, &str)],
    arguments: &[&str],
) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_codex-completions"));
    let home = tempfile::tempdir().unwrap();
    command
        .args(arguments)
        .env("PROXY_DATA_DIR", home.path())
        .env("CODEX_BIN", codex.path())
        .env("PROXY_UPSTREAM_BASE_URL", proxy.model.base_url())
        .envs(settings.iter().copied());
    command.output().await.unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn demo() -> Value {
    let mut request = ask("[[text:hello]]");
    request["model"] = "demo".into();
    request
}

#[tokio::test]
async fn row_24_a_codex_that_breaks_a_promise_takes_no_turn_of_a_real_model() {
    let folder = tempfile::tempdir().unwrap();
    let row = folder.path().join("row.py");
    std::fs::write(&row, ROW).unwrap();
    // Two at a time: each has three Codex, and a canary a limit of time.
    let runs = BROKEN.map(async |(command, promise, reason)| {
        let codex = AlteredCodex::asked(&command.replace("@ROW@", row.to_str().unwrap())).await;
        let proxy = Proxy::start(&[("CODEX_BIN", codex.path())]).await;

        let ready = proxy.get("/readyz").await;
        assert_eq!(ready.status, 503, "{command}: {}", ready.body);
        let ready = ready.json();
        assert_eq!(
            (&ready["reason"], &ready["broken_promise"]),
            (&json!("codex_untested"), &json!(promise)),
            "{command}: {ready}"
        );
        let worker = &ready["workers"][0];
        let found = worker["canary_failed"].as_str().unwrap();
        assert!(worker["canary"] == "failed" && found.contains(reason), "{command}: {worker}");
        let line = format!("breaks the promise {promise}: {found}\n");
        until("the greeting names the promise", async || proxy.told().contains(&line)).await;

        let error = proxy.chat(&ask("[[text]]")).await;
        assert_eq!(error.status, 503, "{command}: {}", error.body);
        let error = error.json();
        assert_eq!(error["error"]["code"], "codex_untested", "{command}: {error}");
        assert!(error["error"]["message"].as_str().unwrap().contains(promise), "{error}");
        let answer = proxy.chat(&demo()).await;
        assert_eq!(answer.status, 200, "{command}: {}", answer.body);
        assert_eq!(proxy.counter(r#"codex_children{state="untested"}"#).await, 1);

        let doctor = run(&proxy, &codex, &[], &["doctor", "--port", "0"]).await;
        let found = text(&doctor.stdout);
        let expected = format!("FAIL  this Codex breaks the promise {promise}: ");
        assert!(doctor.status.code() == Some(1) && found.contains(&expected), "{command}: {found}");
        assert!(found.contains(reason), "{command}: {found}");
        let asked = run(&proxy, &codex, &[], &["ask", "--model", "gpt-5.5", "[[text]]"]).await;
        let refused = text(&asked.stderr);
        assert!(asked.status.code() == Some(1) && refused.contains(reason), "{command}: {refused}");
        assert_eq!(refused.lines().count(), 1, "{command}: {refused}");
        assert_eq!(proxy.model.requests(), 0, "{command}");
    });
    Box::pin(stream::iter(runs).buffer_unordered(2).collect::<()>()).await;
}

#[tokio::test]
async fn row_24_doctor_finds_a_codex_that_ends_in_its_canary() {
    let codex = AlteredCodex::asked("/canary-/e kill -9 0").await;
    let proxy = Proxy::start(&[]).await;
    let doctor = run(&proxy, &codex, &[], &["doctor", "--port", "0"]).await;
    let found = text(&doctor.stdout);
    assert_eq!(doctor.status.code(), Some(1), "{found}");
    let expected =
        "FAIL  this Codex breaks the promise checked: its canary turn could not be played";
    assert!(found.contains(expected), "{found}");
    assert!(!found.contains("ok    arguments of tool calls are streamed"), "{found}");
}

#[tokio::test]
async fn row_24_an_operator_can_use_an_untested_codex() {
    let codex = AlteredCodex::asked(TOOL).await;
    let allowed = ("PROXY_ALLOW_UNTESTED_CODEX", "true");
    let proxy = Proxy::start(&[("CODEX_BIN", codex.path()), allowed]).await;
    let line = proxy.logged("this Codex has failed its canary").await;
    assert_eq!((&line["promise"], &line["level"]), (&json!("no_own_tools"), &json!("WARN")));
    assert_eq!(proxy.get("/readyz").await.status, 200);
    assert_eq!(proxy.chat(&ask("[[text]]")).await.status, 200);
    assert_eq!(proxy.model.requests(), 1);
    let doctor = run(&proxy, &codex, &[allowed], &["doctor", "--port", "0"]).await;
    let found = text(&doctor.stdout);
    assert!(doctor.status.success(), "{found}");
    assert!(found.contains("note  this Codex breaks the promise no_own_tools: "), "{found}");
}

#[tokio::test]
async fn row_24_the_canary_leaves_no_usage_metric_turn_or_capture() {
    let captures = tempfile::tempdir().unwrap();
    let folder = captures.path().to_str().unwrap();
    let proxy = Proxy::start(&[("PROXY_CAPTURE_DIR", folder)]).await;
    let passed = proxy.logged("this Codex has passed its canary").await;
    proxy.until_early_arguments("on").await;
    println!("the canary took {} ms", passed["took_ms"]);
    let metrics = proxy.metrics().await;
    // What requests of any kind cost the child, the heartbeat's too, is measured.
    let of_the_child = ["codex_request_seconds", "codex_handshake_seconds", "codex_children"];
    let counted = metrics.lines().filter(|line| {
        let is_of_a_turn = ["turn", "token", "call", "codex", "argument", "usage", "response"]
            .iter()
            .any(|part| line.split('{').next().unwrap().contains(part));
        is_of_a_turn
            && !line.starts_with('#')
            && !line.ends_with(" 0")
            && !line.ends_with(" 0.0")
            && !of_the_child.iter().any(|name| line.starts_with(name))
    });
    let expected = ["turns_limit 16", r#"codex_completions_early_arguments{state="on"} 1"#];
    assert_eq!(counted.collect::<Vec<_>>(), expected);
    assert_eq!(proxy.get("/v1/proxy/turns").await.json(), json!({"turns": []}));
    assert_eq!(proxy.get("/v1/usage").await.json()["totals"]["turns"], 0);
    assert_eq!(std::fs::read_dir(captures.path()).unwrap().count(), 0);
    let lines = proxy.log();
    assert!(lines.as_array().unwrap().iter().all(|line| line["target"] != "turn"), "{lines}");
    assert_eq!(proxy.model.requests(), 0);
}
