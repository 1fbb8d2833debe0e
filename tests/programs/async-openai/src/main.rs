//! async-openai: an agent's loop with tools, streamed, with its typed requests and events.

use std::collections::BTreeMap;
use std::time::Duration;
use std::{env, fs};

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::CreateChatCompletionRequest;
use async_openai::types::responses::{CreateResponse, OutputItem, ResponseStreamEvent};
use futures::StreamExt as _;
use serde_json::{Value, json};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const PROMPT: &str = "Write a file, then look at it. [[agent]]";
const MOST_ANSWERS: usize = 5;

/// A call of the model's: its id, the tool and the arguments.
struct Call {
    id: String,
    name: String,
    arguments: String,
}

#[tokio::main]
async fn main() -> Result<()> {
    let config =
        OpenAIConfig::new().with_api_base(env::var("BASE_URL")?).with_api_key(env::var("API_KEY")?);
    let client = Client::with_config(config);
    let task = async {
        match env::var("VARIANT")?.as_str() {
            "chat" => chat(&client).await,
            _ => responses(&client).await,
        }
    };
    let text = tokio::time::timeout(Duration::from_secs(60), task).await??;
    let file = fs::read_to_string(format!("{}/agent.txt", env::var("WORK")?))?;
    assert_eq!(file.trim(), "Written by the agent.");
    for part in ["The agent is done.", "Written by the agent.", "1 entry: agent.txt"] {
        assert!(text.contains(part), "the final text is {text:?}");
    }
    println!("{text}");
    Ok(())
}

async fn chat(client: &Client<OpenAIConfig>) -> Result<String> {
    let mut messages = vec![json!({"role": "user", "content": PROMPT})];
    let tools: Vec<Value> =
        tools().into_iter().map(|tool| json!({"type": "function", "function": tool})).collect();
    for _ in 0..MOST_ANSWERS {
        let request = json!({
            "model": env::var("MODEL")?, "messages": messages, "tools": tools,
            "stream_options": {"include_usage": true},
        });
        let request: CreateChatCompletionRequest = serde_json::from_value(request)?;
        let mut stream = client.chat().create_stream(request).await?;
        let (mut text, mut calls) = (String::new(), BTreeMap::<u32, Call>::new());
        while let Some(chunk) = stream.next().await {
            for choice in chunk?.choices {
                text += &choice.delta.content.unwrap_or_default();
                for piece in choice.delta.tool_calls.unwrap_or_default() {
                    let call = calls.entry(piece.index).or_insert_with(|| Call {
                        id: piece.id.unwrap_or_default(),
                        name: String::new(),
                        arguments: String::new(),
                    });
                    let function = piece.function.unwrap_or_default();
                    call.name += &function.name.unwrap_or_default();
                    call.arguments += &function.arguments.unwrap_or_default();
                }
            }
        }
        if calls.is_empty() {
            return Ok(text);
        }
        let sent: Vec<Value> = calls
            .values()
            .map(|call| {
                let function = json!({"name": call.name, "arguments": call.arguments});
                json!({"id": call.id, "type": "function", "function": function})
            })
            .collect();
        messages.push(json!({"role": "assistant", "content": text, "tool_calls": sent}));
        for call in calls.values() {
            messages.push(json!({"role": "tool", "tool_call_id": call.id, "content": run(call)?}));
        }
    }
    Err("too many answers".into())
}

async fn responses(client: &Client<OpenAIConfig>) -> Result<String> {
    let mut input = vec![json!({"role": "user", "content": PROMPT})];
    let mut previous = None;
    let tools: Vec<Value> = tools()
        .into_iter()
        .map(|mut tool| {
            tool["type"] = json!("function");
            tool
        })
        .collect();
    for _ in 0..MOST_ANSWERS {
        let request = json!({
            "model": env::var("MODEL")?, "input": input, "tools": tools,
            "previous_response_id": previous,
        });
        let request: CreateResponse = serde_json::from_value(request)?;
        let mut stream = client.responses().create_stream(request).await?;
        let (mut text, mut done) = (String::new(), None);
        while let Some(event) = stream.next().await {
            match event? {
                ResponseStreamEvent::ResponseOutputTextDelta(event) => text += &event.delta,
                ResponseStreamEvent::ResponseCompleted(event) => done = Some(event.response),
                _ => {}
            }
        }
        let done = done.ok_or("no response.completed")?;
        let calls: Vec<Call> = done
            .output
            .into_iter()
            .filter_map(|item| match item {
                OutputItem::FunctionCall(call) => {
                    Some(Call { id: call.call_id, name: call.name, arguments: call.arguments })
                }
                _ => None,
            })
            .collect();
        if calls.is_empty() {
            return Ok(text);
        }
        previous = Some(done.id);
        input.clear();
        for call in &calls {
            let output = run(call)?;
            input.push(
                json!({"type": "function_call_output", "call_id": call.id, "output": output}),
            );
        }
    }
    Err("too many answers".into())
}

fn tools() -> Vec<Value> {
    let tool = |name: &str, parameters: &[&str]| {
        let properties: serde_json::Map<String, Value> =
            parameters.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
        json!({
            "name": name,
            "parameters": {"type": "object", "properties": properties, "required": parameters},
        })
    };
    vec![
        tool("write_file", &["path", "content"]),
        tool("read_file", &["path"]),
        tool("list_files", &["path"]),
    ]
}

fn run(call: &Call) -> Result<String> {
    let arguments: Value = serde_json::from_str(&call.arguments)?;
    let path = format!("{}/{}", env::var("WORK")?, arguments["path"].as_str().ok_or("no path")?);
    Ok(match call.name.as_str() {
        "write_file" => {
            fs::write(path, arguments["content"].as_str().ok_or("no content")?)?;
            "written".to_owned()
        }
        "read_file" => fs::read_to_string(path)?,
        "list_files" => {
            let names: std::io::Result<Vec<_>> =
                fs::read_dir(path)?.map(|entry| Ok(entry?.file_name().into_string())).collect();
            let names: Vec<String> = names?.into_iter().flatten().collect();
            format!("{} entry: {}", names.len(), names.join(", "))
        }
        other => return Err(format!("no tool {other}").into()),
    })
}
