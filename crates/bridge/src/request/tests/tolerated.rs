//! Requests that real clients send, whole.

use model_turn::{Tool, TurnRequest};
use serde_json::{Value, json};

use super::{assistant, call, developer, output, plain_turn, prepared, user, with};
use crate::policy::{OutputMode, TextBlocks};

#[test]
fn obsidian_copilot_of_the_xml_era() {
    let prompt = "Use <use_tool> to call a tool.";
    let block = "<use_tool>\n<name>getFileTree</name>\n</use_tool>";
    let body = json!({
        "model": "chat",
        "messages": [
            {"role": "assistant", "content": prompt},
            {"role": "user", "content": [{"type": "text", "text": "What is in my vault?"}]},
            {"role": "assistant", "content": block},
            {"role": "user", "content": "Tool 'getFileTree' result: []"},
        ],
        "temperature": 0.1,
        "max_tokens": 1000,
        "stream": true,
    });
    let prepared = prepared(&body);
    let expected = TurnRequest {
        model: "chat".to_owned(),
        history: vec![
            developer(prompt),
            user("What is in my vault?"),
            assistant(block),
            user("Tool 'getFileTree' result: []"),
        ],
        ..plain_turn()
    };
    assert_eq!(prepared.turn, expected);
    assert_eq!(prepared.policy.mode, OutputMode::ObsidianXml);
    assert_eq!(prepared.policy.text_blocks, TextBlocks::Any);
    assert_eq!(prepared.ignored, ["temperature"]);
}

#[test]
fn obsidian_copilot_verifying_a_model() {
    let messages = json!([{"role": "user", "content": "hello"}]);
    let body = json!({
        "model": "chat", "messages": messages, "max_tokens": 30, "stream": false, "temperature": 0,
        "n": 1, "frequency_penalty": null, "top_p": null,
    });
    let prepared = prepared(&body);
    let expected =
        TurnRequest { model: "chat".to_owned(), history: vec![user("hello")], ..plain_turn() };
    assert_eq!(prepared.turn, expected);
    assert_eq!((prepared.choices, prepared.stream), (1, false));
    assert_eq!(prepared.policy.text_blocks, TextBlocks::Ignored);
}

#[test]
fn a_round_trip_of_a_client_with_tools() {
    let city = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"city": {"type": "string", "description": "Name of the city"}},
        "required": ["city"],
        "additionalProperties": false,
    });
    let weather = json!({"name": "get_weather", "description": "The weather", "parameters": city, "strict": null});
    let body = json!({
        "model": "chat",
        "messages": [
            {"role": "system", "content": "Be brief.", "name": "app"},
            {"role": "user", "content": "Paris?", "name": "Ann"},
            {
                "role": "assistant",
                "content": "",
                "refusal": null,
                "annotations": [],
                "audio": null,
                "function_call": null,
                "reasoning_content": "The person wants the weather.",
                "tool_calls": [{"index": 0, "id": "tool_0_0_x9", "type": "function", "function": {
                    "name": "get_weather", "arguments": "{\"city\": \"Paris\"}",
                }}],
            },
            {"role": "tool", "tool_call_id": "tool_0_0_x9", "name": "get_weather", "content": [
                {"type": "text", "text": "Rain", "cache_control": {"type": "ephemeral"}},
            ]},
        ],
        "tools": [{"type": "function", "function": weather}],
        "tool_choice": "auto",
        "parallel_tool_calls": true,
        "stream": true,
        "stream_options": {"include_usage": true},
        "store": false,
        "metadata": {},
        "user": "ann",
        "prompt_cache_key": "k",
        "include": [],
        "text": {},
    });
    let prepared = prepared(&body);
    let expected = TurnRequest {
        model: "chat".to_owned(),
        history: vec![
            developer("Be brief."),
            user("Paris?"),
            call("call_x9", "get_weather", "{\"city\": \"Paris\"}"),
            output("call_x9", "Rain"),
        ],
        tools: vec![Tool::function(
            "get_weather",
            "The weather",
            json!({
                "type": "object",
                "properties": {"city": {"type": "string", "description": "Name of the city"}},
                "required": ["city"],
                "additionalProperties": false,
            }),
        )],
        early_arguments: true,
        ..plain_turn()
    };
    assert_eq!(prepared.turn, expected);
    assert_eq!(prepared.policy.mode, OutputMode::OpenAiJson);
    assert_eq!(prepared.ignored, [""; 0]);
    assert!(prepared.include_usage);
}

#[test]
fn small_liberties() {
    let cases: [Value; 10] = [
        json!({"tools": [], "tool_choice": "none", "functions": null}),
        json!({"tools": null, "tool_choice": null, "parallel_tool_calls": null}),
        json!({"max_tokens": 5, "max_completion_tokens": 5}),
        json!({"stream_options": null, "stream": null}),
        json!({"response_format": {"type": "text"}, "stop": null, "n": null}),
        json!({"user": "u", "metadata": {"a": "b"}, "store": true, "safety_identifier": "s"}),
        json!({"reasoning": {}, "modalities": ["text"], "audio": null}),
        json!({"messages": [{"role": "user", "content": "Hi", "name": "Ann", "extra": {}}]}),
        json!({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": ""}]}),
        json!({"options": {}, "keep_alive": "5m", "extra_body": null}),
    ];
    for members in cases {
        let prepared = prepared(&with(&members));
        assert_eq!(prepared.turn, plain_turn(), "{members}");
        assert_eq!(prepared.ignored, [""; 0], "{members}");
    }
}
