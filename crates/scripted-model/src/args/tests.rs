use std::collections::HashSet;
use std::time::Duration;

use serde_json::{Value, json};

use super::long_arguments;
use crate::answer::{Script, Step};
use crate::chat_chunks::{ChatChunks, UsageWish};
use crate::complete_events::CompleteEvents;
use crate::failures::{BEFORE_THE_END, ErrorReply};
use crate::ids::Ids;
use crate::request::Request;
use crate::scenario::answer;

const DELTA: &str = "response.function_call_arguments.delta";
const DONE: &str = "response.output_item.done";

fn asked(text: &str) -> Value {
    json!({"input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]},
    ]})
}

fn reply(body: &Value, most: u64) -> Result<Script, ErrorReply> {
    answer(Request::new(body), most, &Ids::new(1), 1_000, |_| 1)
}

fn steps(options: &str) -> Vec<Step> {
    let body = asked(&format!(" a \"mark\" [[args:{options}]]\n"));
    reply(&body, u64::MAX).unwrap_or_else(|error| panic!("{error:?}")).collect()
}

fn all_events(steps: &[Step]) -> Vec<Value> {
    let events = steps.iter().filter_map(|step| match step {
        Step::Event(event) => Some(event.clone()),
        _ => None,
    });
    events.collect()
}

fn events(steps: &[Step], kind: &str) -> Vec<Value> {
    all_events(steps).into_iter().filter(|event| event["type"] == kind).collect()
}

fn deltas(steps: &[Step]) -> Vec<String> {
    let events = events(steps, DELTA);
    events.iter().map(|event| event["delta"].as_str().unwrap().to_owned()).collect()
}

/// The arguments of the calls that have ended.
fn arguments(steps: &[Step]) -> Vec<String> {
    let items = events(steps, DONE);
    items.iter().filter_map(|done| Some(done["item"]["arguments"].as_str()?.to_owned())).collect()
}

fn kinds(steps: &[Step]) -> Vec<String> {
    all_events(steps).iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn arguments_are_a_json_object_of_exactly_so_many_bytes() {
    let mark = "é \"quoted\" \\ \n";
    for index in [0, 10] {
        let shortest = long_arguments(index, mark, 0);
        let empty = json!({"city": format!("C{index}"), "mark": mark, "text": ""});
        assert_eq!(serde_json::from_str::<Value>(&shortest).unwrap(), empty);
        for bytes in 0..600 {
            let arguments = long_arguments(index, mark, bytes);
            assert_eq!(arguments.len(), bytes.max(shortest.len()));
            let object: Value = serde_json::from_str(&arguments).unwrap();
            assert_eq!((&object["city"], &object["mark"]), (&empty["city"], &empty["mark"]));
            assert!(object["text"].is_string() && object.as_object().unwrap().len() == 3);
        }
    }
}

#[test]
fn the_text_has_what_careless_code_fails_at() {
    let arguments = long_arguments(0, "", 6_000);
    let object: Value = serde_json::from_str(&arguments).unwrap();
    let text = object["text"].as_str().unwrap();
    for hostile in
        ["\"", "\\", "\n", "é", "漢", "😀", "}}", "aaaaaaaa", "\n\ndata: [DONE]", "\u{2028}"]
    {
        assert!(text.contains(hostile), "{hostile:?}");
    }
    assert_ne!(object.to_string().len(), 6_000, "writing it anew gives the same bytes");
}

#[test]
fn without_options_a_call_has_two_hundred_bytes_in_pieces_of_twenty() {
    let steps = steps("");
    let expected = long_arguments(0, "a \"mark\"", 200);
    assert_eq!((arguments(&steps), deltas(&steps).concat()), (vec![expected.clone()], expected));
    assert!(deltas(&steps).iter().all(|delta| (1..=20).contains(&delta.len())));
    assert!(deltas(&steps).len() <= 12 && !steps.iter().any(|step| matches!(step, Step::Pause(_))));
    assert_eq!(events(&steps, "response.function_call_arguments.done").len(), 1);
    assert!(all_events(&steps).iter().all(|event| event.get("sequence_number").is_none()));
}

#[test]
fn deltas_have_their_size_and_a_pause_after_each() {
    let steps = steps("bytes=6000, piece=30, ms=7");
    assert_eq!(deltas(&steps).concat(), long_arguments(0, "a \"mark\"", 6_000));
    let (last, others) = deltas(&steps).split_last().map(|(l, o)| (l.clone(), o.to_vec())).unwrap();
    assert!(others.iter().all(|delta| (27..=30).contains(&delta.len())) && last.len() <= 30);
    let pause = Step::Pause(Duration::from_millis(7));
    for (position, step) in steps.iter().enumerate() {
        let is_delta = matches!(step, Step::Event(event) if event["type"] == DELTA);
        assert_eq!(steps.get(position + 1) == Some(&pause), is_delta, "{step:?}");
    }
    // A character is never cut, however small the pieces are.
    let single = self::steps("piece=1");
    assert!(deltas(&single).iter().all(|delta| delta.chars().count() == 1));
}

#[test]
fn several_megabytes_are_played_whole() {
    let steps = steps("bytes=3000000,piece=4096");
    assert_eq!(arguments(&steps)[0].len(), 3_000_000);
    assert_eq!(deltas(&steps).concat(), arguments(&steps)[0]);
}

#[test]
fn the_declared_tools_are_called_in_turn_with_their_namespaces() {
    let mut body = asked("[[args:calls=3]]");
    body["tools"] = json!([
        {"type": "function", "name": "plain"},
        {"type": "namespace", "name": "ns", "tools": [{"type": "function", "name": "inner"}]},
    ]);
    let steps: Vec<Step> = reply(&body, u64::MAX).ok().unwrap().collect();
    let called = |steps: &[Step]| -> Vec<(Value, Value)> {
        let items = events(steps, DONE);
        let item = |done: &Value| (done["item"]["name"].clone(), done["item"]["namespace"].clone());
        items.iter().map(item).collect()
    };
    let (plain, inner) = ((json!("plain"), Value::Null), (json!("inner"), json!("ns")));
    assert_eq!(called(&steps), [plain.clone(), inner, plain]);
    for (index, arguments) in arguments(&steps).iter().enumerate() {
        assert_eq!(*arguments, long_arguments(index, "", 200));
    }
    let names: Vec<Value> =
        called(&self::steps("calls=4")).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["get_weather", "get_time", "lookup", "get_weather"]);
}

#[test]
fn a_text_that_quotes_the_user_can_come_first() {
    let steps = steps("text");
    let items: Vec<Value> =
        events(&steps, DONE).into_iter().map(|done| done["item"]["type"].clone()).collect();
    assert_eq!(items, ["message", "function_call"]);
    let text = &events(&steps, "response.output_text.done")[0]["text"];
    assert_eq!(text, "You asked: \"a \"mark\"\"");
    assert!(events(&steps, DELTA).iter().all(|delta| delta["output_index"] == 1));
}

#[test]
fn numbers_are_contiguous_over_the_whole_response() {
    for options in ["numbered", "numbered,text,calls=3,interleaved,idless", "numbered,failed"] {
        let events = all_events(&steps(options));
        for (number, event) in events.iter().enumerate() {
            assert_eq!(event["sequence_number"], number, "{options}: {event}");
        }
    }
}

#[test]
fn interleaved_calls_have_a_delta_each_in_turn_and_their_ends_in_order() {
    let steps = steps("interleaved,calls=3,bytes=300,piece=50,ms=1");
    let kinds = kinds(&steps);
    assert!(kinds[1..4].iter().all(|kind| kind == "response.output_item.added"), "{kinds:?}");
    let deltas = events(&steps, DELTA);
    assert_eq!(kinds[4..kinds.len() - 7], vec![DELTA; deltas.len()]);
    for (position, delta) in deltas.iter().take(18).enumerate() {
        assert_eq!(delta["output_index"], position % 3);
    }
    for (index, done) in events(&steps, DONE).iter().enumerate() {
        let of_call = deltas.iter().filter(|delta| delta["output_index"] == index);
        let joined: String = of_call.map(|delta| delta["delta"].as_str().unwrap()).collect();
        assert_eq!(done["output_index"], index);
        assert_eq!(done["item"]["arguments"], joined);
        assert_eq!(joined, long_arguments(index, "a \"mark\"", 300));
    }
    let pauses = steps.iter().filter(|step| matches!(step, Step::Pause(_))).count();
    assert_eq!(pauses, deltas.len());
}

#[test]
fn items_may_have_no_ids_and_keep_those_of_their_calls() {
    let steps = steps("idless,text,calls=2");
    for event in all_events(&steps) {
        assert!(event.get("item_id").is_none() && event["item"].get("id").is_none(), "{event}");
    }
    let calls: Vec<Value> =
        events(&steps, DONE)[1..].iter().map(|done| done["item"]["call_id"].clone()).collect();
    assert!(calls[0].is_string() && calls[0] != calls[1]);
}

#[test]
fn calls_may_have_the_same_call_id() {
    let ids = |options: &str, key: &str| {
        let items = events(&steps(options), DONE);
        items.iter().map(|done| done["item"][key].to_string()).collect::<HashSet<_>>().len()
    };
    assert_eq!((ids("calls=3", "call_id"), ids("calls=3", "id")), (3, 3));
    let options = "calls=3,one-call-id";
    assert_eq!((ids(options, "call_id"), ids(options, "id")), (1, 3));
}

#[test]
fn item_ids_may_be_the_same_in_every_response() {
    let ids = Ids::new(1);
    let body = asked("[[args:same-ids,calls=2]]");
    let mut of_calls = HashSet::new();
    for _ in 0..2 {
        let script = answer(Request::new(&body), u64::MAX, &ids, 1_000, |_| 1).ok().unwrap();
        let steps: Vec<Step> = script.collect();
        let items: Vec<Value> =
            events(&steps, DONE).into_iter().map(|done| done["item"].clone()).collect();
        assert_eq!((&items[0]["id"], &items[1]["id"]), (&json!("fc_0"), &json!("fc_1")));
        assert_eq!(events(&steps, DELTA)[0]["item_id"], "fc_0");
        of_calls.extend(items.iter().map(|item| item["call_id"].to_string()));
    }
    assert_eq!(of_calls.len(), 4);
}

#[test]
fn a_response_can_end_after_two_thirds_of_the_last_call() {
    for (end, last) in [
        ("cut", Step::Cut),
        ("hang", Step::Cut),
        ("failed", Step::Event(json!("response.failed"))),
        ("incomplete", Step::Event(json!("response.incomplete"))),
    ] {
        for order in ["", ",interleaved"] {
            let options = format!("{end}{order},calls=2,bytes=300,piece=30");
            let steps = steps(&options);
            let whole = self::steps("calls=2,bytes=300,piece=30");
            let of_last = |steps: &[Step]| -> Vec<Value> {
                let deltas = events(steps, DELTA).into_iter();
                deltas
                    .filter(|delta| delta["output_index"] == 1)
                    .map(|e| e["delta"].clone())
                    .collect()
            };
            let (played, all) = (of_last(&steps), of_last(&whole));
            assert_eq!(played, all[..all.len() * 2 / 3], "{options}");
            assert_eq!(events(&steps, DELTA).last().unwrap()["output_index"], 1, "{options}");
            let ended = if order.is_empty() { &arguments(&whole)[..1] } else { &[] };
            assert_eq!(arguments(&steps), ended, "{options}");
            match (steps.last().unwrap(), &last) {
                (Step::Event(event), Step::Event(kind)) => assert_eq!(event["type"], *kind),
                (step, last) => assert_eq!(step, last, "{options}"),
            }
            let silence = matches!(steps[steps.len() - 2], Step::Pause(p) if p > BEFORE_THE_END);
            assert_eq!(silence, end == "hang", "{options}");
        }
    }
    let failed = &events(&steps("failed"), "response.failed")[0]["response"];
    assert_eq!(failed["error"]["code"], "server_error");
    let incomplete = &events(&steps("incomplete"), "response.incomplete")[0]["response"];
    assert_eq!(incomplete["incomplete_details"]["reason"], "max_output_tokens");
}

#[test]
fn options_that_are_unknown_or_contradict_each_other_are_named() {
    for (options, named) in [
        ("byte=5", "not `byte=5`"),
        ("numbered,Text", "not `Text`"),
        ("bytes", "not `bytes`"),
        ("numbered=1", "not `numbered=1`"),
        ("bytes=x", "`bytes=N` from 0 to 1073741824, not `x`"),
        ("piece=0", "`piece=N` from 1 to 1073741824, not `0`"),
        ("calls=0", "`calls=N` from 1 to 10000, not `0`"),
        ("ms=86400001", "`ms=N` from 0 to 86400000"),
        ("bytes=1000000000,calls=2", "at most 1073741824 bytes"),
        ("idless,same-ids", "not both"),
        ("cut,hang", "not two"),
    ] {
        let body = asked(&format!("[[args:{options}]]"));
        let error = reply(&body, u64::MAX).err().unwrap();
        let message = error.body["error"]["message"].as_str().unwrap();
        assert!(error.status == 400 && message.contains(named), "{options}: {message}");
    }
    let error = reply(&asked("[[args:other]]"), u64::MAX).err().unwrap();
    for allowed in ["bytes=N", "piece=N", "ms=N", "calls=N", "numbered", "interleaved", "same-ids"]
    {
        assert!(error.body.to_string().contains(allowed), "{allowed}");
    }
}

#[test]
fn no_number_and_no_response_is_larger_than_the_server_allows() {
    for options in ["bytes=4001", "bytes=2001,calls=2", "calls=21", "ms=4001", "piece=4001"] {
        let body = asked(&format!("[[args:{options}]]"));
        assert_eq!(reply(&body, 4_000).err().map(|error| error.status), Some(400), "{options}");
    }
    assert!(reply(&asked("[[args:bytes=2000,calls=2,ms=4000]]"), 4_000).is_ok());
}

#[test]
fn gateways_get_one_number_for_each_event_and_no_ids_where_there_are_none() {
    let mut complete = CompleteEvents::new("m", 7);
    let events: Vec<Value> = all_events(&steps("numbered,text,calls=2,idless"))
        .into_iter()
        .flat_map(|event| complete.complete(event))
        .collect();
    for (number, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], number, "{event}");
        assert_eq!(event.to_string().matches("sequence_number").count(), 1, "{event}");
        assert!(event.get("item_id").is_none(), "{event}");
    }
    let output = events.last().unwrap()["response"]["output"].as_array().unwrap();
    assert_eq!(output.len(), 3);
}

#[test]
fn chunks_keep_interleaved_calls_apart() {
    let steps = steps("interleaved,text,calls=3,idless,numbered");
    let mut chunks = ChatChunks::new("m", 7, UsageWish::Unasked);
    let mut joined = vec![String::new(); 3];
    for frame in all_events(&steps).iter().flat_map(|event| chunks.frames(event)) {
        assert!(!frame.contains("sequence_number"), "{frame}");
        let Ok(chunk) = serde_json::from_str::<Value>(&frame) else { continue };
        let call = &chunk["choices"][0]["delta"]["tool_calls"][0];
        if let Some(delta) = call["function"]["arguments"].as_str() {
            joined[usize::try_from(call["index"].as_u64().unwrap()).unwrap()].push_str(delta);
        }
    }
    assert_eq!(joined, arguments(&steps));
}
