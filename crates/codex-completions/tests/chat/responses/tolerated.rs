//! What clients send although they need not: all of it is served.

use serde_json::{Value, json};

use super::asking::{ask, respond, tools};
use super::reply::Reply;
use crate::asking::with;
use crate::proxy::Proxy;

on_one_server! {
    every_request_that_clients_send_is_served,
    what_was_asked_is_repeated,
}

async fn every_request_that_clients_send_is_served(proxy: &Proxy) {
    let user = json!({"role": "user", "content": "[[text]]"});
    let after = |item: Value| json!({"input": [item, user]});
    let called = json!({"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"});
    let result = |output: Value| json!({"input": [user, called, {"type": "function_call_output", "call_id": "a", "output": output}, user]});
    for members in [
        json!({"something": {"nobody": ["knows"]}, "stream_options": {"include_obfuscation": false}}),
        json!({
            "instructions": null, "tools": null, "tool_choice": null, "stream": null, "user": null,
            "text": null, "reasoning": null, "include": null, "metadata": null, "store": null,
            "max_output_tokens": null, "temperature": null, "top_p": null, "truncation": null,
            "parallel_tool_calls": null, "previous_response_id": null, "background": null,
            "conversation": null, "prompt": null, "service_tier": null, "max_tool_calls": null,
            "messages": null, "safety_identifier": null, "prompt_cache_key": null,
        }),
        json!({"text": {}, "include": [], "tools": [], "metadata": {}, "reasoning": {}}),
        json!({"text": {"format": null, "verbosity": null}, "reasoning": {"effort": null, "summary": null}}),
        json!({"instructions": ""}),
        json!({"tools": [], "tool_choice": "auto"}),
        json!({"tools": [{"type": "function", "name": "f"}]}),
        json!({"tools": [{"type": "function", "name": "f", "strict": null, "description": null, "parameters": null}]}),
        json!({"tools": [{"type": "function", "name": "f", "parameters": {
            "$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {},
        }}]}),
        json!({"tools": [{"type": "function", "function": {"name": "f"}}]}),
        json!({"tools": tools(&["f"]), "tool_choice": {"type": "function", "name": "f"}}),
        json!({"tools": tools(&["f"]), "tool_choice": {"type": "function", "function": {"name": "f"}}}),
        json!({"include": ["web_search_call.action.sources", "message.output_text.logprobs"]}),
        json!({"service_tier": "auto", "modalities": ["text"], "background": false}),
        after(json!({"role": "system", "content": null})),
        after(json!({"role": "developer", "content": ""})),
        after(json!({"role": "user", "content": [], "name": "somebody"})),
        after(json!({"role": "assistant", "content": "a leading one"})),
        after(
            json!({"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]}),
        ),
        after(
            json!({"type": "message", "id": "msg_of_another_server", "role": "assistant", "content": []}),
        ),
        after(
            json!({"type": "reasoning", "id": "rs_of_another_server", "summary": [], "content": null, "status": null}),
        ),
        result(json!("a")),
        result(json!("")),
        result(Value::Null),
        result(json!([])),
        result(json!([{"type": "output_text", "text": "a"}])),
    ] {
        let answer = respond(proxy, &with(ask("[[text]]"), members.clone())).await;
        assert_eq!(answer.status, 200, "{members}: {}", answer.body);
        let reply = Reply::of(&answer);
        let said = (reply.status(), reply.text());
        assert_eq!(said, ("completed", "Hello from the scripted model.".to_owned()), "{members}");
    }
}

/// The response repeats what was asked, in the form that SDKs read.
async fn what_was_asked_is_repeated(proxy: &Proxy) {
    let request = json!({
        "instructions": "Be brief.", "metadata": {"a": "b"}, "user": "me", "max_output_tokens": 50,
        "parallel_tool_calls": false, "store": false, "truncation": "auto",
        "tools": [{"type": "function", "name": "f", "strict": null}],
        "tool_choice": {"type": "function", "function": {"name": "f"}},
        "text": {"format": {"type": "json_object"}}, "reasoning": {"effort": "low"},
    });
    let expected = with(
        request.clone(),
        json!({
            "tools": [{
                "type": "function", "name": "f", "description": null, "strict": false,
                "parameters": {"type": "object", "properties": {}},
            }],
            "tool_choice": {"type": "function", "name": "f"},
            "reasoning": {"effort": "low", "summary": null},
            "background": false, "previous_response_id": null, "error": null,
        }),
    );
    let response = Reply::of(&respond(proxy, &with(ask("[[json]]"), request)).await).response;
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(response[name], *value, "{name}");
    }
}
