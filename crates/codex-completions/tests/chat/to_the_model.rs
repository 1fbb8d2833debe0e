//! What of a request reaches the model.

use serde_json::{Value, json};

use crate::asking::{ask, function, streamed, tools, with, with_tools};
use crate::proxy::Proxy;
use crate::reply::Reply;

/// The items of the newest request that the model has received, a line each.
pub(crate) fn seen(proxy: &Proxy) -> Vec<String> {
    let request = proxy.model.last_request().expect("a request");
    request.body["input"].as_array().expect("a list of items").iter().map(line).collect()
}

/// An item that the model has received.
pub(crate) fn line(item: &Value) -> String {
    let text = |name: &str| item[name].as_str().unwrap_or_default();
    match text("type") {
        "message" => format!("{}: {}", text("role"), content(&item["content"])),
        "function_call" => {
            format!("call {} {} {}", text("call_id"), text("name"), text("arguments"))
        }
        "function_call_output" => {
            format!("result {} {}", text("call_id"), content(&item["output"]))
        }
        _ => item.to_string(),
    }
}

fn content(content: &Value) -> String {
    let Some(parts) = content.as_array() else { return content.as_str().unwrap().to_owned() };
    let part = |part: &Value| match &part["image_url"] {
        Value::String(url) => format!("[{url}]"),
        _ => part["text"].as_str().unwrap().to_owned(),
    };
    parts.iter().map(part).collect::<Vec<_>>().join(" + ")
}

/// Asks, and gives what the model has seen.
async fn seen_of(proxy: &Proxy, request: &Value) -> Vec<String> {
    let answer = proxy.chat(request).await;
    assert_eq!(answer.status, 200, "{request}: {}", answer.body);
    seen(proxy)
}

fn conversation(messages: &Value) -> Value {
    with(ask(""), json!({"messages": messages}))
}

/// One pixel: Codex looks into images.
pub(crate) const PNG: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

on_one_server! {
    every_role_arrives_in_its_place,
    calls_and_results_come_back_under_the_models_own_ids,
    repeated_ids_are_told_apart,
    tools_are_offered_as_they_are_chosen,
    any_name_of_a_tool_works,
    the_form_of_the_answer_is_asked_for,
    what_has_no_effect_is_named,
}

async fn every_role_arrives_in_its_place(proxy: &Proxy) {
    let request = conversation(&json!([
        {"role": "system", "content": "one"},
        {"role": "user", "content": "two", "name": "me"},
        {"role": "assistant", "content": "three", "reasoning_content": "why"},
        {"role": "developer", "content": [{"type": "text", "text": "four"}, {"type": "text", "text": "five"}]},
        {"role": "user", "content": [
            {"type": "text", "text": "six", "cache_control": {"type": "ephemeral"}},
            {"type": "image_url", "image_url": {"url": PNG, "detail": "low"}},
        ]},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "lookup", "arguments": "{\"q\": 1}"}},
        ]},
        {"role": "tool", "tool_call_id": "a", "content": [
            {"type": "text", "text": "seven"}, {"type": "image_url", "image_url": {"url": PNG}},
        ]},
        {"role": "assistant", "function_call": {"name": "lookup", "arguments": "{}"}},
        {"role": "function", "name": "lookup", "content": "eight"},
        {"role": "system", "content": "nine"},
    ]));
    let answer = proxy.chat(&request).await;
    assert_eq!(answer.header("x-proxy-ignored-params"), Some("image_url.detail"));
    assert_eq!(
        seen(proxy),
        [
            "developer: one",
            "user: two",
            "assistant: three",
            "developer: four + five",
            &format!("user: six + [{PNG}]"),
            "call a lookup {\"q\": 1}",
            &format!("result a seven + [{PNG}]"),
            "call call lookup {}",
            "result call eight",
            "developer: nine",
        ]
    );
}

/// The client echoes our ids; the model has its own back.
async fn calls_and_results_come_back_under_the_models_own_ids(proxy: &Proxy) {
    for way in [streamed, |request| request] {
        let mut request = with_tools(ask("Go. [[parallel:2]]"));
        let first = Reply::of(&proxy.chat(&way(request.clone())).await);
        let calls = &first.choice().calls;
        let entry = |call: &crate::reply::Call| {
            let function = json!({"name": call.name, "arguments": call.arguments});
            json!({"id": call.id, "type": "function", "function": function})
        };
        let result = |call: &crate::reply::Call| json!({"role": "tool", "tool_call_id": call.id, "content": format!("of {}", call.name)});
        let history = request["messages"].as_array_mut().unwrap();
        let entries: Vec<_> = calls.iter().map(entry).collect();
        history.push(json!({"role": "assistant", "content": null, "tool_calls": entries}));
        // The order of results does not matter.
        history.extend(calls.iter().rev().map(result));
        let second = Reply::of(&proxy.chat(&way(request.clone())).await);
        assert_eq!(second.choice().text(), "Tool result received, thank you.");
        let ids: Vec<_> = calls
            .iter()
            .map(|call| format!("call_{}", call.id.rsplit('_').next().unwrap()))
            .collect();
        let (weather, time) = (&ids[0], &ids[1]);
        assert_eq!(
            seen(proxy),
            [
                "user: Go. [[parallel:2]]",
                &format!(r#"call {weather} get_weather {{"city": "C0", "mark": "Go."}}"#),
                &format!(r#"call {time} get_time {{"city": "C1", "mark": "Go."}}"#),
                &format!("result {time} of get_time"),
                &format!("result {weather} of get_weather"),
            ]
        );
    }
}

/// Some clients count their calls anew in every turn.
async fn repeated_ids_are_told_apart(proxy: &Proxy) {
    let call = |arguments: &str| {
        let function = json!({"name": "lookup", "arguments": arguments});
        json!({"role": "assistant", "tool_calls": [{"id": "call_0", "type": "function", "function": function}]})
    };
    let result = |text: &str| json!({"role": "tool", "tool_call_id": "call_0", "content": text});
    let request = conversation(&json!([
        {"role": "user", "content": "go"}, call("1"), result("one"), call("2"), result("two"),
    ]));
    assert_eq!(
        seen_of(proxy, &request).await,
        [
            "user: go",
            "call call_0 lookup 1",
            "result call_0 one",
            "call call_0_2 lookup 2",
            "result call_0_2 two",
        ]
    );
}

async fn tools_are_offered_as_they_are_chosen(proxy: &Proxy) {
    let every = ["get_weather", "get_time", "lookup"];
    let must = "developer: You must call at least one of your tools in your next answer.";
    let this_one = "developer: You must call the one tool that you have in your next answer.";
    let of = |name: &str| json!({"type": "function", "function": {"name": name}});
    let some = |mode: &str| {
        let some = json!({"mode": mode, "tools": [of("get_time"), of("lookup")]});
        json!({"type": "allowed_tools", "allowed_tools": some})
    };
    for (choice, offered, said) in [
        (Value::Null, &every[..], None),
        (json!("auto"), &every[..], None),
        (json!("none"), &[], None),
        (json!("required"), &every[..], Some(must)),
        (of("get_time"), &["get_time"], Some(this_one)),
        (json!({"type": "function", "name": "get_time"}), &["get_time"], Some(this_one)),
        (some("auto"), &["get_time", "lookup"], None),
        (some("required"), &["get_time", "lookup"], Some(must)),
    ] {
        let request = with(with_tools(ask("[[text]]")), json!({"tool_choice": choice}));
        let items = seen_of(proxy, &request).await;
        let expected: Vec<_> = ["user: [[text]]"].into_iter().chain(said).collect();
        assert_eq!(items, expected, "{choice}");
        let body = proxy.model.last_request().unwrap().body;
        let tools = body["tools"].as_array().unwrap().iter();
        let names: Vec<_> = tools.map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, offered, "{choice}");
    }
    let functions = json!({"functions": [function("get_time"), function("lookup")], "function_call": {"name": "get_time"}});
    let request = with(ask("[[text]]"), functions);
    assert_eq!(seen_of(proxy, &request).await, ["user: [[text]]", this_one]);
}

/// Codex refuses or hides some names; nobody sees how it is made to take them.
async fn any_name_of_a_tool_works(proxy: &Proxy) {
    for name in ["exec_command", "mcp__notes__read", "notes.read", "a name with spaces"] {
        let mut request = with(ask("[[tool]]"), json!({"tools": tools(&[name])}));
        let first = Reply::of(&proxy.chat(&request).await);
        let call = &first.choice().calls[0];
        assert_eq!(call.name, name);
        let function = json!({"name": name, "arguments": call.arguments});
        let history = request["messages"].as_array_mut().unwrap();
        history.push(
            json!({"role": "assistant", "tool_calls": [{"id": call.id, "function": function}]}),
        );
        history.push(json!({"role": "tool", "tool_call_id": call.id, "content": "done"}));
        let second = Reply::of(&proxy.chat(&request).await);
        assert_eq!(second.choice().text(), "Tool result received, thank you.", "{name}");
    }
}

async fn the_form_of_the_answer_is_asked_for(proxy: &Proxy) {
    let schema = json!({
        "type": "object", "properties": {"answer": {"type": "integer"}},
        "required": ["answer"], "additionalProperties": false,
    });
    let format = |format: Value| with(ask("[[json]]"), json!({"response_format": format}));
    let sent = || proxy.model.last_request().unwrap().body["text"]["format"].clone();

    let strict = json!({"name": "n", "strict": true, "schema": schema});
    let items =
        seen_of(proxy, &format(json!({"type": "json_schema", "json_schema": strict}))).await;
    assert_eq!(items, ["user: [[json]]"]);
    assert_eq!((&sent()["type"], &sent()["schema"]), (&json!("json_schema"), &schema));

    let items = seen_of(proxy, &format(json!({"type": "json_object"}))).await;
    assert_eq!(items[0], "user: [[json]]");
    assert!(items[1].starts_with("developer: Answer with one JSON object"), "{items:?}");
    assert_eq!(sent(), Value::Null);

    let items = seen_of(proxy, &format(json!({"type": "text"}))).await;
    assert_eq!((items.len(), sent()), (1, Value::Null));
}

#[tokio::test]
async fn names_stand_for_models_and_efforts() {
    let settings = [("PROXY_MODEL_ALIASES", "fast=gpt-5.5:low"), ("CODEX_MODEL", "gpt-5.5")];
    let proxy = Proxy::start(&settings).await;
    for (model, effort, real, asked) in [
        ("gpt-5.5", Value::Null, "gpt-5.5", None),
        ("gpt-5.5", json!("high"), "gpt-5.5", Some("high")),
        ("fast", Value::Null, "gpt-5.5", Some("low")),
        ("fast", json!("high"), "gpt-5.5", Some("high")),
        ("chat", Value::Null, "gpt-5.5", None),
        ("chat-high", Value::Null, "gpt-5.5", Some("high")),
        ("codex-5-low", Value::Null, "gpt-5.5", Some("low")),
        ("a-model-of-the-upstream", json!("any"), "a-model-of-the-upstream", Some("any")),
    ] {
        let request = with(ask("[[text]]"), json!({"model": model, "reasoning_effort": effort}));
        let answer = proxy.chat(&request).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert_eq!(answer.json()["model"], model);
        assert_eq!(answer.header("x-proxy-model"), Some(real));
        let body = proxy.model.last_request().unwrap().body;
        assert_eq!(body["model"], real);
        if let Some(asked) = asked {
            assert_eq!(body["reasoning"]["effort"], asked);
        }
    }
    let refused = proxy.chat(&with(ask("x"), json!({"reasoning_effort": "banana"}))).await;
    assert_eq!(refused.error(), (400, json!("reasoning_effort"), json!("invalid_value")));
    assert!(refused.body.contains("medium"), "{}", refused.body);
}

async fn what_has_no_effect_is_named(proxy: &Proxy) {
    let ignored = json!({
        "temperature": 0, "top_p": 1, "seed": 7, "presence_penalty": 0.5, "frequency_penalty": 0.5,
        "logit_bias": {"1": 2}, "logprobs": true, "top_logprobs": 3, "user": "me", "metadata": {"a": "b"},
    });
    let request = with(ask("[[text]]"), ignored);
    for request in [streamed(request.clone()), request] {
        let answer = proxy.chat(&request).await;
        assert_eq!(
            answer.header("x-proxy-ignored-params"),
            Some(
                "temperature, top_p, seed, presence_penalty, frequency_penalty, logit_bias, logprobs, top_logprobs"
            )
        );
    }
    assert_eq!(proxy.chat(&ask("[[text]]")).await.header("x-proxy-ignored-params"), None);
}

/// A file of the operator's comes before everything.
#[tokio::test]
async fn instructions_of_the_operator_come_first() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "Be brief.").unwrap();
    let path = file.path().to_str().unwrap();
    let proxy = Proxy::start(&[("PROXY_INSTRUCTIONS_FILE", path)]).await;
    let request = conversation(&json!([
        {"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hello."},
    ]));
    let expected = ["developer: Be brief.", "developer: Be kind.", "user: Hello."];
    assert_eq!(seen_of(&proxy, &request).await, expected);
}
