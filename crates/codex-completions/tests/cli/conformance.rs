//! `conformance`: the whole kit against the real server, with the real Codex behind it.

use serde_json::Value;

use crate::server::{Server, free_port};
use crate::user::{User, err, out};

#[tokio::test]
async fn ours_passes_whole() {
    let user = User::new().await;
    let model = scripted_model::ScriptedModel::start().await.unwrap();
    let key = "sk-of-these-tests";
    let settings = [
        ("PROXY_API_KEY", key),
        ("PROXY_UPSTREAM_BASE_URL", &model.base_url()),
        ("PROXY_UPSTREAM_RETRIES", "0"),
        ("PROXY_SSE_KEEPALIVE_MS", "500"),
    ];
    let server = Server::start(&user, &settings);
    let base_url = format!("http://{}/v1", server.address);
    let scripted_url = format!("http://{}", model.address());
    let page = user.folder.path().join("report.html");
    let arguments = [
        ["conformance", "--base-url", &base_url].as_slice(),
        &["--api-key", key, "--model", "gpt-5.5", "--json"],
        &["--scripted-url", &scripted_url, "--html", page.to_str().unwrap()],
    ]
    .concat();
    let mut command = user.command(&arguments);
    // The model runs on this thread, too.
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    assert!(output.status.success(), "{}{}", out(&output), err(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rules = report["rules"].as_array().unwrap();
    for rule in rules {
        assert_eq!(rule["outcome"], "passed", "{rule:#}");
    }
    let advice = rules.iter().filter(|rule| rule["level"] == "advice").count();
    assert_eq!(report["passed"], rules.len() - advice);
    assert_eq!(
        (&report["advice"]["followed"], &report["scripted"]),
        (&advice.into(), &true.into())
    );
    let page = std::fs::read_to_string(page).unwrap();
    let passed = format!("{} passed, 0 failed, 0 not tested", rules.len() - advice);
    assert!(page.contains(&passed), "{page}");
}

#[tokio::test]
async fn the_built_in_model_is_enough_for_most_of_it() {
    let user = User::new().await;
    let server = Server::start(&user, &[("PROXY_API_KEY", "sk-x")]);
    let base_url = format!("http://{}/v1", server.address);
    let arguments = ["conformance", "--base-url", &base_url, "--model", "demo", "--scripted"];
    let with_key = [arguments.as_slice(), &["--api-key-env", "KEY_OF_THIS_TEST"]].concat();
    let mut command = user.command(&with_key);
    let output = command.env("KEY_OF_THIS_TEST", "sk-x").output().unwrap();
    let lines = out(&output);
    assert!(output.status.success(), "{lines}{}", err(&output));
    assert!(lines.contains(" passed, 0 failed, 2 not tested; advice: "), "{lines}");
    assert!(lines.contains("chat-disconnect"), "{lines}");
    // OpenAI's key is for OpenAI, and without one the server says what is wrong.
    let output = user.command(&arguments).env("OPENAI_API_KEY", "sk-x").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", out(&output));
    assert!(err(&output).contains("401") && err(&output).contains("--api-key"), "{}", err(&output));
    // What only --scripted-url tells was asked for, and not tested.
    let only = [with_key.as_slice(), &["--only", "chat-disconnect"]].concat();
    let output = user.command(&only).env("KEY_OF_THIS_TEST", "sk-x").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", out(&output));
    assert!(out(&output).contains("not tested: only the scripted model tells"), "{}", out(&output));
}

#[test]
fn what_cannot_be_tested_has_an_exit_code_of_its_own() {
    let user = User { folder: tempfile::tempdir().unwrap(), codex: "/nowhere/codex".into() };
    let nobody = format!("http://127.0.0.1:{}/v1", free_port());
    for (url, expected) in [(nobody.as_str(), "nobody listens"), ("127.0.0.1", "is not a URL")] {
        let output = user.run(&["conformance", "--base-url", url]);
        assert_eq!(output.status.code(), Some(2), "{}", err(&output));
        assert!(err(&output).contains(expected), "{}", err(&output));
    }
    let page = user.folder.path().join("no-such-folder/report.html");
    let arguments = ["conformance", "--base-url", &nobody, "--html", page.to_str().unwrap()];
    let output = user.run(&arguments);
    assert_eq!(output.status.code(), Some(2), "{}", err(&output));
    assert!(err(&output).contains("cannot write"), "before anything is asked: {}", err(&output));
    let output = user.run(&["conformance", "--base-url", &nobody, "--only", "no-such-*"]);
    assert_eq!(output.status.code(), Some(2), "{}", err(&output));
    assert!(err(&output).contains("no rule is called so"), "{}", err(&output));
}
