//! Whatever a server says, it is judged and never trips the kit.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::scenario::scenarios;

/// Words that the readers look for, so that what is drawn gets far into them.
const NAMES: [&str; 36] = [
    "id",
    "object",
    "created",
    "model",
    "choices",
    "index",
    "delta",
    "content",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "custom",
    "input",
    "type",
    "finish_reason",
    "usage",
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "error",
    "message",
    "response",
    "output",
    "status",
    "item",
    "item_id",
    "output_index",
    "part",
    "text",
    "sequence_number",
    "input_tokens",
    "output_tokens",
    "incomplete_details",
    "data",
    "role",
];
const WORDS: [&str; 26] = [
    "",
    "x",
    "assistant",
    "function",
    "custom",
    "stop",
    "chat.completion.chunk",
    "message",
    "function_call",
    "custom_tool_call",
    "completed",
    "failed",
    "incomplete",
    "error",
    "keepalive",
    "response.created",
    "response.in_progress",
    "response.completed",
    "response.failed",
    "response.output_item.added",
    "response.output_item.done",
    "response.content_part.done",
    "response.output_text.delta",
    "response.function_call_arguments.done",
    "response.custom_tool_call_input.delta",
    "response.custom_tool_call_input.done",
];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        prop_oneof![Just(0), Just(1), Just(u64::MAX), Just(u64::MAX / 2), any::<u64>()]
            .prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        proptest::sample::select(&WORDS[..]).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 6, |inner| {
        let name = proptest::sample::select(&NAMES[..]).prop_map(str::to_owned);
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(name, inner, 0..8)
                .prop_map(|members| members.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

/// Shapes that get past the first look of the readers, filled with anything.
fn frame() -> impl Strategy<Value = Value> {
    let call = || {
        let call =
            |(index, rest)| json!({"index": index, "id": rest, "function": rest, "custom": rest});
        (value(), value()).prop_map(call)
    };
    let kind = proptest::sample::select(&WORDS[..]);
    let count = || prop_oneof![Just(0), Just(1), Just(u64::MAX), any::<u64>()];
    prop_oneof![
        value(),
        (count(), count(), count()).prop_map(|(asked, said, total)| {
            let usage = json!({"prompt_tokens": asked, "completion_tokens": said,
                "input_tokens": asked, "output_tokens": said, "total_tokens": total});
            json!({"type": "response.completed", "response": {"usage": usage}, "usage": usage})
        }),
        (call(), call()).prop_map(|(one, two)| json!({"choices": [{"delta":
            {"content": "x", "tool_calls": [one, two]}}]})),
        (kind, value(), value()).prop_map(|(kind, one, two)| json!({"type": kind,
            "response": one, "item": two, "part": one, "delta": two, "output_index": 0})),
    ]
}

fn body() -> impl Strategy<Value = String> {
    let frames = proptest::collection::vec(frame(), 0..6).prop_map(|frames| {
        let frames: Vec<String> = frames.iter().map(|frame| format!("data: {frame}\n\n")).collect();
        frames.concat()
    });
    prop_oneof![frames, frame().prop_map(|whole| whole.to_string()), any::<String>()]
}

proptest! {
    #[test]
    fn nothing_that_a_server_says_trips_the_kit(
        body in body(),
        status in prop_oneof![Just(200), Just(500), any::<u16>()],
    ) {
        let said = Exchange { status, body, ..Exchange::default() };
        for scenario in scenarios().unwrap() {
            for delivery in [Delivery::Streamed, Delivery::Whole] {
                for kind in [ModelKind::Scripted, ModelKind::Any] {
                    let mut notes = Notes::default();
                    let answer = exchange(&scenario, kind, delivery, &said, &mut notes);
                    if let Some(answer) = answer {
                        same(&scenario, &answer, &answer, &mut notes);
                    }
                }
            }
        }
    }
}
