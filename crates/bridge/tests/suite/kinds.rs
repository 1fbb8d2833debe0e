//! Calls of other kinds than functions, and text before a call that the request demands.

use bridge::{
    ChatHead, ChatMessage, DeclaredTools, InputDeviations, OtherTool, Output as _, Piece, Preamble,
    TurnPolicy,
};
use model_turn::{InputDeviation, ToolCall, ToolCallKind, ToolName, TurnEvent};
use openai_wire::{CallHead, CallPart};
use serde_json::{Value, json};

use crate::play::{Sent, called, json, play, play_whole, text, whole, xml};
use crate::script::{Line, call_as, end, say};

fn patch_tool() -> ToolName {
    ToolName { namespace: Some("n".to_owned()), name: "p".to_owned() }
}

/// A policy with the custom tool `p` in the namespace `n`.
fn with_custom(policy: TurnPolicy) -> TurnPolicy {
    let schema = json!({"type": "object", "properties": {"input": {"type": "string"}}});
    let other = OtherTool { name: patch_tool(), is_custom: true };
    let tools = DeclaredTools::new([("n.p".to_owned(), schema)], [("n.p".to_owned(), other)]);
    TurnPolicy { tools, ..policy }
}

fn custom(call_id: &str, input: &str, deviation: Option<InputDeviation>) -> Line {
    Line::Event(TurnEvent::ToolCall(ToolCall {
        call_id: call_id.to_owned(),
        item_id: None,
        name: patch_tool(),
        arguments: input.to_owned(),
        kind: ToolCallKind::Custom,
        deviation,
    }))
}

/// The message that a client gets of a turn that is not streamed.
fn message(policy: &TurnPolicy, script: &[Line]) -> Value {
    whole(policy, 1, script)["choices"][0]["message"].take()
}

#[test]
fn an_input_is_a_text_and_its_deviations_are_counted() {
    let script = [
        custom("1", "a\n{}", None),
        custom("2", "", Some(InputDeviation::Raw)),
        custom("3", "b", Some(InputDeviation::Malformed)),
        end(),
    ];
    let played = play_whole(with_custom(json()), &script);
    assert_eq!(played.report.input_deviations, InputDeviations { raw: 1, malformed: 1 });
    let call = |index: usize, input: &str| {
        json!({
            "id": format!("tool_0_{index}_{}", ["1", "2", "3"][index]), "type": "custom",
            "namespace": "n", "custom": {"name": "p", "input": input},
        })
    };
    let message = message(&with_custom(json()), &script);
    let ids = ["text", "text", "text"];
    assert_eq!(ids.len(), 3);
    let calls: Vec<_> = message["tool_calls"].as_array().unwrap().clone();
    for (index, (given, input)) in calls.iter().zip(["a\n{}", "", "b"]).enumerate() {
        let mut expected = call(index, input);
        expected["id"] = given["id"].clone();
        assert_eq!(*given, expected);
    }
}

#[test]
fn a_streamed_input_is_whole_and_may_be_empty() {
    for (pieces, whole) in [(&["a", "\nb"][..], "a\nbc"), (&[], "")] {
        let start = TurnEvent::ToolCallStart {
            call_id: "1".to_owned(),
            name: patch_tool(),
            kind: ToolCallKind::Custom,
        };
        let mut script = vec![Line::Event(start)];
        let pieces = pieces.iter().map(|piece| TurnEvent::ToolCallArguments((*piece).to_owned()));
        script.extend(pieces.map(Line::Event));
        script.extend([custom("1", whole, None), end()]);
        assert_eq!(play(with_custom(json()), &script).sent, [called(0, "p", whole)]);
    }
}

#[test]
fn a_block_can_call_a_custom_tool() {
    let block = "<use_tool><name>n.p</name><input>a &lt; b</input></use_tool>";
    let given = message(&with_custom(json()), &[say(block), end()]);
    let call = &given["tool_calls"][0];
    assert_eq!(call["type"], "custom");
    assert_eq!(call["namespace"], "n");
    assert_eq!(call["custom"]["name"], "p");
    assert!(call["custom"]["input"].as_str().unwrap().starts_with("a "), "{call}");
}

#[test]
fn a_custom_call_is_rendered_as_a_block() {
    let given = message(&with_custom(xml()), &[custom("1", "a\nb", None), end()]);
    let block = "<use_tool>\n  <name>n.p</name>\n  <input>a\nb</input>\n</use_tool>";
    assert_eq!(given["content"], block);
}

#[test]
fn text_before_a_demanded_call_is_dropped_and_counted() {
    let policy = || TurnPolicy { preamble: Preamble::Held, ..json() };
    let played =
        play_whole(policy(), &[say("Let me "), say("see."), call_as("1", "a", "{}"), end()]);
    assert_eq!(played.report.suppressed_bytes, "Let me see.".len());
    assert_eq!(played.sent, [called(0, "a", "{}")]);
}

#[test]
fn text_is_released_if_no_demanded_call_comes() {
    let policy = || TurnPolicy { preamble: Preamble::Held, ..json() };
    let played = play_whole(policy(), &[say("No "), say("call."), end()]);
    assert_eq!(played.sent, [text("No call.")]);
    assert_eq!(played.report.suppressed_bytes, 0);
    let long = "x".repeat(1500);
    let script = [say(&long), call_as("1", "a", "{}"), end()];
    let played = play_whole(policy(), &script);
    assert_eq!(played.sent, [text(&long), called(0, "a", "{}")]);
}

#[test]
fn text_stands_before_the_refusal_of_a_demanded_call() {
    let policy = || TurnPolicy { preamble: Preamble::Held, ..json() };
    let refusal = Line::Event(TurnEvent::Refusal("I cannot".to_owned()));
    let played = play_whole(policy(), &[say("Well."), refusal, end()]);
    assert_eq!(played.sent, [text("Well."), Sent::Refusal("I cannot".to_owned())]);
}

#[test]
fn a_part_without_a_head_belongs_to_the_last_call() {
    let head = ChatHead { id: "id", created: 7, model: "m", choices: 1, include_usage: false };
    let mut out = ChatMessage::new(&head, json().mode, json().shape);
    let head = CallHead { id: "1", namespace: None, name: "a" };
    let part = CallPart { index: 0, head: None, kind: ToolCallKind::Function, text: "{" };
    out.write(Piece::Call(&part));
    out.write(Piece::Call(&CallPart { head: Some(head), ..part }));
    out.write(Piece::Call(&CallPart { text: "}", ..part }));
    out.close(false, "");
    let answer: Value = serde_json::from_slice(out.buffer()).unwrap();
    let calls = &answer["choices"][0]["message"]["tool_calls"];
    assert_eq!(calls[0]["function"]["arguments"], "{}");
}
