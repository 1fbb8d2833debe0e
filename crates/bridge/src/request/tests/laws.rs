//! What holds for every request.

use model_turn::{HistoryItem, ToolOutput};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::{PIXEL, calls, prepare_with, prepared, result, with};
use crate::policy::TurnSettings;
use crate::request::schema::ToolSchema;

/// Words that requests and schemas are made of, so that arbitrary JSON gets far.
const WORDS: [&str; 34] = [
    "model",
    "messages",
    "role",
    "content",
    "type",
    "text",
    "image_url",
    "url",
    "tool_calls",
    "id",
    "function",
    "name",
    "arguments",
    "tool_call_id",
    "tools",
    "parameters",
    "user",
    "assistant",
    "tool",
    "properties",
    "items",
    "anyOf",
    "$ref",
    "$defs",
    "const",
    "enum",
    "object",
    "array",
    "required",
    "tool_choice",
    "response_format",
    "json_schema",
    "schema",
    "stop",
];

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        select(&WORDS[..]).prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::from),
            vec((select(&WORDS[..]), inner), 0..6).prop_map(|members| {
                members
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect::<Map<_, _>>()
                    .into()
            }),
        ]
    })
}

/// A message and its text; the texts of a history are all different.
fn any_message() -> impl Strategy<Value = Value> {
    let role = select(&["system", "developer", "user", "assistant"][..]);
    prop_oneof![
        (role, select(&["string", "parts", "nothing"][..])).prop_map(|(role, form)| match form {
            "string" => json!({"role": role, "content": "text"}),
            "parts" => json!({"role": role, "content": [{"type": "text", "text": "text"}, "text"]}),
            _ => json!({"role": role}),
        }),
        Just(
            json!({"role": "user", "content": ["text", {"type": "image_url", "image_url": PIXEL}]})
        ),
        vec(select(&["1", "2", "tool_0_0_a", "call_a", ""][..]), 1..4).prop_map(|ids| calls(&ids)),
    ]
}

/// A whole history: every call is answered at once, in any order.
fn any_history() -> impl Strategy<Value = Value> {
    vec((any_message(), any::<bool>()), 1..12).prop_map(|messages| {
        let mut history = Vec::new();
        for (message, backwards) in messages {
            let made = message["tool_calls"].as_array().cloned().unwrap_or_default();
            history.push(message);
            let mut results: Vec<_> = made
                .iter()
                .filter_map(|call| call["id"].as_str())
                .map(|id| result(id, "text"))
                .collect();
            if backwards {
                results.reverse();
            }
            history.extend(results);
        }
        let mut history = Value::from(history);
        number_texts(&mut history, &mut 0);
        history
    })
}

/// Makes every "text" and every call's arguments different.
fn number_texts(value: &mut Value, next: &mut usize) {
    match value {
        Value::String(text) if text == "text" => {
            *text = format!("said {next}.");
            *next += 1;
        }
        Value::Array(values) => values.iter_mut().for_each(|value| number_texts(value, next)),
        Value::Object(members) => {
            for (name, value) in members {
                if name == "arguments" {
                    *value = format!("argued {next}.").into();
                    *next += 1;
                } else if name != "type" {
                    number_texts(value, next);
                }
            }
        }
        _ => {}
    }
}

/// All texts of a request, in their order.
fn texts_of(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) if text.starts_with("said ") || text.starts_with("argued ") => {
            found.push(text.clone());
        }
        Value::Array(values) => values.iter().for_each(|value| texts_of(value, found)),
        Value::Object(members) => members.values().for_each(|value| texts_of(value, found)),
        _ => {}
    }
}

fn call_ids(history: &[HistoryItem]) -> (Vec<&str>, Vec<(&str, &ToolOutput)>) {
    let calls = history.iter().filter_map(|item| match item {
        HistoryItem::ToolCall { call_id, .. } => Some(call_id.as_str()),
        _ => None,
    });
    let outputs = history.iter().filter_map(|item| match item {
        HistoryItem::ToolOutput { call_id, output } => Some((call_id.as_str(), output)),
        _ => None,
    });
    (calls.collect(), outputs.collect())
}

proptest! {
    #[test]
    fn no_request_panics(body in any_json()) {
        let _ = prepare_with(&TurnSettings::default(), &body);
        for name in ["messages", "tools", "tool_choice", "response_format", "stop"] {
            let _ = prepare_with(&TurnSettings::default(), &with(&json!({name: body})));
            let _ = prepare_with(&TurnSettings::default(), &with(&json!({name: [body]})));
        }
    }

    #[test]
    fn every_text_is_kept_in_its_place(messages in any_history()) {
        let mut expected = Vec::new();
        texts_of(&messages, &mut expected);
        let prepared = prepare_with(&TurnSettings::default(), &with(&json!({"messages": messages})));
        if let Ok(prepared) = prepared {
            let texts = prepared.prompt_texts().filter(|text| text != "f");
            let kept: Vec<_> = texts.map(std::borrow::Cow::into_owned).collect();
            prop_assert_eq!(kept, expected);
        } else {
            prop_assert_eq!(expected, Vec::<String>::new(), "only an empty history is refused");
        }
    }

    #[test]
    fn every_call_has_an_id_of_its_own_and_one_result(messages in any_history()) {
        let prepared = prepare_with(&TurnSettings::default(), &with(&json!({"messages": messages})));
        if let Ok(prepared) = prepared {
            let (mut calls, outputs) = call_ids(&prepared.turn.history);
            let mut answered: Vec<_> = outputs.iter().map(|(id, _)| *id).collect();
            calls.sort_unstable();
            answered.sort_unstable();
            prop_assert_eq!(&calls, &answered);
            calls.dedup();
            prop_assert_eq!(calls.len(), answered.len());
            prop_assert!(calls.iter().all(|id| (1..=64).contains(&id.len())));
        }
    }

    /// Codex hands such a schema on unchanged, so there must be nothing more to do.
    #[test]
    fn a_schema_in_the_form_of_codex_stays_as_it_is(schema in any_json()) {
        let schema = json!({"type": "object", "properties": {"value": schema}});
        let once = ToolSchema::new(schema.as_object().expect("an object"));
        let again: Value = serde_json::from_str(once.parameters.get()).unwrap();
        let twice = ToolSchema::new(again.as_object().expect("an object"));
        prop_assert_eq!(twice.parameters, once.parameters);
    }
}

#[test]
fn a_long_history_is_read_in_one_go() {
    let long = "x".repeat(1 << 20);
    let turn = prepared(&with(&json!({"messages": [{"role": "user", "content": long}]}))).turn;
    assert_eq!(turn.history, [super::user(&long)]);
}
