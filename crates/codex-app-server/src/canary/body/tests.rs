use serde_json::json;

use super::*;

fn messages() -> [(Role, String); 2] {
    [(Role::Developer, "canary-1".to_owned()), (Role::User, "[[args]]".to_owned())]
}

fn message(role: &str, text: &str) -> Value {
    json!({"type": "message", "id": "msg_1", "role": role, "content": [{"type": "input_text", "text": text}]})
}

fn tool() -> Value {
    json!({
        "type": "function", "name": TOOL, "description": "", "strict": false,
        "parameters": parameters(),
    })
}

fn classic() -> Value {
    json!({
        "model": "gpt-5.5",
        "stream": true,
        "instructions": "",
        "input": [message("developer", "canary-1"), message("user", "[[args]]")],
        "tools": [tool()],
        "tool_choice": "auto",
        "parallel_tool_calls": true,
        "reasoning": {"effort": "low"},
        "include": ["reasoning.encrypted_content"],
        "text": {"verbosity": "low"},
        "client_metadata": {"x-codex-turn-metadata": "{\"a\": 1}"},
    })
}

fn lite() -> Value {
    let mut body = classic();
    let namespace =
        json!({"type": "namespace", "name": "functions", "description": "", "tools": [tool()]});
    let item =
        json!({"type": "additional_tools", "id": "x", "role": "developer", "tools": [namespace]});
    body["input"].as_array_mut().unwrap().insert(0, item);
    body.as_object_mut().unwrap().remove("tools");
    body
}

fn checked(body: &Value) -> Result<bool, Promise> {
    check(body, &messages()).map(|seen| seen.git_attribution).map_err(|broken| broken.promise)
}

#[test]
fn row_24_what_is_the_clients_alone_passes_in_both_dialects() {
    assert_eq!(checked(&classic()), Ok(false));
    assert_eq!(checked(&lite()), Ok(false));
    let mut newer = classic();
    newer["truncation"] = "disabled".into();
    newer["background"] = false.into();
    assert_eq!(checked(&newer), Ok(false));
}

#[test]
fn row_24_a_git_attribution_is_reported_and_breaks_nothing() {
    let mut body = classic();
    body["input"].as_array_mut().unwrap().insert(0, message("developer", "<git_attribution>…"));
    assert_eq!(checked(&body), Ok(true));
    body["input"][0]["role"] = "user".into();
    assert_eq!(checked(&body), Err(Promise::Text));
}

#[test]
fn row_24_every_tool_of_codexs_own_is_found() {
    let shell = json!({"type": "local_shell"});
    let [described, hinted] = ["description", "hint"].map(|member| {
        let mut tool = tool();
        tool[member] = "Prefer this one".into();
        tool
    });
    for tools in [
        json!([]),
        json!([tool(), shell]),
        json!([shell]),
        json!([described]),
        json!([hinted]),
        json!([tool(), tool()]),
    ] {
        let mut body = classic();
        body["tools"] = tools.clone();
        assert_eq!(checked(&body), Err(Promise::Tools), "{tools}");
        if tools != json!([]) {
            let mut body = lite();
            body["input"][0]["tools"][0]["tools"] = tools.clone();
            assert_eq!(checked(&body), Err(Promise::Tools), "{tools}");
        }
    }
    let mut body = lite();
    body["input"][0]["tools"].as_array_mut().unwrap().push(json!({"type": "web_search"}));
    assert_eq!(checked(&body), Err(Promise::Tools));
    let mut body = lite();
    body["input"][0]["tools"][0]["description"] = "Call these".into();
    assert_eq!(checked(&body), Err(Promise::Tools));
    let mut body = classic();
    body["tool_choice"] = "required".into();
    assert_eq!(checked(&body), Err(Promise::Tools));
}

#[test]
fn row_24_every_text_of_codexs_own_is_found() {
    type Change = fn(&mut Value);
    let changes: [Change; 10] = [
        |body| body["input"][1]["content"][0]["note"] = "x".into(),
        |body| body["instructions"] = "You are Codex".into(),
        |body| body["input"].as_array_mut().unwrap().push(message("user", "<environment_context>")),
        |body| body["input"].as_array_mut().unwrap().insert(0, json!({"type": "reasoning"})),
        |body| drop(body["input"].as_array_mut().unwrap().pop()),
        |body| body["input"].as_array_mut().unwrap().swap(0, 1),
        |body| body["input"][1]["content"].as_array_mut().unwrap().push(json!({"text": "more"})),
        |body| body["input"][1]["hint"] = "x".into(),
        |body| body["text"]["format"] = json!({"description": "Answer so"}),
        |body| body["extra_instructions"] = json!(["x"]),
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let mut body = classic();
        change(&mut body);
        assert_eq!(checked(&body), Err(Promise::Text), "change {index}");
    }
}

#[test]
fn row_24_a_reason_names_what_was_added_in_one_short_line() {
    let mut body = classic();
    body["instructions"] = format!("You are\nCodex {}", "x".repeat(500)).into();
    let reason = check(&body, &messages()).unwrap_err().to_string();
    assert!(reason.contains(r"You are\nCodex") && reason.len() < 200, "{reason}");
    let mut body = classic();
    body["tools"] = json!([tool(), {"type": "function", "name": "shell"}]);
    let reason = check(&body, &messages()).unwrap_err().to_string();
    assert_eq!(reason, "it adds or changes the tool \"shell\"");
}
