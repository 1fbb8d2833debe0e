//! Rig: its agent with tools, streamed.

use std::time::Duration;
use std::{env, fs, io};

use futures::StreamExt as _;
use rig::agent::{AgentBuilder, ModelHandle, MultiTurnStreamItem};
use rig::client::CompletionClient as _;
use rig::prelude::*;
use rig::providers::openai;
use rig::streaming::StreamedAssistantContent;
use rig::tool::{PortableDynamicTool, ToolExecutionError, ToolOutput};
use serde_json::{Value, json};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

#[tokio::main]
async fn main() -> Result<()> {
    let text = tokio::time::timeout(Duration::from_secs(60), ask()).await??;
    let file = fs::read_to_string(path("agent.txt"))?;
    assert_eq!(file.trim(), "Written by the agent.");
    for part in ["The agent is done.", "Written by the agent.", "1 entry: agent.txt"] {
        assert!(text.contains(part), "the final text is {text:?}");
    }
    println!("{text}");
    Ok(())
}

async fn ask() -> Result<String> {
    let client = openai::Client::builder()
        .api_key(env::var("API_KEY")?)
        .base_url(env::var("BASE_URL")?)
        .build()?;
    let model = env::var("MODEL")?;
    let model = match env::var("VARIANT")?.as_str() {
        "chat" => ModelHandle::named("chat", client.completions_api().completion_model(model)),
        _ => ModelHandle::named("responses", client.completion_model(model)),
    };
    let agent = AgentBuilder::from_model_handle(model)
        .preamble("You are an agent that works in a folder.")
        .portable_dynamic_tool(tool("write_file", &["path", "content"], |arguments| {
            fs::write(path(text(arguments, "path")), text(arguments, "content"))?;
            Ok("written".to_owned())
        }))
        .portable_dynamic_tool(tool("read_file", &["path"], |arguments| {
            fs::read_to_string(path(text(arguments, "path")))
        }))
        .portable_dynamic_tool(tool("list_files", &["path"], |arguments| {
            let entries = fs::read_dir(path(text(arguments, "path")))?;
            let names: Vec<String> =
                entries.flatten().flat_map(|entry| entry.file_name().into_string()).collect();
            Ok(format!("{} entry: {}", names.len(), names.join(", ")))
        }))
        .build();
    let mut stream =
        agent.stream_prompt("Write a file, then look at it. [[agent]]").max_turns(5).await;
    let mut pieces = Vec::new();
    while let Some(item) = stream.next().await {
        match item? {
            MultiTurnStreamItem::StreamAssistantItem(StreamedAssistantContent::Text(piece)) => {
                pieces.push(piece.text);
            }
            MultiTurnStreamItem::FinalResponse(response) => {
                assert!(pieces.len() > 1, "the streamed pieces are {pieces:?}");
                assert_eq!(pieces.concat(), response.output);
                return Ok(response.output);
            }
            _ => {}
        }
    }
    Err("the stream ended without a final response".into())
}

fn tool(
    name: &str,
    parameters: &[&str],
    run: fn(&Value) -> io::Result<String>,
) -> PortableDynamicTool {
    let properties: serde_json::Map<String, Value> =
        parameters.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
    let schema = json!({"type": "object", "properties": properties, "required": parameters});
    PortableDynamicTool::new(name, format!("A tool: {name}"), schema, move |arguments| {
        let output = run(&arguments).map(ToolOutput::text).map_err(ToolExecutionError::from_error);
        Box::pin(async move { output })
    })
}

fn text<'a>(arguments: &'a Value, name: &str) -> &'a str {
    arguments[name].as_str().unwrap_or_default()
}

fn path(relative: &str) -> String {
    format!("{}/{relative}", env::var("WORK").unwrap_or_default())
}
