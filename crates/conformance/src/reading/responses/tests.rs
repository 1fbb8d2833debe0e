mod strict;

use serde_json::{Value, json};

use super::*;
use crate::notes::Notes;
use crate::reading::{Ending, Frame};

/// The body of a stream with these events, each with its number.
fn body(events: &[Value]) -> String {
    let frame = |(number, event): (usize, &Value)| {
        let mut event = event.clone();
        event["sequence_number"] = number.into();
        let name = event["type"].as_str().map(str::to_owned);
        Frame::Event { name, data: event.to_string() }.to_string()
    };
    events.iter().enumerate().map(frame).collect()
}

/// Reads events, and gives the rules that they break.
fn broken(events: &[Value]) -> (Answer, Vec<RuleId>) {
    let mut stream = ResponseStream::new(Notes::default());
    stream.take(body(events).as_bytes());
    let (read, notes) = stream.end(Ending::Whole);
    let answer = read.answer();
    let rules = notes.into_rules().into_iter().filter(|(_, seen)| !seen.faults.is_empty());
    (answer, rules.map(|(rule, _)| rule).collect())
}

/// A response whose items are told by these events.
fn response(told: &[Value], output: &Value) -> Vec<Value> {
    let usage = json!({"input_tokens": 1, "output_tokens": 2, "total_tokens": 3,
        "input_tokens_details": {}, "output_tokens_details": {}});
    let begin = [json!({"type": "response.created"}), json!({"type": "response.in_progress"})];
    let end = json!({"type": "response.completed",
        "response": {"status": "completed", "output": output, "usage": usage}});
    [&begin, told, &[end]].concat()
}

/// An event of the first item.
fn event(kind: &str, members: &Value) -> Value {
    let mut event = json!({"type": kind, "output_index": 0, "item_id": "i", "content_index": 0});
    let members = members.as_object().unwrap().clone();
    event.as_object_mut().unwrap().extend(members);
    event
}

fn message(content: &Value) -> Value {
    json!({"type": "message", "id": "i", "role": "assistant", "content": content})
}

#[test]
fn a_refusal_and_an_annotation_are_parts_like_others() {
    let text = json!({"type": "output_text", "text": "ab", "annotations": [{}]});
    let refusal = json!({"type": "refusal", "refusal": "no"});
    let item = message(&json!([text, refusal]));
    let told = [
        event("response.output_item.added", &json!({"item": message(&json!([]))})),
        event(
            "response.content_part.added",
            &json!({"part": {"type": "output_text", "annotations": []}}),
        ),
        event("response.output_text.delta", &json!({"delta": "a"})),
        event("response.output_text.annotation.added", &json!({"annotation": {}})),
        event("response.output_text.delta", &json!({"delta": "b"})),
        event("response.output_text.done", &json!({"text": "ab"})),
        event("response.content_part.done", &json!({"part": text})),
        event("response.content_part.added", &json!({"part": {"type": "refusal"}})),
        event("response.refusal.delta", &json!({"delta": "no"})),
        event("response.refusal.done", &json!({"refusal": "no"})),
        event("response.content_part.done", &json!({"part": refusal})),
        event("response.output_item.done", &json!({"item": item})),
    ];
    let (answer, faults) = broken(&response(&told, &json!([item])));
    assert_eq!((answer.text.as_str(), faults), ("ab", Vec::new()));
    // A part that is told half.
    let half = [&told[..6], &told[7..]].concat();
    let (_, faults) = broken(&response(&half, &json!([item])));
    assert_eq!(faults, [RuleId::ResponsesMessageEvents]);
}

#[test]
fn reasoning_may_be_told_and_keepalive_may_come_anywhere() {
    let item = json!({"type": "reasoning", "id": "i"});
    let told = [
        event("response.output_item.added", &json!({"item": item})),
        event("response.reasoning_text.delta", &json!({"delta": "hm"})),
        json!({"type": "keepalive"}),
        event("response.reasoning_text.done", &json!({"text": "hm"})),
        event("response.output_item.done", &json!({"item": item})),
    ];
    assert_eq!(broken(&response(&told, &json!([item]))).1, []);
}

#[test]
fn an_error_is_an_end_in_whichever_form() {
    let begin = [json!({"type": "response.created"}), json!({"type": "response.in_progress"})];
    let flat = json!({"type": "error", "message": "no", "code": null, "param": null});
    let nested = json!({"type": "error", "error": {"message": "no"}});
    let failed = json!({"type": "response.failed",
        "response": {"status": "failed", "error": {"message": "no"}}});
    for end in [vec![&flat], vec![&nested], vec![&failed], vec![&flat, &failed]] {
        let end: Vec<Value> = end.into_iter().cloned().collect();
        let (answer, faults) = broken(&[&begin[..], &end].concat());
        assert_eq!(faults, [RuleId::ResponsesErrorEveryForm], "{end:?}");
        assert!(answer.has_failed && answer.finish.is_none());
    }
    let mute = json!({"type": "error"});
    let (_, faults) = broken(&[&begin[..], &[mute]].concat());
    assert!(faults.contains(&RuleId::ResponsesErrorEvent), "{faults:?}");
}
