use std::time::Duration;

use serde_json::{Value, json};

use super::arguments::invented;
use super::words::{keywords, proper_name, shortened, words};
use super::{answer, one_line};
use crate::answer::Step;
use crate::ids::Ids;
use crate::request::Request;

fn tool(name: &str, description: &str) -> Value {
    json!({
        "type": "function", "name": name, "description": description,
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    })
}

fn user(text: &str) -> Value {
    json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]})
}

/// The text and the calls (name, arguments) of the demo's answer.
fn played(body: &Value) -> (String, Vec<(String, String)>) {
    let mut text = String::new();
    let mut calls = Vec::new();
    for step in answer(Request::new(body), &Ids::new(1)) {
        let Step::Event(event) = step else { continue };
        if event["type"] == "response.output_text.delta" {
            text.push_str(event["delta"].as_str().unwrap());
        }
        let item = &event["item"];
        if event["type"] == "response.output_item.done" && item["type"] == "function_call" {
            let field = |name: &str| item[name].as_str().unwrap().to_owned();
            calls.push((field("name"), field("arguments")));
        }
    }
    (text, calls)
}

#[test]
fn tools_that_share_a_word_with_the_question_are_called_in_their_order() {
    let tools = [
        tool("send_mail", "Sends a mail."),
        tool("getTimeZone", "The zone of a place."),
        tool("lookup", "Looks up the Weather somewhere."),
    ];
    let body =
        json!({"input": [user("Which zone is Paris in, and how is the weather?")], "tools": tools});
    let (text, calls) = played(&body);
    assert_eq!(text, "Let me use `getTimeZone` and `lookup`.");
    let paris = r#"{"city":"Paris"}"#;
    assert_eq!(calls, [("getTimeZone".into(), paris.into()), ("lookup".into(), paris.into())]);
}

#[test]
fn the_first_tool_is_called_if_none_fits() {
    let body = json!({"input": [user("hm")], "tools": [tool("a", ""), tool("b", "")]});
    let (text, calls) = played(&body);
    assert_eq!(text, "Let me use `a`.");
    assert_eq!(calls, [("a".into(), r#"{"city":"hm"}"#.into())]);
}

#[test]
fn results_are_quoted_with_the_names_of_their_tools() {
    let body = json!({
        "tools": [tool("a", "")],
        "input": [
            user("hm"),
            {"type": "function_call", "call_id": "1", "name": "a", "arguments": "{}"},
            {"type": "function_call", "call_id": "2", "name": "b", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "2", "output": "sunny"},
            {"type": "function_call_output", "call_id": "1", "output": "x".repeat(1_000)},
        ],
    });
    let (text, calls) = played(&body);
    assert!(calls.is_empty());
    assert!(text.contains("`b` says: sunny"), "{text}");
    assert!(text.contains("`a` says: xxx") && text.len() < 700, "{text}");
}

#[test]
fn without_tools_it_greets_and_points_to_the_next_step() {
    let (text, _) = played(&json!({"input": [user("What  is\nnew?")]}));
    assert!(text.contains("built-in demo") && text.contains("What is new?"), "{text}");
    assert!(text.contains("declare a tool") && text.contains("Codex login"), "{text}");
}

#[test]
fn the_text_protocol_gets_a_block_and_its_result_an_answer() {
    let mut body = json!({
        "instructions": "Write <use_tool> blocks.",
        "input": [user("find my </use_tool> piano notes")],
    });
    let (text, _) = played(&body);
    assert_eq!(text.matches("</use_tool>").count(), 1, "{text}");
    assert!(text.contains("<name>localSearch</name>"), "{text}");
    assert!(text.contains("<query>find my /use_tool piano notes</query>"), "{text}");
    assert!(text.contains(r#"<salientTerms>["find","piano","notes"]</salientTerms>"#), "{text}");

    let input = body["input"].as_array_mut().unwrap();
    input.push(json!({"type": "message", "role": "assistant",
        "content": [{"type": "output_text", "text": text}]}));
    input.push(user("localSearch: three notes"));
    let (text, _) = played(&body);
    assert!(text.contains("three notes") && !text.contains("<use_tool>"), "{text}");
}

#[test]
fn the_text_protocol_gets_two_blocks_where_the_notes_are_not_enough() {
    let asked = "Search my notes and the web for piano lessons";
    let body = |prompt: &str, asked: &str| json!({"instructions": prompt, "input": [user(asked)]});
    let prompt = "Write <use_tool> blocks, for localSearch or webSearch.";
    let (text, calls) = played(&body(prompt, asked));
    let expected = format!(
        "Let me use `localSearch` and `webSearch`.\n\n\
         <use_tool>\n<name>localSearch</name>\n<query>{asked}</query>\n\
         <salientTerms>[\"search\",\"notes\",\"piano\",\"lessons\"]</salientTerms>\n</use_tool>\n\n\
         <use_tool>\n<name>webSearch</name>\n<query>{asked}</query>\n\
         <chatHistory>[]</chatHistory>\n</use_tool>"
    );
    assert_eq!((text, calls), (expected, vec![]));
    for (prompt, asked) in [(prompt, "my webbed feet"), ("Write <use_tool> blocks.", asked)] {
        let (text, _) = played(&body(prompt, asked));
        assert_eq!(text.matches("<use_tool>").count(), 1, "{text}");
    }
}

#[test]
fn an_answer_takes_at_most_a_second_and_a_half() {
    let body = json!({"input": [user("x"), {"type": "function_call_output", "call_id": "1",
        "output": "a ".repeat(1_000)}]});
    let total: Duration = answer(Request::new(&body), &Ids::new(1))
        .filter_map(|step| match step {
            Step::Pause(pause) => Some(pause),
            _ => None,
        })
        .sum();
    assert!(total <= super::LONGEST_ANSWER, "{total:?}");
}

#[test]
fn arguments_grow_in_a_few_pieces_within_150_milliseconds() {
    for question in ["How is the weather in Paris?", &"Please say it again. ".repeat(500)] {
        let body = json!({"input": [user(question)], "tools": [{
            "type": "function", "name": "lookup", "parameters": {
                "type": "object", "properties": {"query": {"type": "string"}},
            },
        }]});
        let is_delta = |step: &Step| {
            let Step::Event(event) = step else { return false };
            event["type"] == "response.function_call_arguments.delta"
        };
        let steps: Vec<Step> = answer(Request::new(&body), &Ids::new(1)).collect();
        let deltas = steps.iter().filter(|step| is_delta(step)).count();
        assert!((4..=8).contains(&deltas), "{deltas}");
        let pauses: Vec<Duration> = steps
            .windows(2)
            .filter(|steps| is_delta(&steps[0]))
            .map(|steps| match steps[1] {
                Step::Pause(pause) => pause,
                _ => Duration::ZERO,
            })
            .collect();
        assert!(pauses.iter().all(|pause| (1..=25).contains(&pause.as_millis())), "{pauses:?}");
        assert!(pauses.iter().sum::<Duration>() <= Duration::from_millis(150), "{pauses:?}");
    }
}

#[test]
fn arguments_follow_the_schema() {
    let schema = json!({
        "type": "object",
        "required": ["city", "unit", "kind", "days", "ratio", "above", "deep", "tags", "exact",
                     "query", "maybe", "shared", "undeclared"],
        "properties": {
            "city": {"type": "string"},
            "unit": {"type": "string", "enum": ["c", "f"]},
            "kind": {"const": 7},
            "days": {"type": "integer", "minimum": 3},
            "ratio": {"type": "number"},
            "above": {"type": "integer", "exclusiveMinimum": 4},
            "deep": {"type": "object", "properties": {"a": {"type": "boolean"}}},
            "tags": {"type": "array", "items": {"type": "integer"}},
            "exact": {"type": "boolean"},
            "query": {"type": "string"},
            "maybe": {"anyOf": [{"type": "null"}, {"type": ["null", "integer"]}]},
            "shared": {"$ref": "#/$defs/shared"},
            "optional": {"type": "string"},
        },
        "$defs": {"shared": {"type": "boolean"}},
    });
    let asked = "How warm is it in New York, please?";
    assert_eq!(
        invented(&schema, asked),
        json!({
            "city": "New York", "unit": "c", "kind": 7, "days": 3, "ratio": 1, "above": 5,
            "deep": {"a": true}, "tags": [1], "exact": true, "query": asked, "maybe": 1,
            "shared": true, "undeclared": asked,
        })
    );
}

#[test]
fn without_required_properties_three_are_given() {
    let number = json!({"type": "integer"});
    let schema = json!({"properties": {"a": number, "b": number, "c": number, "d": number}});
    assert_eq!(invented(&schema, ""), json!({"a": 1, "b": 1, "c": 1}));
}

#[test]
fn schemas_without_an_end_or_without_sense_still_give_an_object() {
    let endless = json!({"properties": {"next": {"$ref": "#"}}});
    assert!(invented(&endless, "x").is_object());
    for schema in [json!(null), json!(true), json!({"type": "string"}), json!({"$ref": "#"})] {
        assert_eq!(invented(&schema, "x"), json!({}), "{schema}");
    }
}

#[test]
fn identifiers_fall_into_words() {
    assert_eq!(words("getWeather_forecast v2"), ["get", "weather", "forecast", "v2"]);
    assert_eq!(keywords("What about the Weather, weather in Rome?"), ["weather", "rome"]);
}

#[test]
fn a_capital_at_the_start_of_a_sentence_names_nothing() {
    assert_eq!(proper_name("Weather please. Now I want it"), None);
    assert_eq!(proper_name("How is Rome's weather?").as_deref(), Some("Rome"));
    assert_eq!(proper_name("compare Paris, Rome").as_deref(), Some("Paris"));
}

#[test]
fn shortening_counts_characters() {
    assert_eq!(shortened("éééé", 4), "éééé");
    assert_eq!(shortened("ééééé", 4), "ééé…");
    assert_eq!(one_line(" a\n b "), "a b");
}
