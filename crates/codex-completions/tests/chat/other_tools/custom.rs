//! Custom tools: free text as the input.

use serde_json::{Value, json};

use super::{calling, calls_everywhere, ids, offered};
use crate::asking::{ask, streamed, with};
use crate::proxy::Proxy;
use crate::reply::{Call, CallKind, Reply};
use crate::responses::{self, respond};
use crate::to_the_model::seen;

/// Neither JSON nor one line, with everything that JSON escapes.
const PATCH: &str =
    "*** Begin Patch\n*** Add File: a.txt\n+\"\u{1f600}\\n\"\té\u{0}\n*** End Patch";

fn tools() -> Value {
    let grammar = json!({"syntax": "lark", "definition": "start: /.+/"});
    json!([{"type": "custom", "custom": {
        "name": "apply_patch", "description": "Patches files.",
        "format": {"type": "grammar", "grammar": grammar},
    }}])
}

fn called(input: &str) -> Call {
    Call {
        name: "apply_patch".to_owned(),
        arguments: input.to_owned(),
        kind: CallKind::Custom,
        ..Call::default()
    }
}

#[tokio::test]
async fn an_input_arrives_byte_for_byte_however_the_model_writes_it() {
    let proxy = Proxy::start(&[]).await;
    proxy.until_log_is_checked().await;
    let deviations = |input: &str| {
        let metric = "codex_completions_custom_input_deviations_total";
        format!("{metric}{{input=\"{input}\"}}")
    };
    let units: Vec<_> = PATCH.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
    for (arguments, input, raw, malformed) in [
        (json!({"input": PATCH}).to_string(), PATCH, 0, 0),
        (format!(" {{ \"input\" : \"{}\" }}\n", units.concat()), PATCH, 0, 0),
        (r#"{"input":""}"#.to_owned(), "", 0, 0),
        // What is not of the declared form is delivered and counted, four times here.
        ("*** Begin Patch\n".to_owned(), "*** Begin Patch\n", 4, 0),
        (r#"{"input":"a\qb"#.to_owned(), r"a\qb", 0, 4),
    ] {
        let before = [
            proxy.counter(&deviations("raw")).await,
            proxy.counter(&deviations("malformed")).await,
        ];
        let calls = calls_everywhere(&proxy, &calling("apply_patch", &arguments), &tools()).await;
        assert_eq!(calls, [called(input)], "{arguments}");
        let after = [
            proxy.counter(&deviations("raw")).await,
            proxy.counter(&deviations("malformed")).await,
        ];
        assert_eq!([after[0] - before[0], after[1] - before[1]], [raw, malformed], "{arguments}");
    }
}

on_one_server! {
    an_input_is_streamed_as_the_model_writes_it,
    the_model_sees_a_function_with_one_text,
    a_turn_is_resumed_with_the_output_of_a_custom_tool,
    a_stored_response_keeps_the_call_and_its_output,
}

async fn an_input_is_streamed_as_the_model_writes_it(proxy: &Proxy) {
    proxy.until_log_is_checked().await;
    let tools = json!([{"type": "custom", "custom": {"name": "get_weather"}}]);
    let request = with(ask("[[slow-args:200]]"), json!({"tools": tools}));
    let answer = proxy.chat(&streamed(request)).await;
    assert_eq!(Reply::of(&answer).choice().calls[0].kind, CallKind::Custom);
    let increments = answer.body.matches(r#""custom":{"input""#).count();
    assert!(increments > 1, "{}", answer.body);
}

async fn the_model_sees_a_function_with_one_text(proxy: &Proxy) {
    proxy.chat(&with(ask("[[text]]Hi"), json!({"tools": tools()}))).await;
    let expected = json!([{
        "type": "function", "name": "apply_patch", "strict": false,
        "description": "Patches files. The parameter `input` is free text, passed on as it is. It must \
                        follow this lark grammar:\nstart: /.+/",
        "parameters": {
            "type": "object",
            "properties": {
                "input": {"type": "string", "description": "The whole input, as it is."},
            },
            "required": ["input"],
            "additionalProperties": false,
        },
    }]);
    assert_eq!(offered(proxy), expected);
}

/// The conversation of a client that has run the call of an answer.
fn with_result(text: &str, id: &str) -> Value {
    let call =
        json!({"id": id, "type": "custom", "custom": {"name": "apply_patch", "input": PATCH}});
    let messages = json!([
        {"role": "user", "content": text},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": id, "content": "done"},
    ]);
    json!({"model": "gpt-5.5", "messages": messages, "tools": tools()})
}

async fn a_turn_is_resumed_with_the_output_of_a_custom_tool(proxy: &Proxy) {
    let text = calling("apply_patch", &json!({"input": PATCH}).to_string());
    let first = proxy.chat(&with(ask(&text), json!({"tools": tools()}))).await;
    let [id] = &ids(&first)[..] else { panic!("{first:?}") };
    let second = with_result(&text, id);
    let answer = proxy.chat(&second).await;
    assert_eq!(answer.header("x-proxy-continuity"), Some("resumed"), "{answer:?}");
    // In its own thread the model has its own words.
    let arguments = json!({"input": PATCH}).to_string();
    assert!(seen(proxy)[1].ends_with(&format!("apply_patch {arguments}")), "{:?}", seen(proxy));

    let fresh = proxy.chat_with(&second, &[("x-proxy-continuity", "off")]).await;
    assert_eq!(fresh.header("x-proxy-continuity"), Some("fresh"));
    let body = proxy.model.last_request().expect("a request").body;
    let mut items = body["input"].as_array().expect("items").clone();
    for item in &mut items {
        item.as_object_mut()
            .expect("an item")
            .retain(|name, _| !["id", "call_id"].contains(&name.as_str()));
    }
    assert_eq!(
        items[1..],
        [
            json!({"type": "custom_tool_call", "name": "apply_patch", "input": PATCH}),
            json!({"type": "custom_tool_call_output", "output": "done"}),
        ]
    );
}

async fn a_stored_response_keeps_the_call_and_its_output(proxy: &Proxy) {
    let text = calling("apply_patch", &json!({"input": PATCH}).to_string());
    let tools = json!([{"type": "custom", "name": "apply_patch"}]);
    let request = with(responses::ask(text), json!({"tools": tools}));
    let first = responses::Reply::of(&respond(proxy, &request).await);
    let call = &first.items()[0];
    assert_eq!((&call["type"], &call["input"]), (&json!("custom_tool_call"), &json!(PATCH)));

    let output =
        json!({"type": "custom_tool_call_output", "call_id": call["call_id"], "output": "done"});
    let members = json!({"previous_response_id": first.id(), "tools": tools});
    let second = with(responses::ask(json!([output])), members);
    let second = responses::Reply::of(&respond(proxy, &second).await);
    let input = proxy.get(&format!("/v1/responses/{}/input_items?order=asc", second.id())).await;
    let types: Vec<_> = input.json()["data"].as_array().expect("items").clone();
    let types: Vec<_> = types.iter().map(|item| item["type"].clone()).collect();
    assert_eq!(types, ["message", "custom_tool_call", "custom_tool_call_output"]);

    // Some clients send what the chain has already.
    let again = json!([output, {"role": "user", "content": "[[text]]And?"}]);
    let again = with(responses::ask(again), json!({"previous_response_id": second.id()}));
    assert_eq!(respond(proxy, &again).await.status, 200);
    let changed = with(output, json!({"output": "other"}));
    let changed =
        with(responses::ask(json!([changed])), json!({"previous_response_id": second.id()}));
    let (status, param, _) = respond(proxy, &changed).await.error();
    assert_eq!((status, param), (400, json!("input[0].call_id")));
}
