//! Client libraries as people use them, in front of the real Codex and the scripted model. The
//! programs are in `tests/clients` at the root; each of them makes its own checks.

use std::path::Path;
use std::process::Command;

use scripted_model::ScriptedModel;
use serde_json::json;

use crate::server::Server;
use crate::user::{User, err, out};

pub(crate) const KEY: &str = "the-key-of-the-clients";

/// Runs a program of `tests/clients` to its end. It asks `demo`, which is the scripted model.
async fn run(program: &str) {
    run_with(program, "demo", &[]).await;
}

async fn run_with(program: &str, model: &str, more: &[(&str, &str)]) {
    let user = User::new().await;
    // Without retries clients see every failure.
    let settings = [&[("PROXY_API_KEY", KEY), ("PROXY_UPSTREAM_RETRIES", "0")], more].concat();
    let server = Server::start(&user, &settings);
    let mut command = command(program);
    command.env("BASE_URL", format!("http://{}/v1", server.address)).env("MODEL", model);
    // A model of the test's own needs this thread.
    let running = tokio::task::spawn_blocking(move || command.output());
    let output = running.await.unwrap().expect("scripts/install-clients installs the clients");
    assert!(output.status.success(), "{program}\n{}{}", out(&output), err(&output));
}

/// Nothing of our environment may tell a client whom to ask, or through which proxy.
pub(crate) fn command(program: &str) -> Command {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients");
    let mut command = match Path::new(program).extension() {
        Some(extension) if extension == "py" => {
            Command::new(folder.join("python/.venv/bin/python"))
        }
        _ => Command::new("node"),
    };
    command
        .arg(folder.join(program))
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .env("API_KEY", KEY);
    command
}

#[tokio::test]
async fn openai_python() {
    run("python/openai_client.py").await;
}

#[tokio::test]
async fn openai_node() {
    run("node/openai.mjs").await;
}

#[tokio::test]
async fn langchain_python() {
    run("python/langchain_client.py").await;
}

/// With the calls that verify a model in Obsidian Copilot, which ships this version.
#[tokio::test]
async fn langchain_js_1_2_2() {
    run("node/langchain-1.2.2/client.mjs").await;
}

/// As above.
#[tokio::test]
async fn langchain_js_1_5_8() {
    run("node/langchain-1.5.8/client.mjs").await;
}

#[tokio::test]
async fn vercel_ai_sdk() {
    run("node/ai-sdk.mjs").await;
}

#[tokio::test]
async fn obsidian_xml_session() {
    let model = ScriptedModel::start().await.unwrap();
    let base_url = model.base_url();
    run_with("node/obsidian-xml.mjs", "chat", &[("PROXY_UPSTREAM_BASE_URL", &base_url)]).await;
    // The model reads its own block again as it wrote it.
    let body = model.last_request().unwrap().body;
    let items = body["input"].as_array().unwrap();
    let said = items.iter().find(|item| item["role"] == "assistant").unwrap();
    let written = "Let me look that up in your notes.\n\n<use_tool>\n<name>localSearch</name>\n\
        <query>piano lessons</query>\n<salientTerms>[\"piano\", \"lessons\"]</salientTerms>\n\
        </use_tool>";
    assert_eq!(said["content"], json!([{"type": "output_text", "text": written}]));
}
