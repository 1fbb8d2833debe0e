use std::time::Duration;

use serde_json::{Value, json};

use super::{SCENARIOS, answer, scenario_list};
use crate::answer::{Script, Step};
use crate::failures::ErrorReply;
use crate::ids::Ids;
use crate::request::Request;

const ENDS: [&str; 3] = ["response.completed", "response.failed", "response.incomplete"];

fn asked(text: &str) -> Value {
    json!({"input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]},
    ]})
}

fn reply(body: &Value, attempt: u64) -> Result<Script, ErrorReply> {
    answer(Request::new(body), u64::MAX, &Ids::new(1), 1_000, |_| attempt)
}

fn steps(text: &str) -> Vec<Step> {
    reply(&asked(text), 1).unwrap_or_else(|error| panic!("{error:?}")).collect()
}

fn events(steps: &[Step], kind: &str) -> Vec<Value> {
    steps
        .iter()
        .filter_map(|step| match step {
            Step::Event(event) if event["type"] == kind => Some(event.clone()),
            _ => None,
        })
        .collect()
}

fn text_of(steps: &[Step]) -> String {
    let deltas = events(steps, "response.output_text.delta");
    deltas.iter().map(|event| event["delta"].as_str().unwrap()).collect()
}

/// Name and arguments of each call.
fn calls(steps: &[Step]) -> Vec<(String, String)> {
    events(steps, "response.output_item.done")
        .iter()
        .map(|event| &event["item"])
        .filter(|item| item["type"] == "function_call")
        .map(|item| {
            let field = |name: &str| item[name].as_str().unwrap().to_owned();
            (field("name"), field("arguments"))
        })
        .collect()
}

fn is_end(step: &Step) -> bool {
    match step {
        Step::Cut => true,
        Step::Event(event) => ENDS.iter().any(|end| event["type"] == *end),
        Step::Pause(_) | Step::Trickle => false,
    }
}

#[test]
fn every_scenario_begins_with_created_and_ends_exactly_once() {
    for scenario in SCENARIOS.iter().filter(|scenario| scenario.name != "http") {
        for attempt in [1, 2] {
            let body = asked(&format!("before [[{}]] after", scenario.name));
            let steps: Vec<Step> =
                reply(&body, attempt).unwrap_or_else(|error| panic!("{error:?}")).collect();
            assert_eq!(events(&steps[..1], "response.created").len(), 1, "{}", scenario.name);
            let ends: Vec<usize> = (0..steps.len()).filter(|at| is_end(&steps[*at])).collect();
            assert_eq!(ends, [steps.len() - 1], "{}", scenario.name);
        }
    }
}

#[test]
fn deltas_add_up_to_the_text_and_the_arguments_of_the_items() {
    for scenario in SCENARIOS.iter().filter(|scenario| scenario.name != "http") {
        let steps = steps(&format!("[[{}]]", scenario.name));
        for done in events(&steps, "response.output_item.done") {
            let item = &done["item"];
            let (kind, whole) = match item["type"].as_str().unwrap() {
                "message" if scenario.name != "no-deltas" => {
                    ("response.output_text.delta", &item["content"][0]["text"])
                }
                "function_call" => ("response.function_call_arguments.delta", &item["arguments"]),
                "custom_tool_call" => ("response.custom_tool_call_input.delta", &item["input"]),
                _ => continue,
            };
            let deltas: String = events(&steps, kind)
                .iter()
                .filter(|event| event["item_id"] == item["id"])
                .map(|event| event["delta"].as_str().unwrap().to_owned())
                .collect();
            assert_eq!(whole.as_str().unwrap_or_default(), deltas, "{}", scenario.name);
        }
    }
}

#[test]
fn names_are_unique_and_listed() {
    let list = scenario_list();
    assert_eq!(list.lines().count(), SCENARIOS.len());
    for scenario in SCENARIOS {
        let same = SCENARIOS.iter().filter(|other| other.name == scenario.name).count();
        assert_eq!(same, 1, "{}", scenario.name);
        assert!(list.contains(&format!("[[{}", scenario.name)));
    }
}

#[test]
fn a_scenario_can_come_after_a_call() {
    let text = "before [[then:http:503,x1]] after";
    assert_eq!(calls(&steps(text)).len(), 1);
    let mut answered = asked(text);
    let items = answered["input"].as_array_mut().unwrap();
    items.push(json!({"type": "function_call", "call_id": "c", "name": "n", "arguments": "{}"}));
    items.push(json!({"type": "function_call_output", "call_id": "c", "output": "o"}));
    assert_eq!(reply(&answered, 2).err().map(|error| error.status), Some(503));
    let steps: Vec<Step> = reply(&answered, 3).unwrap().collect();
    assert_eq!(text_of(&steps), "before  after");
}

#[test]
fn a_mark_counts_only_in_the_last_user_message_and_only_if_it_is_known() {
    assert!(reply(&asked("see [[some-note]]"), 1).is_ok());
    assert!(reply(&asked("[[http:500]]"), 1).is_err());
    let over = json!({"input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "[[http:500]]"}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]},
    ]});
    assert!(reply(&over, 1).is_ok());
}

#[test]
fn a_number_is_wanted_where_the_table_says_so() {
    for mark in
        ["[[big:x]]", "[[slow:-1]]", "[[big:99999999999999]]", "[[http:abc]]", "[[http:200]]"]
    {
        assert_eq!(reply(&asked(mark), 1).err().map(|error| error.status), Some(400), "{mark}");
    }
}

#[test]
fn an_echo_is_the_text_without_the_mark() {
    let text = "\u{0}\tcontrol [[echo-chars]]👩‍👩‍👧[[Link]]\r\n ";
    for name in ["echo", "echo-chars", "echo-whole", "echo-bytes", "echo-slow", "echo-reasoning"] {
        let steps = steps(&format!("{text}[[{name}]]é"));
        assert_eq!(text_of(&steps), format!("{text}é"), "{name}");
    }
}

#[test]
fn an_echo_that_breaks_off_is_two_thirds_of_the_text() {
    for name in ["echo-hang", "echo-cut"] {
        assert_eq!(text_of(&steps(&format!("one two six[[{name}]]"))), "one two ", "{name}");
    }
}

#[test]
fn arguments_of_a_tool_go_out_as_given() {
    let body = {
        let mut body = asked("[[tool]]");
        body["tools"] = json!([{"type": "function", "name": "first"}]);
        body
    };
    let default = r#"{"city": "Paris", "unit": "c"}"#.to_owned();
    assert_eq!(
        calls(&reply(&body, 1).ok().unwrap().collect::<Vec<_>>()),
        [("first".into(), default)]
    );
    let exact = r#"{ "b":[1, [2]],"a" : "]" }"#;
    assert_eq!(calls(&steps(&format!("[[tool:f,{exact}]]"))), [("f".into(), exact.into())]);
}

#[test]
fn parallel_calls_carry_their_number_and_the_rest_of_the_text() {
    let four = calls(&steps("a \"quoted\" text [[parallel:4]]\n"));
    let names: Vec<&str> = four.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["get_weather", "get_time", "lookup", "get_weather"]);
    let last: Value = serde_json::from_str(&four[3].1).unwrap();
    assert_eq!(last, json!({"city": "C3", "mark": "a \"quoted\" text"}));
    assert_eq!(calls(&steps("a \"quoted\" text [[call-hang]]")), four[..1]);
}

#[test]
fn items_are_played_in_their_order() {
    let steps = steps(r#"[[items:["a [b", 5, {"name": "f", "arguments": "{ }"}, "c]"]]]"#);
    assert_eq!(text_of(&steps), "a [bc]");
    assert_eq!(calls(&steps), [("f".into(), "{ }".into())]);
    assert!(steps.contains(&Step::Pause(Duration::from_millis(5))));
    assert_eq!(self::steps(r#"[[items:["a", null, "b"]]]"#).last(), Some(&Step::Cut));
    let refused = reply(&asked(r#"[[items:[{"name": "f"}]]]"#), 1).err().unwrap();
    assert_eq!(refused.status, 400);
}

#[test]
fn fragments_have_twenty_bytes() {
    let steps = steps("[[many-fragments:7]]");
    let deltas = events(&steps, "response.function_call_arguments.delta");
    assert_eq!(deltas.len(), 7);
    assert!(deltas.iter().all(|event| event["delta"].as_str().unwrap().len() == 20));
}

#[test]
fn a_use_tool_block_is_cut_after_the_byte() {
    let whole = text_of(&steps("[[use-tool]]"));
    for position in 1..whole.len() {
        let steps = steps(&format!("[[use-tool:{position}]]"));
        let deltas = events(&steps, "response.output_text.delta");
        assert_eq!(deltas.len(), 2);
        assert_eq!(deltas[0]["delta"], whole[..position]);
        assert_eq!(text_of(&steps), whole);
    }
}

#[test]
fn the_scenario_is_over_when_its_call_is_answered_unless_it_is_sticky() {
    let answered = |mark: &str| {
        let mut body = asked(mark);
        let input = body["input"].as_array_mut().unwrap();
        input.push(json!({"type": "function_call_output", "call_id": "1", "output": "x"}));
        input.push(json!({"type": "configuration_update"}));
        reply(&body, 1).ok().unwrap().collect::<Vec<_>>()
    };
    assert_eq!(text_of(&answered("[[http:500]]")), "Tool result received, thank you.");
    assert_eq!(calls(&answered("[[tool-loop]]")).len(), 1);
}

#[test]
fn a_round_trip_ends_with_a_text_about_its_results() {
    let text = "some [[round-trip:2]]";
    assert_eq!(calls(&steps(text)), calls(&steps("some [[parallel:2]]")));

    let mut body = asked(text);
    let input = body["input"].as_array_mut().unwrap();
    for (call_id, name) in [("1", "get_weather"), ("2", "get_time")] {
        input.push(json!({"type": "function_call", "call_id": call_id, "name": name}));
    }
    for (call_id, output) in [("2", "noon"), ("1", "21 °C")] {
        input.push(json!({"type": "function_call_output", "call_id": call_id, "output": output}));
    }
    let answer: Vec<Step> = reply(&body, 1).ok().unwrap().collect();
    assert_eq!(text_of(&answer), "get_time: noon\nget_weather: 21 °C");
}

#[test]
fn an_http_failure_has_its_body_and_ends_after_its_times() {
    let error = |mark: &str| reply(&asked(mark), 1).err().unwrap();
    assert_eq!(error("[[http:404]]").body["error"]["code"], "model_not_found");
    assert_eq!(error("[[http:503]]").body["error"]["code"], "server_is_overloaded");
    assert_eq!(error("[[http:429]]").retry_after, Some(1));
    assert_eq!(error("[[http:400,ctx]]").body["error"]["code"], "context_length_exceeded");
    let usage = error("[[http:429,usage]]");
    assert_eq!(usage.body["error"]["type"], "usage_limit_reached");
    assert_eq!(usage.body["error"]["resets_at"], 4_600);
    assert_eq!(error("[[http:418]]").status, 418);
    assert!(reply(&asked("[[http:500,x2]]"), 2).is_err());
    let after = reply(&asked("again[[http:500,x2]]"), 3).ok().unwrap();
    assert_eq!(text_of(&after.collect::<Vec<_>>()), "again");
}

#[test]
fn a_refusal_comes_in_deltas_and_then_as_a_whole() {
    for (mark, index, text) in
        [("[[refusal]]", 0, ""), ("[[refusal-after-text]]", 1, "First whole message.")]
    {
        let steps = steps(mark);
        assert_eq!(text_of(&steps), text, "{mark}");
        let deltas = events(&steps, "response.refusal.delta");
        assert!(deltas.len() >= 2, "{mark}");
        let joined: String = deltas.iter().map(|event| event["delta"].as_str().unwrap()).collect();
        let items = events(&steps, "response.output_item.done");
        assert_eq!(items[index]["item"]["content"][0]["refusal"], joined, "{mark}");
        let done = json!({
            "type": "response.refusal.done", "item_id": items[index]["item"]["id"],
            "output_index": index, "content_index": 0, "refusal": joined,
        });
        assert_eq!(steps[steps.len() - 3], Step::Event(done), "{mark}");
    }
}

#[test]
fn an_empty_response_has_no_item() {
    let kinds: Vec<Value> = steps("[[empty]]")
        .into_iter()
        .map(|step| match step {
            Step::Event(event) => event["type"].clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(kinds, ["response.created", "response.completed"]);
}

#[test]
fn usage_is_reported_as_asked() {
    let usage =
        |mark: &str| events(&steps(mark), "response.completed")[0]["response"]["usage"].clone();
    assert_eq!(usage("[[text]]")["total_tokens"], 168);
    assert_eq!(usage("[[usage:5000]]")["input_tokens"], 5_000);
    assert_eq!(usage("[[no-usage]]"), Value::Null);
}

#[test]
fn what_the_model_received_can_be_asked() {
    let said = |role: &str, text: &str| {
        let content = json!([{"type": "input_text", "text": text}]);
        json!({"type": "message", "role": role, "content": content})
    };
    let mut body = json!({"input": [
        said("developer", "be short"),
        said("user", "hi"),
        {"type": "function_call", "call_id": "1", "name": "get_time", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": "noon"},
        said("assistant", "It is noon."),
        said("user", "and now? [[recall]]"),
    ]});
    let recalled: Vec<Step> = reply(&body, 1).ok().unwrap().collect();
    assert_eq!(
        text_of(&recalled),
        "user: hi\nget_time({})\nresult: noon\nassistant: It is noon.\nuser: and now? [[recall]]"
    );

    body = asked("[[schema]]");
    body["text"]["format"]["schema"] = json!({"type": "object"});
    let schema: Vec<Step> = reply(&body, 1).ok().unwrap().collect();
    assert_eq!(text_of(&schema), r#"{"wanted":"{\"type\":\"object\"}"}"#);
}
