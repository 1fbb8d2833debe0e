//! Tools in namespaces, and those that items of the input declare.

use serde_json::{Value, json};

use super::{calls_everywhere, offered};
use crate::asking::with;
use crate::proxy::Proxy;
use crate::reply::{Call, CallKind};
use crate::responses::{self, respond};

fn function(name: &str) -> Value {
    json!({
        "type": "function", "name": name, "description": "", "strict": false,
        "parameters": {"type": "object", "properties": {}},
    })
}

fn namespace(name: &str, tools: &[Value]) -> Value {
    json!({"type": "namespace", "name": name, "description": "Notes", "tools": tools})
}

on_one_server! {
    a_call_carries_its_namespace_back,
    a_turn_is_resumed_although_a_client_leaves_the_namespace_out,
    items_of_the_input_declare_tools_and_are_stored,
}

async fn a_call_carries_its_namespace_back(proxy: &Proxy) {
    let tools = json!([
        namespace("github", &[function("exec_command"), function("search")]),
        namespace("mcp__files", &[function("read")]),
    ]);
    let calls = calls_everywhere(proxy, "[[parallel:3]]", &tools).await;
    let called = |namespace: &str, name: &str| (Some(namespace.to_owned()), name.to_owned());
    let found: Vec<_> =
        calls.into_iter().map(|Call { namespace, name, .. }| (namespace, name)).collect();
    assert_eq!(
        found,
        [
            called("github", "exec_command"),
            called("github", "search"),
            called("mcp__files", "read"),
        ]
    );
    // Codex keeps one of the names for itself.
    let seen = offered(proxy);
    assert_eq!(seen[0], namespace("github", &[function("exec_command"), function("search")]));
    assert!(
        seen[1]["name"].as_str().is_some_and(|name| name.starts_with("t_mcp__files_")),
        "{seen}"
    );
    assert_eq!(seen[1]["tools"], json!([function("read")]));
}

async fn a_turn_is_resumed_although_a_client_leaves_the_namespace_out(proxy: &Proxy) {
    let tools = json!([namespace("github", &[function("search")])]);
    let question = json!({"role": "user", "content": "[[tool]]Hi"});
    let request = |input: Value| with(responses::ask(input), json!({"tools": tools}));
    let first = respond(proxy, &request(json!([question]))).await;
    let mut call = responses::Reply::of(&first).items()[0].clone();
    assert_eq!(call["namespace"], "github");
    call.as_object_mut().expect("an item").remove("namespace");
    let output =
        json!({"type": "function_call_output", "call_id": call["call_id"], "output": "done"});
    let second = respond(proxy, &request(json!([question, call, output]))).await;
    assert_eq!(second.header("x-proxy-continuity"), Some("resumed"), "{second:?}");
}

async fn items_of_the_input_declare_tools_and_are_stored(proxy: &Proxy) {
    let exec = json!({"type": "custom", "name": "exec"});
    let declared =
        |tools: &[Value]| json!({"type": "additional_tools", "role": "developer", "tools": tools});
    let input = json!([
        declared(&[namespace("functions", &[exec, function("wait")])]),
        {"role": "user", "content": "[[parallel:2]]Hi"},
    ]);
    let first = responses::Reply::of(&respond(proxy, &responses::ask(input)).await);
    let found: Vec<_> = first
        .calls()
        .into_iter()
        .map(|Call { namespace, name, kind, .. }| (namespace, name, kind))
        .collect();
    let functions = || Some("functions".to_owned());
    let expected = [
        (functions(), "exec".to_owned(), CallKind::Custom),
        (functions(), "wait".to_owned(), CallKind::Function),
    ];
    assert_eq!(found, expected);

    let outputs: Vec<_> = first
        .calls()
        .iter()
        .map(|call| json!({"type": "function_call_output", "call_id": call.id, "output": ""}))
        .collect();
    let next = with(responses::ask(outputs), json!({"previous_response_id": first.id()}));
    let next = respond(proxy, &next).await;
    assert_eq!(next.status, 200, "{}", next.body);
    let names: Vec<_> = offered(proxy).as_array().expect("tools").clone();
    let names: Vec<_> = names.iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names, ["exec", "wait"]);
}
