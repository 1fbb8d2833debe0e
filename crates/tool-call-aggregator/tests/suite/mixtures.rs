//! Calls that several sources report at once, in random orders: each is there once, with its own
//! bytes.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};
use tool_call_aggregator::ToolCallAggregator;

use crate::client::Client;
use crate::ingest::{ingest, snapshots};
use crate::random::runner;

/// What a call's arguments say, and where a stream cuts them.
#[derive(Clone, Debug)]
struct Spoken {
    text: String,
    cuts: Vec<Index>,
}

impl Spoken {
    /// The text in increments, some of which may be equal, but none of them empty.
    fn increments(&self) -> Vec<String> {
        let characters: Vec<char> = self.text.chars().collect();
        let mut ends: Vec<usize> =
            self.cuts.iter().map(|cut| cut.index(characters.len())).collect();
        ends.push(characters.len());
        ends.sort_unstable();
        ends.dedup();
        let mut start = 0;
        let increment = |end: usize| {
            characters[std::mem::replace(&mut start, end)..end].iter().collect::<String>()
        };
        ends.into_iter().map(increment).filter(|increment| !increment.is_empty()).collect()
    }

    fn object(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }
}

/// Objects full of repetitions, with or without the space that a compact writer leaves out.
fn spoken() -> impl Strategy<Value = Spoken> {
    let pieces = select(&["ha ", "ha ", "}", "}", "11", "\"", "\\", "é", "🙂", "{\"t\":"][..]);
    let value = vec(pieces, 0..8).prop_map(|pieces| json!(pieces.concat()).to_string());
    let text = (value, select(&["", " "][..]))
        .prop_map(|(value, space)| format!("{{\"t\":{space}{{\"t\":{space}{value}}}}}"));
    (text, vec(any::<Index>(), 0..12)).prop_map(|(text, cuts)| Spoken { text, cuts })
}

/// The lanes' events in one order: each lane keeps its own, the picks decide whose turn it is.
fn interleave(lanes: Vec<Vec<Value>>, picks: &[Index]) -> Vec<Value> {
    let mut lanes: Vec<_> = lanes.into_iter().map(Vec::into_iter).collect();
    let mut picks = picks.iter().cycle();
    let mut order = Vec::new();
    while !lanes.is_empty() {
        let at = picks.next().unwrap().index(lanes.len());
        match lanes[at].next() {
            Some(step) => order.push(step),
            None => drop(lanes.remove(at)),
        }
    }
    order
}

fn item(call: usize, arguments: &str) -> Value {
    json!({"type": "function_call", "id": format!("fc_{call}"), "call_id": format!("call_{call}"),
        "name": format!("tool_{call}"), "arguments": arguments})
}

fn responses(call: usize, spoken: &Spoken, with_done: bool) -> Vec<Value> {
    let (id, index) = (format!("fc_{call}"), call);
    let mut events = vec![json!({"type": "response.output_item.added", "output_index": index,
        "item": item(call, "")})];
    events.extend(spoken.increments().iter().map(|increment| {
        json!({"type": "response.function_call_arguments.delta", "item_id": id,
            "output_index": index, "delta": increment})
    }));
    if with_done {
        events.push(json!({"type": "response.function_call_arguments.done", "item_id": id,
            "output_index": index, "arguments": spoken.text}));
    }
    events.push(json!({"type": "response.output_item.done", "output_index": index,
        "item": item(call, &spoken.text)}));
    events.into_iter().map(|event| json!({ "event": event })).collect()
}

fn codex(call: usize, spoken: &Spoken, with_raw: bool) -> Vec<Value> {
    let (id, tool) = (format!("call_{call}"), format!("tool_{call}"));
    let dynamic = json!({"item": {"type": "dynamicToolCall", "id": id, "tool": tool,
        "arguments": spoken.object()}, "turnId": "turn_1"});
    let raw = json!({"item": item(call, &spoken.text), "turnId": "turn_1"});
    let request = json!({"callId": id, "tool": tool, "arguments": spoken.object()});
    let mut events = vec![
        json!({"method": "item/started", "params": dynamic}),
        json!({"method": "item/tool/call", "id": call, "params": request}),
        json!({"method": "item/completed", "params": dynamic}),
    ];
    if with_raw {
        events.insert(0, json!({"method": "rawResponseItem/completed", "params": raw}));
    }
    events.into_iter().map(|event| json!({ "event": event })).collect()
}

#[test]
fn two_calls_from_every_source_in_any_order() {
    let law = |(spoken, with, picks): ([Spoken; 2], [bool; 5], Vec<Index>)| {
        let mut lanes = Vec::new();
        for (call, spoken) in spoken.iter().enumerate() {
            lanes.push(responses(call, spoken, with[0]));
            if with[1] {
                lanes.push(codex(call, spoken, with[2]));
            }
        }
        let entry = |call: usize| {
            json!({"id": format!("call_{call}"), "type": "function",
                "function": {"name": format!("tool_{call}"), "arguments": spoken[call].text}})
        };
        if with[3] {
            let message = json!({"role": "assistant", "tool_calls": [entry(1), entry(0)]});
            lanes.push(vec![json!({ "message": message })]);
        }
        if with[4] {
            let output = [item(0, &spoken[0].text), item(1, &spoken[1].text)];
            let event = json!({"type": "response.completed", "response": {"output": output}});
            lanes.push(vec![json!({ "event": event })]);
        }
        let (mut calls, mut client) = (ToolCallAggregator::new(), Client::default());
        for step in interleave(lanes, &picks) {
            client.take(&ingest(&mut calls, &step))?;
        }
        let records = calls.snapshot(0);
        prop_assert_eq!(records.len(), 2, "{:?}", records);
        for record in records {
            let call = usize::from(record.backend_id.as_deref() == Some("call_1"));
            prop_assert_eq!(record.backend_id, Some(format!("call_{call}")));
            prop_assert_eq!(record.name, format!("tool_{call}"));
            prop_assert_eq!(&record.arguments, &spoken[call].text);
            prop_assert_eq!(&client.texts[&record.id], &spoken[call].text);
        }
        Ok(())
    };
    let input = ([spoken(), spoken()], any::<[bool; 5]>(), vec(any::<Index>(), 1..40));
    runner(6000).run(&input, law).unwrap();
}

#[test]
fn two_items_with_one_call_id_in_any_order() {
    let law = |(spoken, with, picks): ([Spoken; 2], [bool; 3], Vec<Index>)| {
        let with_one_id = |steps: Vec<Value>| -> Vec<Value> {
            let text = Value::from(steps).to_string().replace("\"call_1\"", "\"call_0\"");
            serde_json::from_str(&text).unwrap()
        };
        let mut lanes = Vec::new();
        for (call, spoken) in spoken.iter().enumerate() {
            lanes.push(with_one_id(responses(call, spoken, with[0])));
            if with[1] {
                // Requests name the call id alone: they come when the items are known.
                lanes.push(with_one_id(codex(call, spoken, true)[..1].to_vec()));
            }
        }
        if with[2] {
            let output = [item(0, &spoken[0].text), item(1, &spoken[1].text)];
            let event = json!({"type": "response.completed", "response": {"output": output}});
            lanes.push(with_one_id(vec![json!({ "event": event })]));
        }
        let mut steps = interleave(lanes, &picks);
        for (call, spoken) in spoken.iter().enumerate() {
            steps.extend(with_one_id(codex(call, spoken, false)));
        }
        let (mut calls, mut client) = (ToolCallAggregator::new(), Client::default());
        for step in steps {
            client.take(&ingest(&mut calls, &step))?;
        }
        prop_assert!(!client.replaced);
        let records = calls.snapshot(0);
        prop_assert_eq!(records.len(), 2, "{:?}", records);
        for record in records {
            let call = usize::from(record.name == "tool_1");
            prop_assert_eq!(record.backend_id.as_deref(), Some("call_0"));
            prop_assert_eq!(&record.arguments, &spoken[call].text);
            prop_assert_eq!(&client.texts[&record.id], &spoken[call].text);
        }
        Ok(())
    };
    let input = ([spoken(), spoken()], any::<[bool; 3]>(), vec(any::<Index>(), 1..40));
    runner(3000).run(&input, law).unwrap();
}

#[test]
fn chat_streams_of_two_choices_never_mix() {
    let law = |(spoken, ids, picks): ([Spoken; 4], bool, Vec<Index>)| {
        let lane = |(at, spoken): (usize, &Spoken)| {
            let (choice, index) = (at / 2, at % 2);
            let frame = |entry: Value| {
                let delta = json!({ "tool_calls": [entry] });
                json!({"event": {"choices": [{"index": choice, "delta": delta}]}})
            };
            let mut header = json!({"index": index, "function": {"name": "t", "arguments": ""}});
            if ids {
                header["id"] = json!(format!("call_{index}"));
            }
            let increment =
                |text: &String| frame(json!({"index": index, "function": {"arguments": text}}));
            let mut frames = vec![frame(header)];
            frames.extend(spoken.increments().iter().map(increment));
            frames
        };
        let lanes = spoken.iter().enumerate().map(lane).collect();
        let (mut calls, mut client) = (ToolCallAggregator::new(), Client::default());
        for step in interleave(lanes, &picks) {
            client.take(&ingest(&mut calls, &step))?;
        }
        prop_assert!(!client.replaced);
        let found = snapshots(&calls, &json!({"0": null, "1": null}));
        for choice in 0..2 {
            let texts: Vec<&str> = found[choice.to_string()]
                .as_array()
                .unwrap()
                .iter()
                .map(|record| record["arguments"].as_str().unwrap())
                .collect();
            let mut expected: Vec<&str> =
                spoken[choice * 2..][..2].iter().map(|spoken| spoken.text.as_str()).collect();
            if texts != expected {
                // Which of a choice's calls comes first is decided by the picks.
                expected.reverse();
            }
            prop_assert_eq!(texts, expected);
        }
        Ok(())
    };
    let four = [spoken(), spoken(), spoken(), spoken()];
    runner(4000).run(&(four, any::<bool>(), vec(any::<Index>(), 1..40)), law).unwrap();
}
