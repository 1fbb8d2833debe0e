//! What clients send although they need not: all of it is served.

use serde_json::{Value, json};

use crate::asking::{ask, function, tools, with};
use crate::proxy::Proxy;
use crate::reply::Reply;

#[tokio::test]
async fn every_request_that_clients_send_is_served() {
    let proxy = Proxy::start(&[]).await;
    let plain = ask("[[text]]");
    let user = json!({"role": "user", "content": "[[text]]"});
    let after = |message: Value| json!({"messages": [message, user]});
    let called = json!({"role": "assistant", "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
    ]});
    let result = |content: Value| json!({"messages": [user, called, {"role": "tool", "tool_call_id": "a", "content": content}]});
    for members in [
        json!({"something": {"nobody": ["knows"]}, "text": {}, "include": []}),
        json!({
            "tools": null, "tool_choice": null, "stop": null, "n": null, "stream": null, "user": null,
            "max_tokens": null, "temperature": null, "response_format": null, "stream_options": null,
            "reasoning_effort": null, "functions": null, "function_call": null, "metadata": null,
            "parallel_tool_calls": null, "logit_bias": null, "seed": null, "store": null,
        }),
        json!({"tools": []}),
        json!({"functions": []}),
        json!({"tools": [], "tool_choice": "auto"}),
        json!({"max_tokens": 30, "max_completion_tokens": 40}),
        json!({"tools": [{"type": "function", "function": {"name": "f"}}]}),
        json!({"tools": [{"type": "function", "function": {"name": "f", "strict": null, "description": null, "parameters": null}}]}),
        json!({"tools": [{"type": "function", "function": {"name": "f", "parameters": {
            "$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {},
        }}}]}),
        json!({"tools": tools(&["f"]), "tool_choice": {"type": "function", "function": {"name": "f"}}}),
        json!({"tools": tools(&["f"]), "tool_choice": {"type": "function", "name": "f"}}),
        json!({"functions": [function("f")], "function_call": "auto"}),
        json!({"stream_options": {}}),
        json!({"service_tier": "auto", "store": false, "modalities": ["text"]}),
        after(json!({"role": "system", "content": "a"})),
        after(json!({"role": "system", "content": ""})),
        after(json!({"role": "system", "content": null})),
        after(json!({"role": "system"})),
        after(json!({"role": "developer", "content": [{"type": "text", "text": "a"}]})),
        after(json!({"role": "user", "content": [], "name": "somebody"})),
        after(json!({"role": "user", "content": ""})),
        after(json!({"role": "user"})),
        after(json!({"role": "assistant", "content": "a leading one"})),
        after(
            json!({"role": "assistant", "content": [{"type": "text", "text": "a"}], "reasoning_content": "b"}),
        ),
        json!({"messages": [{"role": "system", "content": "a"}, {"role": "system", "content": "b"}, user]}),
        json!({"messages": [user, {"role": "assistant", "content": "a"}, {"role": "assistant", "content": null}, user]}),
        result(json!("a")),
        result(json!("")),
        result(Value::Null),
        result(json!([{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}])),
    ] {
        let answer = proxy.chat(&with(plain.clone(), members.clone())).await;
        assert_eq!(answer.status, 200, "{members}: {}", answer.body);
        assert_eq!(Reply::of(&answer).choice().finish.as_deref(), Some("stop"), "{members}");
    }
}
