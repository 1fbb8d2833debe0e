//! Every refusal names the place and says what is allowed.

use serde_json::{Value, json};

use super::{parse, with};
use crate::reading::refusal::{MISSING, TYPE, VALUE, assert_refused};

/// Refused at `param` with `code`, and the message holds `words`.
#[track_caller]
fn refuses(body: &Value, param: &str, code: &str, words: &str) {
    assert_refused(body, &parse(body).expect_err("an error"), param, code, words);
}

#[track_caller]
fn refuses_message(message: &Value, place: &str, code: &str, words: &str) {
    let messages = json!([{"role": "user", "content": "Hi"}, message]);
    let param = format!("messages[1]{place}");
    refuses(&with(&json!({"messages": messages})), &param, code, words);
}

#[test]
fn bodies_that_are_no_object() {
    let deep = "[".repeat(200);
    let cases: [(&[u8], &str); 8] = [
        (b"", "not valid JSON: EOF while parsing a value at line 1 column 0"),
        (b"{\"model\": \"m\",", "line 1 column 14"),
        (b"{\n\"model\": 'm'}", "line 2 column 10"),
        (b"\xff{}", "line 1 column 1"),
        (b"{} {}", "trailing characters"),
        (deep.as_bytes(), "recursion limit exceeded"),
        (b"[]", "The body must be an object, but it is an array."),
        (b"null", "The body must be an object, but it is null."),
    ];
    for (body, words) in cases {
        let error = super::ChatRequest::parse(body).expect_err("an error");
        assert_eq!((error.status, error.param.as_deref()), (400, None));
        assert!(error.message.contains(words), "{:?} does not say {words:?}", error.message);
    }
}

#[test]
fn models_and_messages() {
    let without = |name: &str| {
        let mut body = with(&json!({}));
        body.as_object_mut().expect("an object").remove(name);
        body
    };
    refuses(&without("model"), "model", MISSING, "Missing required parameter: 'model'");
    refuses(&without("messages"), "messages", MISSING, "'messages'");
    refuses(&with(&json!({"model": null})), "model", MISSING, "'model'");
    refuses(&with(&json!({"model": 5})), "model", TYPE, "expected a string, but got an integer");
    refuses(&with(&json!({"model": ""})), "model", VALUE, "1 to 256 bytes");
    refuses(&with(&json!({"model": "m".repeat(257)})), "model", VALUE, "1 to 256 bytes");
    refuses(&with(&json!({"messages": []})), "messages", "empty_array", "at least one message");
    refuses(&with(&json!({"messages": "Hi"})), "messages", TYPE, "expected an array");
    refuses_message(&json!("Hi"), "", TYPE, "expected an object, but got a string");
    refuses_message(&json!({"content": "Hi"}), ".role", MISSING, "role");
    refuses_message(
        &json!({"role": "robot"}),
        ".role",
        VALUE,
        "'robot'. Supported values are: 'system'",
    );
    refuses_message(
        &json!({"role": "user", "content": 5}),
        ".content",
        TYPE,
        "a string or an array",
    );
    refuses_message(&json!({"role": "tool"}), ".tool_call_id", MISSING, "tool_call_id");
    refuses_message(&json!({"role": "tool", "tool_call_id": 5}), ".tool_call_id", TYPE, "a string");
    refuses_message(&json!({"role": "function"}), ".name", MISSING, "name");
    let audio = json!({"role": "assistant", "audio": {"id": "a"}});
    refuses_message(&audio, ".audio", VALUE, "send its text as 'content'");
}

#[test]
fn parts() {
    let refuses_part = |part: Value, place: &str, code: &str, words: &str| {
        let message = json!({"role": "user", "content": ["Hi", part]});
        refuses_message(&message, &format!(".content[1]{place}"), code, words);
    };
    refuses_part(json!(5), "", TYPE, "expected an object");
    refuses_part(json!({"text": "Hi"}), ".type", MISSING, "type");
    refuses_part(json!({"type": "text"}), ".text", MISSING, "text");
    refuses_part(json!({"type": "text", "text": 5}), ".text", TYPE, "a string");
    refuses_part(json!({"type": "refusal"}), ".refusal", MISSING, "refusal");
    refuses_part(json!({"type": "image_url"}), ".image_url", MISSING, "image_url");
    refuses_part(json!({"type": "image_url", "image_url": {}}), ".image_url.url", MISSING, "url");
    refuses_part(json!({"type": "image_url", "image_url": 5}), ".image_url", TYPE, "an object");
    let detail = json!({"type": "image_url", "image_url": {"url": "data:", "detail": 5}});
    refuses_part(detail, ".image_url.detail", TYPE, "a string");
    for r#type in ["file", "input_file", "input_audio", "video_url", "thinking"] {
        let words = format!(
            "'{type}'. Only texts and images can be sent: supported values are 'text', 'image_url'"
        );
        refuses_part(json!({"type": r#type}), ".type", VALUE, &words);
    }
    let long = "x".repeat(1000);
    let error = parse(&with(&json!({"messages": [{"role": long}]}))).expect_err("an error");
    assert!(error.message.len() < 250, "a long text is cut: {}", error.message);
}

#[test]
fn calls() {
    let refuses_call = |call: Value, place: &str, code: &str, words: &str| {
        let message = json!({"role": "assistant", "tool_calls": [call]});
        refuses_message(&message, &format!(".tool_calls[0]{place}"), code, words);
    };
    refuses_call(json!([]), "", TYPE, "an object");
    refuses_call(json!({"function": {"name": "f"}}), ".id", MISSING, "id");
    refuses_call(json!({"id": 5}), ".id", TYPE, "a string");
    refuses_call(json!({"id": "1"}), ".function", MISSING, "function");
    let other = json!({"id": "1", "type": "mcp"});
    refuses_call(other, ".type", VALUE, "Supported values are: 'function', 'custom'");
    refuses_call(json!({"id": "1", "type": "custom"}), ".custom", MISSING, "custom");
    let empty = json!({"id": "1", "type": "custom", "custom": {"name": ""}});
    refuses_call(empty, ".custom.name", VALUE, "must not be empty");
    refuses_call(json!({"id": "1", "function": {}}), ".function.name", MISSING, "name");
    let empty = json!({"id": "1", "function": {"name": ""}});
    refuses_call(empty, ".function.name", VALUE, "must not be empty");
    let arguments = json!({"id": "1", "function": {"name": "f", "arguments": [1]}});
    refuses_call(arguments, ".function.arguments", TYPE, "a string of JSON, but got an array");
    let beside = json!({"id": "1", "function": {"name": "f"}, "arguments": 1});
    refuses_call(beside, ".arguments", TYPE, "a string of JSON, but got an integer");
    let legacy = json!({"role": "assistant", "function_call": {"arguments": "{}"}});
    refuses_message(&legacy, ".function_call.name", MISSING, "name");
}

#[test]
fn tools() {
    let refuses_tool = |tool: Value, place: &str, code: &str, words: &str| {
        let body = with(&json!({"tools": [{"function": {"name": "f"}}, tool]}));
        refuses(&body, &format!("tools[1]{place}"), code, words);
    };
    refuses(&with(&json!({"tools": {}})), "tools", TYPE, "expected an array");
    refuses_tool(json!("f"), "", TYPE, "an object");
    refuses_tool(json!({"type": "function"}), ".function", MISSING, "function");
    refuses_tool(json!({"type": "custom"}), ".custom", MISSING, "custom");
    refuses_tool(json!({"type": "custom", "custom": {}}), ".custom.name", MISSING, "name");
    refuses_tool(json!({"function": {}}), ".function.name", MISSING, "name");
    refuses_tool(json!({"function": {"name": ""}}), ".function.name", VALUE, "1 to 512 bytes");
    let long = "n".repeat(513);
    refuses_tool(json!({"function": {"name": long}}), ".function.name", VALUE, "1 to 512 bytes");
    refuses_tool(json!({"function": {"name": "f"}}), ".function.name", VALUE, "names must differ");
    let with_member = |name: &str, value: Value| json!({"function": {"name": "g", name: value}});
    refuses_tool(with_member("description", json!(5)), ".function.description", TYPE, "a string");
    refuses_tool(with_member("strict", json!("yes")), ".function.strict", TYPE, "a boolean");
    refuses_tool(with_member("parameters", json!(true)), ".function.parameters", TYPE, "an object");
    let place = ".function.parameters";
    let words = "its 'type' must be 'object', but is 'string'";
    let schema = with_member("parameters", json!({"type": "string"}));
    refuses_tool(schema, place, "invalid_function_parameters", words);

    let functions = json!([{"name": "f"}, {"name": "f"}]);
    refuses(&with(&json!({"functions": functions})), "functions[1].name", VALUE, "differ");
    let both = json!({"functions": [{"name": "f"}], "tools": [{"function": {"name": "f"}}]});
    refuses(&with(&both), "functions", VALUE, "declare all of them in 'tools'");
}

#[test]
fn tool_choices() {
    let refuses_choice = |choice: Value, param: &str, code: &str, words: &str| {
        let tools = json!([{"function": {"name": "f"}}]);
        refuses(&with(&json!({"tools": tools, "tool_choice": choice})), param, code, words);
    };
    refuses_choice(json!(5), "tool_choice", TYPE, "a string or an object");
    refuses_choice(json!("any"), "tool_choice", VALUE, "'none', 'auto', 'required'");
    refuses_choice(json!({}), "tool_choice.type", MISSING, "type");
    let types = "'function', 'custom', 'allowed_tools'";
    refuses_choice(json!({"type": "web_search"}), "tool_choice.type", VALUE, types);
    refuses_choice(json!({"type": "custom"}), "tool_choice.name", MISSING, "name");
    let named = |name: &str| json!({"type": "function", "function": {"name": name}});
    let (param, words) = ("tool_choice.function.name", "no tool that is named 'g'");
    refuses_choice(named("g"), param, VALUE, words);
    refuses_choice(json!({"type": "function", "name": "g"}), "tool_choice.name", VALUE, words);
    refuses_choice(json!({"type": "function"}), "tool_choice.name", MISSING, "name");
    let allowed = |members: Value| json!({"type": "allowed_tools", "allowed_tools": members});
    let place = |name: &str| format!("tool_choice.allowed_tools.{name}");
    refuses_choice(allowed(json!({})), &place("mode"), MISSING, "mode");
    refuses_choice(allowed(json!({"mode": "x"})), &place("mode"), VALUE, "'auto', 'required'");
    refuses_choice(allowed(json!({"mode": "auto"})), &place("tools"), MISSING, "tools");
    let unknown = allowed(json!({"mode": "auto", "tools": [named("f"), named("g")]}));
    refuses_choice(unknown, &place("tools[1].function.name"), VALUE, words);

    let without = with(&json!({"tool_choice": "required", "tools": []}));
    refuses(&without, "tool_choice", VALUE, "only if 'tools' are given");
    refuses(&with(&json!({"tool_choice": named("f")})), param, VALUE, "no tool");
    let legacy = |choice: Value| with(&json!({"function_call": choice}));
    refuses(&legacy(json!("required")), "function_call", VALUE, "'none', 'auto'");
    refuses(&legacy(json!(true)), "function_call", TYPE, "a string or an object");
    refuses(&legacy(json!({"name": "g"})), "function_call.name", VALUE, "no tool");
    let both = with(&json!({"tool_choice": "auto", "function_call": "auto"}));
    refuses(&both, "function_call", VALUE, "together with 'tool_choice'");
}

#[test]
fn simple_fields() {
    let below = "integer_below_min_value";
    for name in ["n", "max_tokens", "max_completion_tokens"] {
        refuses(&with(&json!({name: 0})), name, below, "Expected a value >= 1, but got 0");
        refuses(&with(&json!({name: -1})), name, below, "Expected a value >= 1, but got -1");
        refuses(&with(&json!({name: 1.5})), name, TYPE, "an integer, but got a decimal number");
        refuses(&with(&json!({name: "1"})), name, TYPE, "an integer, but got a string");
    }
    for name in ["stream", "parallel_tool_calls"] {
        refuses(&with(&json!({name: 1})), name, TYPE, "a boolean, but got an integer");
    }
    refuses(&with(&json!({"stop": ""})), "stop", VALUE, "must not be empty");
    refuses(&with(&json!({"stop": 5})), "stop", TYPE, "a string or an array of strings");
    refuses(&with(&json!({"stop": ["a", ""]})), "stop[1]", VALUE, "must not be empty");
    refuses(&with(&json!({"stop": ["a", null]})), "stop[1]", TYPE, "a string, but got null");
    let five = json!({"stop": ["a", "b", "c", "d", "e"]});
    refuses(&with(&five), "stop", "array_above_max_length", "at most 4 strings, but got 5");
    refuses(&with(&json!({"stream_options": true})), "stream_options", TYPE, "an object");
    let usage = json!({"stream_options": {"include_usage": "yes"}});
    refuses(&with(&usage), "stream_options.include_usage", TYPE, "a boolean");
    let verbosity = json!({"verbosity": "chatty"});
    refuses(&with(&verbosity), "verbosity", VALUE, "'low', 'medium', 'high'");
    refuses(&with(&json!({"service_tier": 1})), "service_tier", TYPE, "a string");
    refuses(&with(&json!({"audio": {}})), "audio", VALUE, "Audio cannot be had");
    let audio = json!({"modalities": ["text", "audio"]});
    refuses(&with(&audio), "modalities[1]", VALUE, "Supported value is: 'text'");
    refuses(&with(&json!({"modalities": [1]})), "modalities[0]", TYPE, "a string");
    refuses(&with(&json!({"reasoning_effort": 5})), "reasoning_effort", TYPE, "a string");
    refuses(
        &with(&json!({"reasoning_effort": ""})),
        "reasoning_effort",
        VALUE,
        "must not be empty",
    );
    refuses(&with(&json!({"reasoning": "high"})), "reasoning", TYPE, "an object");
    refuses(&with(&json!({"reasoning": {"effort": 1}})), "reasoning.effort", TYPE, "a string");
    let summary = json!({"reasoning": {"summary": "long"}});
    refuses(&with(&summary), "reasoning.summary", VALUE, "'auto', 'concise', 'detailed', 'none'");
}

#[test]
fn response_formats() {
    let refuses_format = |format: Value, place: &str, code: &str, words: &str| {
        let param = format!("response_format{place}");
        refuses(&with(&json!({"response_format": format})), &param, code, words);
    };
    refuses_format(json!("json"), "", TYPE, "an object");
    refuses_format(json!({}), ".type", MISSING, "type");
    refuses_format(json!({"type": "xml"}), ".type", VALUE, "'text', 'json_object', 'json_schema'");
    refuses_format(json!({"type": "json_schema"}), ".json_schema", MISSING, "json_schema");
    let schema = |members: Value| json!({"type": "json_schema", "json_schema": members});
    refuses_format(schema(json!({"name": "x"})), ".json_schema.schema", MISSING, "schema");
    refuses_format(schema(json!({"schema": true})), ".json_schema.schema", TYPE, "an object");
    let strict = schema(json!({"schema": {}, "strict": 1}));
    refuses_format(strict, ".json_schema.strict", TYPE, "a boolean");
}
