use super::*;
use crate::answer::{Answer, Call, Delivery, Step};
use crate::chunking::Chunking;
use crate::complete_events::CompleteEvents;
use crate::ids::Ids;

fn events(script: crate::answer::Script) -> Vec<Value> {
    let steps = script.filter_map(|step| match step {
        Step::Event(event) => Some(event),
        _ => None,
    });
    steps.collect()
}

fn frames(events: &[Value], wish: UsageWish) -> Vec<String> {
    let mut chunks = ChatChunks::new("m", 7, wish);
    events.iter().flat_map(|event| chunks.frames(event)).collect()
}

fn choices(frames: &[String]) -> Vec<Value> {
    let values = frames.iter().filter_map(|frame| serde_json::from_str::<Value>(frame).ok());
    values.map(|chunk| chunk["choices"][0].clone()).collect()
}

#[test]
fn text_and_calls_become_deltas_that_put_them_together_again() {
    let ids = Ids::new(1);
    let script = Answer::begin(&ids)
        .message("Hello you")
        .call(&Call::new("a", "{\"x\": 1}"))
        .call(&Call::new("b", ""))
        .completed();
    let frames = frames(&events(script), UsageWish::Asked);
    assert_eq!(frames.last().unwrap(), "[DONE]");
    let choices = choices(&frames);
    assert_eq!(choices[0]["delta"]["role"], "assistant");
    let text: String =
        choices.iter().filter_map(|choice| choice["delta"]["content"].as_str()).collect();
    assert_eq!(text, "Hello you");
    let calls: Vec<&Value> =
        choices.iter().map(|choice| &choice["delta"]["tool_calls"][0]).collect();
    let of = |index: u64| -> Vec<&&Value> {
        calls.iter().filter(|call| call["index"] == index).collect()
    };
    let arguments = |index: u64| -> String {
        of(index).iter().filter_map(|call| call["function"]["arguments"].as_str()).collect()
    };
    assert_eq!((arguments(0).as_str(), arguments(1).as_str()), ("{\"x\": 1}", ""));
    assert_eq!(
        (&of(0)[0]["function"]["name"], &of(1)[0]["function"]["name"]),
        (&json!("a"), &json!("b"))
    );
    assert!(of(0)[1].get("id").is_none());
    let finish = choices.iter().filter_map(|choice| choice["finish_reason"].as_str());
    assert_eq!(finish.collect::<Vec<_>>(), ["tool_calls"]);
    let usage: Value = serde_json::from_str(&frames[frames.len() - 2]).unwrap();
    assert_eq!((&usage["choices"], &usage["usage"]["total_tokens"]), (&json!([]), &json!(168)));
}

#[test]
fn a_call_of_a_custom_tool_has_a_form_of_its_own() {
    let ids = Ids::new(1);
    let delivery = Delivery::at_once(Chunking::Chars(2));
    let script = Answer::begin(&ids).custom_call("edit", "+a\n\"b", delivery).completed();
    let events = events(script);
    let choices = choices(&frames(&events, UsageWish::Unasked));
    let calls: Vec<&Value> = choices
        .iter()
        .map(|choice| &choice["delta"]["tool_calls"][0])
        .filter(|call| !call.is_null())
        .collect();
    assert_eq!(calls[0]["custom"], json!({"name": "edit", "input": ""}));
    assert_eq!((&calls[0]["type"], calls[0]["id"].is_string()), (&json!("custom"), true));
    assert_eq!(calls[1], &json!({"index": 0, "custom": {"input": "+a"}}));
    let input: String = calls.iter().filter_map(|call| call["custom"]["input"].as_str()).collect();
    assert_eq!(input, "+a\n\"b");
    let mut complete = CompleteEvents::new("m", 7);
    let whole = events.into_iter().flat_map(|event| complete.complete(event)).last().unwrap();
    let choice = &completion(&whole["response"])["choices"][0];
    let call = &choice["message"]["tool_calls"][0];
    assert_eq!(call["custom"], json!({"name": "edit", "input": "+a\n\"b"}));
    assert_eq!((&call["type"], &choice["finish_reason"]), (&json!("custom"), &json!("tool_calls")));
}

#[test]
fn usage_comes_only_if_asked_for() {
    let ids = Ids::new(1);
    let frames = frames(&events(Answer::begin(&ids).message("x").completed()), UsageWish::Unasked);
    assert!(frames.iter().all(|frame| !frame.contains("usage")), "{frames:?}");
}

#[test]
fn every_end_has_its_reason() {
    let ids = Ids::new(1);
    for (script, reason) in [
        (Answer::begin(&ids).message("x").completed(), "stop"),
        (Answer::begin(&ids).message("x").incomplete("max_output_tokens"), "length"),
        (Answer::begin(&ids).message("x").incomplete("content_filter"), "content_filter"),
    ] {
        let events = events(script);
        let choices = choices(&frames(&events, UsageWish::Unasked));
        assert_eq!(choices.last().unwrap()["finish_reason"], reason);
        let mut complete = CompleteEvents::new("m", 7);
        let last = events.into_iter().flat_map(|event| complete.complete(event)).last().unwrap();
        let whole = completion(&last["response"]);
        assert_eq!(whole["choices"][0]["finish_reason"], reason);
        assert_eq!(whole["choices"][0]["message"]["content"], "x");
    }
    let failed = frames(&events(Answer::begin(&ids).failed("server_error")), UsageWish::Unasked);
    assert!(failed.last().unwrap().starts_with("{\"error\":{\"message\""), "{failed:?}");
}

#[test]
fn a_refusal_has_a_field_of_its_own() {
    let ids = Ids::new(1);
    for (text, content) in [("", Value::Null), ("Text", json!("Text"))] {
        let begun = Answer::begin(&ids);
        let begun = if text.is_empty() { begun } else { begun.message(text) };
        let events = events(begun.refusal("I cannot").completed());
        let choices = choices(&frames(&events, UsageWish::Unasked));
        let joined = |field: &str| -> String {
            choices.iter().filter_map(|choice| choice["delta"][field].as_str()).collect()
        };
        assert_eq!((joined("content").as_str(), joined("refusal").as_str()), (text, "I cannot"));
        let mut complete = CompleteEvents::new("m", 7);
        let last = events.into_iter().flat_map(|event| complete.complete(event)).last().unwrap();
        let message = &completion(&last["response"])["choices"][0]["message"];
        assert_eq!((&message["content"], &message["refusal"]), (&content, &json!("I cannot")));
    }
}

#[test]
fn a_text_without_deltas_is_told_once() {
    let ids = Ids::new(1);
    let script = Answer::begin(&ids).message_without_deltas("All").message("More").completed();
    let choices = choices(&frames(&events(script), UsageWish::Unasked));
    let text: String =
        choices.iter().filter_map(|choice| choice["delta"]["content"].as_str()).collect();
    assert_eq!(text, "AllMore");
}
