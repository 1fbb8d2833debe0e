use serde_json::{Value, json};

use super::{Request, ToolResult};

fn names(body: &Value) -> Vec<(Option<&str>, &str)> {
    Request::new(body).tools().iter().map(|tool| (tool.namespace, tool.name)).collect()
}

#[test]
fn tools_are_found_at_the_top_in_namespaces_and_in_input_items() {
    let body = json!({
        "tools": [
            {"type": "function", "name": "a"},
            {"type": "web_search"},
            {"type": "namespace", "name": "files", "tools": [{"type": "function", "name": "b"}]},
        ],
        "input": [{"type": "additional_tools", "tools": [
            {"type": "namespace", "name": "functions", "tools": [{"type": "function", "name": "c"}]},
        ]}],
    });
    assert_eq!(names(&body), [(None, "a"), (Some("files"), "b"), (None, "c")]);
}

#[test]
fn settings_behind_a_tool_output_do_not_hide_it() {
    let body = json!({"input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "function_call", "call_id": "1", "name": "get_weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": "sunny"},
        {"type": "configuration_update"},
    ]});
    let request = Request::new(&body);
    assert!(request.ends_with_tool_output());
    assert_eq!(
        request.tool_results(),
        [ToolResult { name: "get_weather".into(), output: "sunny".into() }]
    );
}

#[test]
fn results_before_the_last_user_message_are_old() {
    let body = json!({"input": [
        {"type": "function_call_output", "call_id": "0", "output": "old"},
        {"role": "user", "content": "again"},
        {"type": "custom_tool_call_output", "call_id": "1", "output": [
            {"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"},
        ]},
    ]});
    let results = Request::new(&body).tool_results();
    assert_eq!(results, [ToolResult { name: "the tool".into(), output: "ab".into() }]);
}

#[test]
fn odd_bodies_are_read_without_complaint() {
    for body in [json!(null), json!([1]), json!({"input": 3, "tools": "x"}), json!({"input": [1]})]
    {
        let request = Request::new(&body);
        assert!(request.tools().is_empty());
        assert!(!request.ends_with_tool_output());
    }
    assert_eq!(Request::new(&json!({"input": "hi"})).last_user_text(), "hi");
}
