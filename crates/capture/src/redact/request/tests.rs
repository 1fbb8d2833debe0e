use serde_json::json;

use super::*;
use crate::mask::Keys;

fn masked(mut request: Value) -> Value {
    let names = ["get_weather", "city"].map(str::to_owned).into_iter().collect();
    let keys = Keys::new(b"a key for tests.");
    JsonMask::new(keys, std::sync::Arc::new(names)).request(&mut request, "gpt-5.5");
    request
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).unwrap().as_str().unwrap()
}

/// Who knows the system prompt cannot read the rest with it.
#[test]
fn equal_words_are_not_equal_in_another_string() {
    let said = "the quick brown fox jumps over the lazy dog";
    let request = masked(json!({"messages": [
        {"role": "system", "content": said}, {"role": "user", "content": said},
    ]}));
    let (one, other) =
        (text(&request, "/messages/0/content"), text(&request, "/messages/1/content"));
    let same = one.split(' ').zip(other.split(' ')).filter(|(one, other)| one == other).count();
    assert_eq!(same, 0, "{one} and {other}");
}

#[test]
fn only_the_url_of_a_file_has_a_type_and_that_is_one_of_a_few() {
    let request = masked(json!({"messages": [
        {"content": "data:my,secret"},
        {"content": [
            {"image_url": {"url": "data:image/png;base64,AAAA"}},
            {"image_url": {"url": "data:image/secret;name=secret,AAAA"}},
            {"file": {"file_data": "data:secret,AAAAA"}},
            {"image_url": {"url": "https://secret.example/data:image/png,x"}},
        ]},
    ]}));
    let parts = &request["messages"][1]["content"];
    assert_eq!(parts[0]["image_url"]["url"], "data:image/png,(4 bytes)");
    assert_eq!(parts[1]["image_url"]["url"], "data:application/octet-stream,(4 bytes)");
    assert_eq!(parts[2]["file"]["file_data"], "data:application/octet-stream,(5 bytes)");
    assert!(!text(&request, "/messages/0/content").starts_with("data:my"), "{request}");
    assert!(!request.to_string().contains("secret"), "{request}");
}

#[test]
fn numbers_stay_only_as_options_of_the_request() {
    let request = masked(json!({
        "temperature": 0.25, "max_tokens": 4711, "stream": true,
        "user": 4_111_111_111_111_111_u64,
        "seed": 20_250_131, "stop": [1_234_567, -12.75],
        "messages": [{"content": 4_711_471_147_u64, "max_tokens": 47_114_711, "n": u64::MAX}],
    }));
    assert_eq!(request["temperature"], 0.25);
    assert_eq!(request["max_tokens"], 4711);
    assert_eq!(request["stream"], true);
    for (pointer, number) in [
        ("/user", "4111111111111111"),
        ("/seed", "20250131"),
        ("/stop/0", "1234567"),
        ("/stop/1", "-12.75"),
        ("/messages/0/content", "4711471147"),
        ("/messages/0/max_tokens", "47114711"),
        ("/messages/0/n", "18446744073709551615"),
    ] {
        let masked = request.pointer(pointer).unwrap();
        assert!(masked.is_number(), "{pointer}: {masked}");
        assert_ne!(masked.to_string(), number, "{pointer}");
        assert_eq!(masked.to_string().len(), number.len(), "{pointer}: {masked}");
    }
}

#[test]
fn of_words_only_openais_own_stay_and_ids_refer_to_their_equals() {
    let request = masked(json!({
        "model": "gpt-5.5", "user": "ann-lee", "service_tier": "ann-lee", "tool_choice": "ann-lee",
        "messages": [
            {"role": "ann-lee", "type": "ann-lee", "name": "ann-lee", "model": "ann-lee"},
            {"role": "assistant", "tool_calls": [
                {"id": "call_ann-lee", "type": "function", "function": {"name": "get_weather"}},
                {"id": "call_2-lee", "type": "function", "function": {"name": "ann-lee"}},
            ]},
            {"role": "tool", "tool_call_id": "call_ann-lee"},
        ],
        "ann-lee": {"ann-lee": "user"},
    }));
    for word in ["ann", "lee"] {
        assert!(!request.to_string().contains(word), "{request}");
    }
    assert_eq!(request["model"], "gpt-5.5");
    let calls = &request["messages"][1]["tool_calls"];
    assert_eq!(calls[0]["type"], "function");
    assert_eq!(calls[0]["function"]["name"], "get_weather");
    assert_eq!(calls[0]["id"], request["messages"][2]["tool_call_id"]);
    assert_eq!(masked(json!({"model": "ann"}))["model"].as_str().map(str::len), Some(3));
    assert_ne!(masked(json!({"model": "ann"}))["model"], "ann");
}

#[test]
fn no_member_is_lost_where_names_are_short() {
    let members = ('a'..='z').map(|name| (name.to_string(), Value::Null));
    let before: Value = members.filter(|(name, _)| name != "n").collect();
    let request = masked(json!({ "metadata": before }));
    assert!(request["metadata"].as_object().unwrap().len() >= 20, "{request}");
}

#[test]
fn of_a_request_for_a_response_the_kinds_of_items_stay_and_ids_refer_to_their_equals() {
    let request = masked(json!({
        "model": "gpt-5.5", "max_output_tokens": 4711, "max_tool_calls": 12, "store": false,
        "instructions": "zoe-lee", "previous_response_id": "resp_zoe", "include": ["zoe-lee"],
        "user": "zoe", "safety_identifier": "zoe", "prompt_cache_key": "zoe", "truncation": "zoe",
        "reasoning": {"effort": "zoe", "summary": "zoe"}, "metadata": {"zoe": "lee"},
        "text": {"verbosity": "zoe", "format": {"type": "json_schema", "name": "zoe", "schema": {
            "type": "object", "properties": {"zoe": {"type": "string", "const": "lee"}},
        }}},
        "tools": [{"type": "function", "name": "get_weather", "description": "zoe", "parameters": {
            "type": "object", "properties": {"city": {"type": "string"}},
        }}],
        "input": [
            {"role": "user", "content": [
                {"type": "input_text", "text": "zoe"},
                {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "zoe"},
            ]},
            {"type": "reasoning", "id": "rs_zoe", "summary": [{"type": "summary_text", "text": "zoe"}],
             "encrypted_content": "zoe+lee=="},
            {"type": "function_call", "id": "fc_zoe", "call_id": "call_zoe", "name": "get_weather",
             "arguments": "{\"city\":\"zoe\"}", "status": "zoe"},
            {"type": "function_call_output", "call_id": "call_zoe", "output": "zoe"},
            {"type": "message", "id": "msg_zoe", "role": "assistant", "phase": "zoe",
             "content": [{"type": "output_text", "text": "zoe", "annotations": [{"zoe": "lee"}]}]},
            {"type": "item_reference", "id": "msg_zoe"},
        ],
    }));
    let written = request.to_string();
    for word in ["zoe", "lee", "AAAA"] {
        assert!(!written.contains(word), "{word} in {written}");
    }
    let kinds = |pointer: &str| -> Vec<Value> {
        let items = request.pointer(pointer).unwrap().as_array().unwrap();
        items.iter().map(|item| item["type"].clone()).collect()
    };
    let items = ["reasoning", "function_call", "function_call_output", "message", "item_reference"];
    assert_eq!(kinds("/input")[1..], items.map(Value::from));
    assert_eq!(kinds("/input/0/content"), ["input_text", "input_image"]);
    assert_eq!(kinds("/input/1/summary"), ["summary_text"]);
    assert_eq!(kinds("/input/4/content"), ["output_text"]);
    let input = &request["input"];
    assert_eq!(input[0]["content"][1]["image_url"], "data:image/png,(4 bytes)");
    assert_eq!(input[2]["call_id"], input[3]["call_id"]);
    assert_eq!(input[4]["id"], input[5]["id"]);
    assert_eq!(request["max_output_tokens"], 4711);
    assert_eq!(request["max_tool_calls"], 12);
    assert_eq!(request["tools"][0]["name"], "get_weather");
    assert_eq!(request["tools"][0]["parameters"]["properties"]["city"]["type"], "string");
    assert_eq!(request["text"]["format"]["type"], "json_schema");
}
