use super::*;
use crate::answer::{Answer, Call, Step};
use crate::ids::Ids;

#[test]
fn events_are_numbered_and_the_last_repeats_the_items() {
    let ids = Ids::new(1);
    let script = Answer::begin(&ids).message("Hello").call(&Call::new("a", "{}")).completed();
    let mut complete = CompleteEvents::new("m", 7);
    let events: Vec<Value> = script
        .filter_map(|step| match step {
            Step::Event(event) => Some(event),
            _ => None,
        })
        .flat_map(|event| complete.complete(event))
        .collect();
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
