//! Client libraries as people use them, at `/v1/responses`, in front of the real Codex and the
//! scripted model. The programs are in `tests/clients` at the root; each of them makes its own
//! checks, and every client must send the same in the same scenario.

use crate::clients::{KEY, command};
use crate::recorder::Recorder;
use crate::transcript;
use crate::user::{err, out};

/// Runs a program to its end.
async fn run(program: &str) {
    // Without retries clients see every failure.
    let recorder =
        Recorder::start(&[("PROXY_API_KEY", KEY), ("PROXY_UPSTREAM_RETRIES", "0")]).await;
    let mut command = command(program);
    command
        .env("BASE_URL", format!("http://{}/v1", recorder.address))
        .env("RECORDER", format!("http://{}/-", recorder.address));
    // The recorder needs this thread.
    let running = tokio::task::spawn_blocking(move || command.output());
    let output = running.await.unwrap().expect("scripts/install-clients installs the clients");
    assert!(output.status.success(), "{program}\n{}{}", out(&output), err(&output));
    let transcripts = recorder.transcripts().await;
    assert!(transcripts.len() > 5, "{:?}", transcripts.keys());
    for (scenario, exchanges) in &transcripts {
        transcript::check(scenario, exchanges);
    }
}

#[tokio::test]
async fn openai_python() {
    run("python/responses_openai.py").await;
}

#[tokio::test]
async fn openai_node() {
    run("node/responses/openai.mjs").await;
}

#[tokio::test]
async fn agents_python() {
    run("python/responses_agents.py").await;
}

#[tokio::test]
async fn agents_js() {
    run("node/agents-0.20.0/client.mjs").await;
}

#[tokio::test]
async fn vercel_ai_sdk() {
    run("node/responses/ai-sdk.mjs").await;
}

#[tokio::test]
async fn langchain_python() {
    run("python/responses_langchain.py").await;
}

/// As Obsidian Copilot asks, which ships this version.
#[tokio::test]
async fn langchain_js_1_2_2() {
    run("node/langchain-1.2.2/responses.mjs").await;
}

/// As above.
#[tokio::test]
async fn langchain_js_1_5_8() {
    run("node/langchain-1.5.8/responses.mjs").await;
}
