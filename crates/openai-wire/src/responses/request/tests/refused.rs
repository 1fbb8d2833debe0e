//! Every refusal names the place and says what is allowed.

use serde_json::{Value, json};

use super::{parse, with};
use crate::reading::refusal::{MISSING, TYPE, VALUE, assert_refused};
use crate::responses::{InputItem, ResponsesRequest};

/// Refused at `param` with `code`, and the message holds `words`.
#[track_caller]
fn refuses(body: &Value, param: &str, code: &str, words: &str) {
    assert_refused(body, &parse(body).expect_err("an error"), param, code, words);
}

#[track_caller]
fn refuses_item(item: &Value, place: &str, code: &str, words: &str) {
    let input = json!([{"role": "user", "content": "Hi"}, item]);
    refuses(&with(&json!({"input": input})), &format!("input[1]{place}"), code, words);
}

#[test]
fn bodies_that_are_no_object() {
    let cases: [(&[u8], &str); 3] = [
        (b"{\"model\": \"m\",", "not valid JSON: EOF while parsing"),
        (b"[]", "The body must be an object, but it is an array."),
        (b"null", "The body must be an object, but it is null."),
    ];
    for (body, words) in cases {
        let error = ResponsesRequest::parse(body).expect_err("an error");
        assert_eq!((error.status, error.param.as_deref()), (400, None));
        assert!(error.message.contains(words), "{:?} does not say {words:?}", error.message);
    }
}

#[test]
fn models_and_inputs() {
    refuses(&json!({"input": "Hi"}), "model", MISSING, "Missing required parameter: 'model'");
    refuses(&with(&json!({"model": ""})), "model", VALUE, "1 to 256 bytes");
    refuses(&with(&json!({"input": null})), "input", MISSING, "'input'");
    refuses(&with(&json!({"input": 5})), "input", TYPE, "a string or an array of items");
    refuses(&with(&json!({"input": {"role": "user"}})), "input", TYPE, "but got an object");
    refuses(&with(&json!({"input": []})), "input", "empty_array", "at least one item");
    refuses(&with(&json!({"instructions": []})), "instructions", TYPE, "a string");
    let place = "previous_response_id";
    refuses(&with(&json!({place: 5})), place, TYPE, "a string");
}

#[test]
fn what_belongs_to_chat_completions() {
    let moved = [
        ("messages", "input"),
        ("response_format", "text.format"),
        ("reasoning_effort", "reasoning.effort"),
        ("max_tokens", "max_output_tokens"),
        ("max_completion_tokens", "max_output_tokens"),
        ("functions", "tools"),
        ("function_call", "tool_choice"),
    ];
    for (name, place) in moved {
        let words =
            format!("'{name}' belongs to /v1/chat/completions: in /v1/responses it is '{place}'.");
        refuses(&json!({"model": "m", name: [5]}), name, VALUE, &words);
    }
}

#[test]
fn items() {
    refuses_item(&json!("Hi"), "", TYPE, "expected an object, but got a string");
    refuses_item(&json!({}), ".type", MISSING, "type");
    refuses_item(&json!({"content": "Hi"}), ".type", MISSING, "type");
    refuses_item(&json!({"call_id": "c"}), ".type", MISSING, "type");
    refuses_item(&json!({"id": "rs_1", "summary": []}), ".type", MISSING, "type");
    refuses_item(&json!({"type": 5}), ".type", TYPE, "a string");
    let kinds = [
        "web_search_call",
        "file_search_call",
        "computer_call",
        "computer_call_output",
        "code_interpreter_call",
        "image_generation_call",
        "local_shell_call",
        "local_shell_call_output",
        "mcp_list_tools",
        "mcp_approval_response",
        "compaction",
    ];
    for kind in kinds {
        let words = format!(
            ": '{kind}'. Supported values are: 'message', 'function_call', 'function_call_output', 'custom_tool_call', 'custom_tool_call_output', 'additional_tools', 'reasoning', 'item_reference'."
        );
        refuses_item(&json!({"type": kind, "id": "x"}), ".type", VALUE, &words);
    }
}

#[test]
fn messages() {
    refuses_item(&json!({"type": "message", "content": "Hi"}), ".role", MISSING, "role");
    refuses_item(&json!({"role": 5}), ".role", TYPE, "a string");
    let words = "'robot'. Supported values are: 'system', 'developer', 'user', 'assistant'.";
    refuses_item(&json!({"role": "robot"}), ".role", VALUE, words);
    for role in ["tool", "function"] {
        let item = json!({"role": role, "content": "4", "tool_call_id": "c"});
        refuses_item(&item, ".role", VALUE, "send an item of type 'function_call_output'");
    }
    for name in ["tool_calls", "function_call"] {
        let item = json!({"role": "assistant", name: [{"id": "c"}]});
        let place = format!(".{name}");
        refuses_item(&item, &place, VALUE, "send an item of type 'function_call'");
    }
    refuses_item(&json!({"role": "user", "id": 5}), ".id", TYPE, "a string");
    let words = "a string or an array of parts";
    refuses_item(&json!({"role": "user", "content": {}}), ".content", TYPE, words);
}

#[test]
fn parts() {
    let refuses_part = |part: Value, place: &str, code: &str, words: &str| {
        let item = json!({"role": "user", "content": ["Hi", part]});
        refuses_item(&item, &format!(".content[1]{place}"), code, words);
    };
    refuses_part(json!(5), "", TYPE, "expected an object");
    refuses_part(json!({"text": "Hi"}), ".type", MISSING, "type");
    refuses_part(json!({"type": "input_text"}), ".text", MISSING, "text");
    refuses_part(json!({"type": "input_image"}), ".image_url", MISSING, "image_url");
    let uploaded = json!({"type": "input_image", "image_url": null, "file_id": "file_1"});
    refuses_part(uploaded, ".file_id", VALUE, "send the image itself as 'image_url'");
    for r#type in ["input_file", "input_audio", "computer_screenshot", "reasoning_text"] {
        let words =
            format!("'{type}'. Only texts and images can be sent: supported values are 'text', ");
        refuses_part(json!({"type": r#type}), ".type", VALUE, &words);
    }
}

#[test]
fn calls_and_outputs() {
    let call = |members: Value| super::items::and(&json!({"type": "function_call"}), &members);
    refuses_item(&call(json!({"name": "f"})), ".call_id", MISSING, "call_id");
    refuses_item(&call(json!({"call_id": "c"})), ".name", MISSING, "name");
    let empty = call(json!({"call_id": "c", "name": ""}));
    refuses_item(&empty, ".name", VALUE, "must not be empty");
    let list = call(json!({"call_id": "c", "name": "f", "arguments": [1]}));
    refuses_item(&list, ".arguments", TYPE, "a string of JSON, but got an array");

    let output = json!({"type": "function_call_output", "output": "4"});
    refuses_item(&output, ".call_id", MISSING, "call_id");
    for (output, found) in [(json!({"a": 1}), "an object"), (json!(4), "an integer")] {
        let words = format!("a string or an array of parts, but got {found}");
        refuses_item(&json!({"call_id": "c", "output": output}), ".output", TYPE, &words);
    }
    let part = json!({"call_id": "c", "output": [{"type": "input_file"}]});
    refuses_item(&part, ".output[0].type", VALUE, "'input_file'");
}

#[test]
fn reasoning_and_references() {
    let reasoning = |summary: Value| json!({"type": "reasoning", "summary": summary});
    refuses_item(&reasoning(json!("a")), ".summary", TYPE, "an array");
    refuses_item(&reasoning(json!([5])), ".summary[0]", TYPE, "an object");
    refuses_item(&reasoning(json!([{}])), ".summary[0].text", MISSING, "text");
    let other = reasoning(json!([{"type": "text", "text": "a"}]));
    refuses_item(&other, ".summary[0].type", VALUE, "Supported value is: 'summary_text'");
    let encrypted = json!({"type": "reasoning", "encrypted_content": {}});
    refuses_item(&encrypted, ".encrypted_content", TYPE, "a string");
    refuses_item(&json!({"type": "item_reference"}), ".id", MISSING, "id");
    refuses_item(&json!({"id": 5}), ".id", TYPE, "a string");
}

#[test]
fn kept_items() {
    let error = InputItem::parse("{").expect_err("an error");
    assert_eq!((error.status, error.param), (400, None));
    let error = InputItem::parse(r#"{"role":"user","content":5}"#).expect_err("an error");
    assert_eq!((error.status, error.param.as_deref()), (400, Some("content")));
}

#[test]
fn tools() {
    let refuses_tool = |tool: Value, place: &str, code: &str, words: &str| {
        let body = with(&json!({"tools": [{"name": "f"}, tool]}));
        refuses(&body, &format!("tools[1]{place}"), code, words);
    };
    refuses(&with(&json!({"tools": {}})), "tools", TYPE, "expected an array");
    refuses_tool(json!("f"), "", TYPE, "an object");
    for kind in ["custom", "namespace"] {
        refuses_tool(json!({"type": kind}), ".name", MISSING, "name");
        refuses_tool(json!({"type": kind, "name": ""}), ".name", VALUE, "1 to 512 bytes");
    }
    refuses_tool(json!({"type": "custom", "name": "f"}), ".name", VALUE, "names must differ");
    let inside = json!({"type": "namespace", "name": "functions", "tools": [{"name": "f"}]});
    refuses_tool(inside, ".tools[0].name", VALUE, "names must differ");
    let format = |format: Value| json!({"type": "custom", "name": "g", "format": format});
    refuses_tool(format(json!({"type": "xml"})), ".format.type", VALUE, "'text', 'grammar'");
    refuses_tool(format(json!({"type": "grammar"})), ".format.syntax", MISSING, "syntax");
    refuses_tool(json!({"type": "function"}), ".name", MISSING, "name");
    refuses_tool(json!({"function": {}}), ".function.name", MISSING, "name");
    refuses_tool(json!({"name": "f"}), ".name", VALUE, "names must differ");
    refuses_tool(json!({"name": "g", "parameters": true}), ".parameters", TYPE, "an object");
    let schema = json!({"name": "g", "parameters": {"type": "string"}});
    let words = "its 'type' must be 'object', but is 'string'";
    refuses_tool(schema, ".parameters", "invalid_function_parameters", words);
}

#[test]
fn tool_choices() {
    let refuses_choice = |choice: Value, param: &str, code: &str, words: &str| {
        let body = with(&json!({"tools": [{"name": "f"}], "tool_choice": choice}));
        refuses(&body, param, code, words);
    };
    refuses_choice(json!("any"), "tool_choice", VALUE, "'none', 'auto', 'required'");
    for kind in ["web_search_preview", "mcp"] {
        let words =
            format!("'{kind}'. Supported values are: 'function', 'custom', 'allowed_tools'.");
        refuses_choice(json!({"type": kind, "name": "f"}), "tool_choice.type", VALUE, &words);
    }
    let unknown = json!({"type": "function", "name": "g"});
    refuses_choice(unknown, "tool_choice.name", VALUE, "no tool that is named 'g'");
    let hosted = json!({"type": "allowed_tools", "mode": "required", "tools": [{"type": "mcp"}]});
    refuses_choice(hosted, "tool_choice.tools", VALUE, "one that a client runs");
    let only_hosted = json!({"tools": [{"type": "mcp"}], "tool_choice": "required"});
    refuses(&with(&only_hosted), "tool_choice", VALUE, "that a client runs");
    let without = with(&json!({"tool_choice": "required"}));
    refuses(&without, "tool_choice", VALUE, "only if 'tools' are given");
}

#[test]
fn texts() {
    let refuses_format = |format: Value, place: &str, code: &str, words: &str| {
        let body = with(&json!({"text": {"format": format}}));
        refuses(&body, &format!("text.format{place}"), code, words);
    };
    refuses(&with(&json!({"text": "json"})), "text", TYPE, "an object");
    refuses(&with(&json!({"text": {"verbosity": 5}})), "text.verbosity", TYPE, "a string");
    refuses_format(json!("json"), "", TYPE, "an object");
    refuses_format(json!({}), ".type", MISSING, "type");
    let words = "'text', 'json_object', 'json_schema'";
    refuses_format(json!({"type": "grammar"}), ".type", VALUE, words);
    refuses_format(json!({"type": "json_schema"}), ".schema", MISSING, "schema");
    let schema = json!({"type": "json_schema", "schema": true});
    refuses_format(schema, ".schema", TYPE, "an object");
    let nested = json!({"type": "json_schema", "json_schema": {"schema": {}, "name": 5}});
    refuses_format(nested, ".json_schema.name", TYPE, "a string");
}

#[test]
fn simple_fields() {
    let below = "integer_below_min_value";
    for name in ["max_output_tokens", "max_tool_calls"] {
        refuses(&with(&json!({name: 0})), name, below, "Expected a value >= 1, but got 0");
        refuses(&with(&json!({name: 1.5})), name, TYPE, "an integer, but got a decimal number");
    }
    for name in ["stream", "store", "parallel_tool_calls", "background"] {
        refuses(&with(&json!({name: 1})), name, TYPE, "a boolean, but got an integer");
    }
    for name in ["user", "safety_identifier", "prompt_cache_key", "truncation"] {
        refuses(&with(&json!({name: 1})), name, TYPE, "a string, but got an integer");
    }
    refuses(&with(&json!({"background": true})), "background", VALUE, "in the background");
    refuses(&with(&json!({"conversation": "c"})), "conversation", VALUE, "previous_response_id");
    refuses(&with(&json!({"prompt": {"id": "p"}})), "prompt", VALUE, "no stored prompts");
    let audio = json!({"modalities": ["text", "audio"]});
    refuses(&with(&audio), "modalities[1]", VALUE, "Supported value is: 'text'");
    refuses(&with(&json!({"truncation": "last"})), "truncation", VALUE, "'auto', 'disabled'");
    let include = json!({"include": ["reasoning.encrypted_content", "usage"]});
    let words = "'usage'. Supported values are: 'file_search_call.results', ";
    refuses(&with(&include), "include[1]", VALUE, words);
    refuses(&with(&json!({"include": [null]})), "include[0]", TYPE, "a string, but got null");
    refuses(&with(&json!({"include": "all"})), "include", TYPE, "an array");
    refuses(&with(&json!({"reasoning": "high"})), "reasoning", TYPE, "an object");
    for name in ["summary", "generate_summary"] {
        let body = with(&json!({"reasoning": {name: "long"}}));
        let words = "'auto', 'concise', 'detailed', 'none'";
        refuses(&body, &format!("reasoning.{name}"), VALUE, words);
    }
}

#[test]
fn metadata() {
    let refuses_notes = |metadata: Value, param: &str, code: &str, words: &str| {
        refuses(&with(&json!({"metadata": metadata})), param, code, words);
    };
    refuses_notes(json!("a"), "metadata", TYPE, "an object");
    refuses_notes(json!({"a": 5}), "metadata.a", TYPE, "a string, but got an integer");
    refuses_notes(json!({"a": null}), "metadata.a", TYPE, "a string, but got null");
    let many: Value = (0..17).map(|number| (number.to_string(), Value::from("x"))).collect();
    refuses_notes(many, "metadata", VALUE, "at most 16, but got 17");
    refuses_notes(json!({"k".repeat(65): "x"}), "metadata", VALUE, "at most 64 characters");
    refuses_notes(json!({"a": "x".repeat(513)}), "metadata.a", VALUE, "at most 512 characters");
}
