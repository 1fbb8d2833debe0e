use super::*;
use crate::answer::{Answer, Call, Script, Step};
use crate::ids::Ids;

fn completed(script: Script) -> Vec<Value> {
    let mut complete = CompleteEvents::new("m", 7);
    script
        .filter_map(|step| match step {
            Step::Event(event) => Some(event),
            _ => None,
        })
        .flat_map(|event| complete.complete(event))
        .collect()
}

#[test]
fn events_are_numbered_and_the_last_repeats_the_items() {
    let ids = Ids::new(1);
    let script = Answer::begin(&ids).message("Hello").call(&Call::new("a", "{}")).completed();
    let events = completed(script);
    for (number, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], number, "{event}");
    }
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds[..2], ["response.created", "response.in_progress"]);
    assert!(kinds.contains(&"response.content_part.done"), "{kinds:?}");
    let done: Vec<Value> = events
        .iter()
        .filter(|event| event["type"] == "response.output_item.done")
        .map(|event| event["item"].clone())
        .collect();
    let response = &events.last().unwrap()["response"];
    assert_eq!(response["output"], json!(done));
    assert_eq!((&response["model"], &response["created_at"]), (&json!("m"), &json!(7)));
}

#[test]
fn a_refused_part_is_opened_and_closed_as_a_text_is() {
    let ids = Ids::new(1);
    let events = completed(Answer::begin(&ids).refusal("I cannot").completed());
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(
        kinds[2..kinds.len() - 1],
        [
            "response.output_item.added",
            "response.content_part.added",
            "response.refusal.delta",
            "response.refusal.delta",
            "response.refusal.done",
            "response.content_part.done",
            "response.output_item.done",
        ]
    );
    let (done, part) = (&events[6], &events[7]);
    assert_eq!(done["refusal"], "I cannot");
    assert_eq!(part["part"], json!({"type": "refusal", "refusal": "I cannot"}));
    assert!(part.get("refusal").is_none());
    for field in ["item_id", "output_index", "content_index"] {
        assert_eq!(done[field], part[field], "{field}");
    }
}
