//! What of a request reaches the model.

use serde_json::{Value, json};

use super::asking::{ask, respond, tools, with_tools};
use super::reply::Reply;
use crate::asking::{ask as ask_in_chat, streamed, with, with_tools as with_chat_tools};
use crate::http::Answer;
use crate::proxy::Proxy;
use crate::to_the_model::{PNG, seen};

/// Asks, and gives what the model has received.
async fn received(proxy: &Proxy, request: &Value) -> Value {
    let answer = respond(proxy, request).await;
    assert_eq!(answer.status, 200, "{request}: {}", answer.body);
    proxy.model.last_request().expect("a request").body
}

/// The same, with the conversation a line an item.
async fn seen_of(proxy: &Proxy, request: &Value) -> Vec<String> {
    received(proxy, request).await;
    seen(proxy)
}

fn ignored(answer: &Answer) -> Option<&str> {
    answer.header("x-proxy-ignored-params")
}

on_one_server! {
    every_item_arrives_in_its_place,
    reasoning_and_phases_arrive,
    the_model_receives_what_it_would_from_a_chat,
    calls_and_results_come_back_under_the_models_own_ids,
    tools_are_offered_as_they_are_chosen,
    the_form_of_the_answer_is_asked_for,
}

async fn every_item_arrives_in_its_place(proxy: &Proxy) {
    assert_eq!(seen_of(proxy, &ask("[[text]]")).await, ["user: [[text]]"]);
    let input = json!([
        {"role": "system", "content": "one"},
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "two"}]},
        {"role": "user", "content": "three", "name": "me"},
        {"type": "message", "role": "user", "content": [
            {"type": "input_text", "text": "four"},
            {"type": "input_image", "image_url": PNG, "detail": "low"},
            {"type": "image_url", "image_url": {"url": PNG}},
        ]},
        {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [
            {"type": "output_text", "text": "five", "annotations": [], "logprobs": []},
        ]},
        {"role": "assistant", "content": "six"},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]},
        {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "lookup", "arguments": "{\"q\": 1}", "status": "completed"},
        {"call_id": "b", "name": "lookup", "arguments": {"q": 2}},
        {"call_id": "b", "output": [
            {"type": "input_text", "text": "seven"}, {"type": "input_image", "image_url": PNG},
        ]},
        {"type": "function_call_output", "call_id": "a", "output": "eight", "status": "completed"},
        {"role": "user", "content": []},
        {"role": "assistant", "content": ""},
        {"role": "developer", "content": "nine"},
    ]);
    let request = with(ask(input), json!({"instructions": "zero"}));
    let answer = respond(proxy, &request).await;
    assert_eq!(ignored(&answer), Some("image_url.detail"));
    assert_eq!(
        seen(proxy),
        [
            "developer: zero",
            "developer: one",
            "developer: two",
            "user: three",
            &format!("user: four + [{PNG}] + [{PNG}]"),
            "assistant: five",
            "assistant: six",
            "assistant: no",
            "call a lookup {\"q\": 1}",
            "call b lookup {\"q\":2}",
            &format!("result b seven + [{PNG}]"),
            "result a eight",
            "user: ",
            "developer: nine",
        ]
    );
}

/// A model that is given its reasoning and the phases of its messages back goes on better.
async fn reasoning_and_phases_arrive(proxy: &Proxy) {
    let said = |text: &str, phase: &str| json!({"type": "message", "role": "assistant", "content": text, "phase": phase});
    let input = json!([
        {"role": "user", "content": "Go."},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "why"}], "encrypted_content": "BLOB"},
        said("On it.", "commentary"),
        said("Done.", "final_answer"),
        {"type": "reasoning", "id": "rs_2", "summary": []},
        {"role": "user", "content": "[[text]]"},
    ]);
    let answer = respond(proxy, &ask(input)).await;
    // Without its encrypted part no upstream can do anything with it.
    assert_eq!(ignored(&answer), Some("input.reasoning"));
    let mut items = proxy.model.last_request().unwrap().body["input"].take();
    for item in items.as_array_mut().unwrap() {
        item.as_object_mut().unwrap().remove("id");
    }
    let message = |role: &str, kind: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
    let phase = |text: &str, phase: &str| {
        with(message("assistant", "output_text", text), json!({"phase": phase}))
    };
    assert_eq!(
        items,
        json!([
            message("user", "input_text", "Go."),
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "why"}], "content": null, "encrypted_content": "BLOB"},
            phase("On it.", "commentary"),
            phase("Done.", "final_answer"),
            message("user", "input_text", "[[text]]"),
        ])
    );
}

/// The model cannot tell by which API it was asked.
async fn the_model_receives_what_it_would_from_a_chat(proxy: &Proxy) {
    let chat = with(
        with_chat_tools(ask_in_chat("")),
        json!({
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Go."},
                {"role": "assistant", "content": "Well.", "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "lookup", "arguments": "{}"}},
                ]},
                {"role": "tool", "tool_call_id": "a", "content": "four"},
                {"role": "user", "content": "[[text]]"},
            ],
            "reasoning_effort": "low", "tool_choice": "required",
        }),
    );
    assert_eq!(proxy.chat(&chat).await.status, 200);
    let of_chat = proxy.model.last_request().unwrap().body;
    let request = with(
        with_tools(ask(json!([
            {"role": "user", "content": "Go."},
            {"role": "assistant", "content": "Well."},
            {"type": "function_call", "call_id": "a", "name": "lookup", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "a", "output": "four"},
            {"role": "user", "content": "[[text]]"},
        ]))),
        json!({
            "instructions": "Be brief.", "tool_choice": "required",
            "reasoning": {"effort": "low", "summary": "auto"},
        }),
    );
    let of_response = received(proxy, &request).await;
    let names = ["model", "instructions", "input", "tools", "tool_choice", "reasoning", "text"];
    for name in names.into_iter().chain(["parallel_tool_calls", "include", "store", "stream"]) {
        assert_eq!(of_response[name], of_chat[name], "{name}");
    }
}

/// The client echoes our ids; the model has its own back.
async fn calls_and_results_come_back_under_the_models_own_ids(proxy: &Proxy) {
    for way in [streamed, |request| request] {
        let request = with_tools(ask(json!([{"role": "user", "content": "Go. [[parallel:2]]"}])));
        let first = Reply::of(&respond(proxy, &way(request.clone())).await);
        let calls = first.calls();
        let mut request = request;
        let history = request["input"].as_array_mut().unwrap();
        history.extend(first.items().iter().cloned());
        // The order of results does not matter.
        history.extend(calls.iter().rev().map(|call| {
            let output = format!("of {}", call.name);
            json!({"type": "function_call_output", "call_id": call.id, "output": output})
        }));
        let second = Reply::of(&respond(proxy, &way(request)).await);
        assert_eq!(second.text(), "Tool result received, thank you.");
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

async fn tools_are_offered_as_they_are_chosen(proxy: &Proxy) {
    let every = ["get_weather", "get_time", "lookup"];
    let must = "developer: You must call at least one of your tools in your next answer.";
    let this_one = "developer: You must call the one tool that you have in your next answer.";
    let of = |name: &str| json!({"type": "function", "name": name});
    let some = |mode: &str| json!({"type": "allowed_tools", "mode": mode, "tools": [of("get_time"), of("lookup")]});
    for (choice, offered, said) in [
        (Value::Null, &every[..], None),
        (json!("none"), &[], None),
        (json!("required"), &every[..], Some(must)),
        (of("get_time"), &["get_time"], Some(this_one)),
        (
            json!({"type": "function", "function": {"name": "get_time"}}),
            &["get_time"],
            Some(this_one),
        ),
        (some("auto"), &["get_time", "lookup"], None),
        (some("required"), &["get_time", "lookup"], Some(must)),
    ] {
        let request = with(with_tools(ask("[[text]]")), json!({"tool_choice": choice}));
        let body = received(proxy, &request).await;
        let expected: Vec<_> = ["user: [[text]]"].into_iter().chain(said).collect();
        assert_eq!(seen(proxy), expected, "{choice}");
        let tools = body["tools"].as_array().unwrap().iter();
        let names: Vec<_> = tools.map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, offered, "{choice}");
    }
    // Codex refuses or hides some names; nobody sees how it is made to take them.
    for name in ["exec_command", "mcp__notes__read", "a name with spaces"] {
        let request = with(ask("[[tool]]"), json!({"tools": tools(&[name])}));
        let first = Reply::of(&respond(proxy, &request).await);
        let call = &first.calls()[0];
        assert_eq!(call.name, name);
        let result = json!({"type": "function_call_output", "call_id": call.id, "output": "done"});
        let request = with(request, json!({"previous_response_id": first.id(), "input": [result]}));
        let second = Reply::of(&respond(proxy, &request).await);
        assert_eq!(second.text(), "Tool result received, thank you.", "{name}");
    }
}

async fn the_form_of_the_answer_is_asked_for(proxy: &Proxy) {
    let schema = json!({
        "type": "object", "properties": {"answer": {"type": "integer"}},
        "required": ["answer"], "additionalProperties": false,
    });
    let format = |format: Value| with(ask("[[json]]"), json!({"text": {"format": format}}));
    let named = json!({"name": "n", "strict": true, "schema": schema});
    for strict in [
        with(json!({"type": "json_schema"}), named.clone()),
        json!({"type": "json_schema", "json_schema": named}),
    ] {
        let body = received(proxy, &format(strict)).await;
        assert_eq!(seen(proxy), ["user: [[json]]"]);
        let sent = &body["text"]["format"];
        assert_eq!((&sent["type"], &sent["schema"]), (&json!("json_schema"), &schema));
    }
    let body = received(proxy, &format(json!({"type": "json_object"}))).await;
    let items = seen(proxy);
    assert_eq!((items.len(), &body["text"]["format"]), (2, &Value::Null));
    assert!(items[1].starts_with("developer: Answer with one JSON object"), "{items:?}");
    let body = received(proxy, &format(json!({"type": "text"}))).await;
    assert_eq!((seen(proxy).len(), &body["text"]["format"]), (1, &Value::Null));
}

#[tokio::test]
async fn models_efforts_and_summaries_are_asked_for() {
    let settings = [("PROXY_MODEL_ALIASES", "fast=gpt-5.5:low"), ("CODEX_MODEL", "gpt-5.5")];
    let proxy = Proxy::start(&settings).await;
    for (model, reasoning, effort, summary) in [
        ("gpt-5.5", json!({"effort": "high"}), Some("high"), None),
        ("gpt-5.5", json!({"summary": "auto"}), None, Some("auto")),
        ("gpt-5.5", json!({"generate_summary": "concise"}), None, Some("concise")),
        ("fast", json!({"summary": "detailed"}), Some("low"), Some("detailed")),
        ("fast", json!({"effort": "high"}), Some("high"), None),
        ("codex-5-low", Value::Null, Some("low"), None),
        ("a-model-of-the-upstream", json!({"effort": "any"}), Some("any"), None),
    ] {
        let request = with(ask("[[text]]"), json!({"model": model, "reasoning": reasoning}));
        let answer = respond(&proxy, &request).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert_eq!(answer.json()["model"], model);
        let body = proxy.model.last_request().unwrap().body;
        assert_eq!(body["model"], answer.header("x-proxy-model").unwrap());
        if let Some(effort) = effort {
            assert_eq!(body["reasoning"]["effort"], effort, "{request}");
        }
        // Nobody pays for summaries that were not asked for.
        assert_eq!(body["reasoning"]["summary"].as_str(), summary, "{request}");
    }
    let refused = with(ask("x"), json!({"reasoning": {"effort": "banana"}}));
    let refused = respond(&proxy, &refused).await;
    assert_eq!(refused.error(), (400, json!("reasoning.effort"), json!("invalid_value")));
}
