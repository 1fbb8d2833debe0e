//! Client libraries as people use them, at `/v1/responses`, in front of the real Codex and the
//! scripted model. The programs are in `tests/clients` at the root; each of them makes its own
//! checks, and what it and the server said to each other is compared with `golden-responses`.

use std::path::Path;

use crate::clients::{KEY, command};
use crate::recorder::Recorder;
use crate::transcript;
use crate::user::{err, out};

/// Runs a program to its end; its transcripts have a folder of this name.
async fn run(name: &str, program: &str) {
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
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/golden-responses");
    transcript::check(&folder.join(name), &recorder.transcripts().await);
}

#[tokio::test]
async fn openai_python() {
    run("openai-python", "python/responses_openai.py").await;
}

#[tokio::test]
async fn openai_node() {
    run("openai-node", "node/responses/openai.mjs").await;
}

#[tokio::test]
async fn agents_python() {
    run("agents-python", "python/responses_agents.py").await;
}

#[tokio::test]
async fn agents_js() {
    run("agents-js", "node/agents-0.20.0/client.mjs").await;
}

#[tokio::test]
async fn vercel_ai_sdk() {
    run("ai-sdk", "node/responses/ai-sdk.mjs").await;
}

#[tokio::test]
async fn langchain_python() {
    run("langchain-python", "python/responses_langchain.py").await;
}

/// As Obsidian Copilot asks, which ships this version.
#[tokio::test]
async fn langchain_js_1_2_2() {
    run("langchain-js-1.2.2", "node/langchain-1.2.2/responses.mjs").await;
}

/// As above.
#[tokio::test]
async fn langchain_js_1_5_8() {
    run("langchain-js-1.5.8", "node/langchain-1.5.8/responses.mjs").await;
}
