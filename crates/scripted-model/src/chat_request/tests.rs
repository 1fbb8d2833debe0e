use super::*;

#[test]
fn tools_and_calls_of_every_kind_keep_it() {
    let asked = json!({
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "1", "type": "custom", "custom": {"name": "edit", "input": "+a"}},
                {"id": "2", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            ]},
            {"role": "tool", "tool_call_id": "1", "content": "done"},
        ],
        "tools": [
            {"type": "function", "function": {"name": "f"}},
            {"type": "custom", "custom": {"name": "edit"}},
            {"type": "custom", "name": "flat"},
            {"type": "web_search"},
        ],
    });
    let request = as_response_request(&asked);
    assert_eq!(
        request["tools"],
        json!([
            {"type": "function", "name": "f"},
            {"type": "custom", "name": "edit"},
            {"type": "custom", "name": "flat"},
            {"type": "web_search"},
        ])
    );
    let items = json!([
        {"type": "custom_tool_call", "call_id": "1", "name": "edit", "input": "+a"},
        {"type": "function_call", "call_id": "2", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": "done"},
    ]);
    assert_eq!(request["input"].as_array().unwrap()[1..], *items.as_array().unwrap());
}
