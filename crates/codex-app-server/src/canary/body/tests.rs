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

type Change = fn(&mut Value);

fn checked(body: &Value) -> Result<bool, Promise> {
    check(body, "gpt-5.5", &messages())
        .map(|seen| seen.git_attribution)
        .map_err(|broken| broken.promise)
}

#[test]
fn row_24_what_is_the_clients_alone_passes_in_both_dialects() {
    assert_eq!(checked(&classic()), Ok(false));
    assert_eq!(checked(&lite()), Ok(false));
    let mut newer = classic();
    newer["max_tool_calls"] = 100.into();
    newer["background"] = false.into();
    newer["conversation"] = Value::Null;
    assert_eq!(checked(&newer), Ok(false));
}

#[test]
fn row_24_a_git_attribution_is_reported_and_breaks_nothing() {
    let text = "<git_attribution>\nEnd it so.\n</git_attribution>\n";
    let with = |items: &[Value]| {
        let mut body = classic();
        body["input"].as_array_mut().unwrap().splice(0..0, items.iter().cloned());
        checked(&body)
    };
    assert_eq!(with(&[message("developer", text)]), Ok(true));
    let mut in_parts = message("developer", text);
    in_parts["content"].as_array_mut().unwrap().push(json!({"type": "input_text", "text": text}));
    let more = format!("{text}You are Codex.{text}");
    for items in [
        vec![message("user", text)],
        vec![message("developer", &more)],
        vec![message("developer", text), message("developer", text)],
        vec![in_parts],
    ] {
        assert_eq!(with(&items), Err(Promise::Text), "{items:?}");
    }
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
    let changes: [(fn() -> Value, Change); 6] = [
        (lite, |body| {
            body["input"][0]["tools"].as_array_mut().unwrap().push(json!({"type": "web_search"}));
        }),
        (lite, |body| body["input"][0]["tools"][0]["description"] = "Call these".into()),
        (lite, |body| body["input"][0]["tools"] = json!({"type": "web_search"})),
        (lite, |body| body["tools"] = json!({"type": "web_search"})),
        (classic, |body| body["tool_choice"] = "required".into()),
        (classic, |body| body["tools"][0]["strict"] = "Prefer this one".into()),
    ];
    for (index, (body, change)) in changes.into_iter().enumerate() {
        let mut body = body();
        change(&mut body);
        assert_eq!(checked(&body), Err(Promise::Tools), "change {index}");
    }
}

#[test]
fn row_24_every_text_of_codexs_own_is_found() {
    let changes: [Change; 20] = [
        |body| body["system_prompt"] = "You_are_Codex".into(),
        |body| body["previous_response_id"] = "resp_1".into(),
        |body| body["prompt"] = json!({"id": "pmpt_1"}),
        |body| body["model"] = "gpt-other".into(),
        |body| body["store"] = true.into(),
        |body| body["text"]["format"] = json!({"type": "json_object"}),
        |body| body["text"] = json!({"You are Codex": 1}),
        |body| body["reasoning"]["You are Codex"] = 1.into(),
        |body| body["input"][0]["id"] = "You are Codex".into(),
        |body| body["input"] = "You are Codex".into(),
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
    let reason = check(&body, "gpt-5.5", &messages()).unwrap_err().to_string();
    assert!(reason.contains(r"You are\nCodex") && reason.len() < 300, "{reason}");
    let mut body = classic();
    body["tools"] = json!([tool(), {"type": "function", "name": "shell"}]);
    let reason = check(&body, "gpt-5.5", &messages()).unwrap_err().to_string();
    assert_eq!(reason, "it adds or changes the tool \"shell\"");
}
