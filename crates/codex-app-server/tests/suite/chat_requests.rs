//! What the model receives of a chat request.

use bridge::{RequestOptions, TurnSettings, prepare};
use model_turn::{TurnEnd, TurnRequest, Upstream};
use openai_wire::chat::ChatRequest;
use serde_json::{Value, json};
use testkit::TestCodex;

const PIXEL: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// The turn of a request, to the scripted model.
pub(crate) fn turn_of(codex: &TestCodex, body: &Value, settings: &TurnSettings) -> TurnRequest {
    let request = ChatRequest::parse(body.to_string().as_bytes()).expect("a request");
    let options = RequestOptions::new(settings);
    let turn = prepare(request, &options).expect("a request that can be served").turn;
    let upstream = Upstream { base_url: codex.model.base_url(), api_key: None };
    TurnRequest { upstream: Some(upstream), ..turn }
}

/// The body that the model receives for a request.
async fn received(codex: &TestCodex, body: &Value, settings: &TurnSettings) -> Value {
    let outcome = codex.run(turn_of(codex, body, settings)).await;
    assert_eq!(outcome.end, Ok(TurnEnd::Completed), "{body}");
    codex.model.last_request().expect("a request").body
}

/// The items of a body, without the ids that they were given.
fn items(body: &Value) -> Vec<Value> {
    let mut items = body["input"].as_array().expect("items").clone();
    for item in &mut items {
        item.as_object_mut().expect("an object").remove("id");
    }
    items
}

#[tokio::test]
async fn the_model_receives_every_item_in_its_place() {
    let codex = TestCodex::start().await;
    let call = |id: &str| {
        let function = json!({"name": "look", "arguments": "{ \"at\":1}"});
        json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "function": function}]})
    };
    let seen = json!([{"type": "text", "text": "this"}, {"type": "image_url", "image_url": PIXEL}]);
    let body = json!({
        "model": "gpt-5.5",
        "messages": [
            {"role": "assistant", "content": "You are Copilot."},
            {"role": "user", "content": [
                {"type": "text", "text": "Look!"},
                {"type": "image_url", "image_url": {"url": PIXEL, "detail": "low"}},
            ]},
            call("1"),
            {"role": "tool", "tool_call_id": "1", "content": "nothing"},
            {"role": "system", "content": "Look again."},
            call("1"),
            {"role": "tool", "tool_call_id": "1", "content": seen},
            call("tool_0_0_x9"),
            {"role": "tool", "tool_call_id": "tool_0_0_x9"},
            {"role": "assistant", "content": "I see."},
            {"role": "user", "content": "[[text]]And now?"},
            {"role": "user", "content": ""},
        ],
        "response_format": {"type": "json_object"},
    });
    let message = |role: &str, kind: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
    let called = |id: &str| {
        json!({
            "type": "function_call", "name": "look", "arguments": "{ \"at\":1}", "call_id": id,
        })
    };
    let output = |id: &str, output: Value| json!({"type": "function_call_output", "call_id": id, "output": output});
    let image = json!({"type": "input_image", "image_url": PIXEL});
    let words = "Answer with one JSON object, without any other text and without a code fence.";
    let expected = [
        message("developer", "input_text", "You are Copilot."),
        json!({
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "Look!"}, image],
        }),
        called("1"),
        output("1", json!("nothing")),
        message("developer", "input_text", "Look again."),
        called("1_2"),
        output("1_2", json!([{"type": "input_text", "text": "this"}, image])),
        called("call_x9"),
        output("call_x9", json!("")),
        message("assistant", "output_text", "I see."),
        message("user", "input_text", "[[text]]And now?"),
        message("user", "input_text", ""),
        message("developer", "input_text", words),
    ];
    let body = received(&codex, &body, &TurnSettings::default()).await;
    assert_eq!(items(&body), expected);
    codex.client.shutdown().await;
}

#[tokio::test]
async fn summaries_are_asked_for_where_they_are_shown() {
    let codex = TestCodex::start().await;
    let shown = TurnSettings::default();
    let hidden = TurnSettings { reasoning: false, ..TurnSettings::default() };
    // In the catalog, and in none: the defaults of Codex differ.
    for model in ["gpt-5.5", "gpt-6.1-sol", "my-local-model"] {
        let messages = json!([{"role": "user", "content": "[[text]]Hello"}]);
        let body = json!({"model": model, "messages": messages, "reasoning_effort": "high"});
        for (settings, expected) in [(&shown, json!("auto")), (&hidden, json!(null))] {
            let reasoning = received(&codex, &body, settings).await["reasoning"].clone();
            assert_eq!(reasoning["summary"], expected, "{model}");
            assert_eq!(reasoning["effort"], "high", "{model}");
        }
    }
    codex.client.shutdown().await;
}

#[tokio::test]
async fn the_form_of_the_answer_is_asked_of_the_model() {
    let codex = TestCodex::start().await;
    let schema = json!({
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 1}},
        "required": ["n"],
        "additionalProperties": false,
    });
    let body = json!({
        "model": "gpt-5.5",
        "messages": [{"role": "user", "content": "[[text]]Hello"}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}},
    });
    let body = received(&codex, &body, &TurnSettings::default()).await;
    assert_eq!(body["text"]["format"]["schema"], schema);
    assert_eq!(body["text"]["format"]["strict"], true);
    codex.client.shutdown().await;
}
