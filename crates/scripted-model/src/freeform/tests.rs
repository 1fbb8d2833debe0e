use serde_json::{Value, json};

use crate::answer::Step;
use crate::ids::Ids;
use crate::request::Request;
use crate::scenario;

const PATCH: &str = "*** Begin Patch\n+\"東京\" \\ 🗼é\t\n*** End Patch\n";

/// The item that a request with these tools is answered with, and its deltas put together.
fn called(mark: &str, tools: &Value) -> (Value, String) {
    let body = json!({"input": format!("{PATCH}{mark}"), "tools": tools});
    let script = scenario::answer(Request::new(&body), u64::MAX, &Ids::new(1), 0, |_| 1);
    let steps = script.unwrap_or_else(|error| panic!("{error:?}"));
    let events: Vec<Value> = steps
        .filter_map(|step| match step {
            Step::Event(event) => Some(event),
            _ => None,
        })
        .collect();
    let deltas = events.iter().filter_map(|event| event["delta"].as_str()).collect();
    let done = events.iter().find(|event| event["type"] == "response.output_item.done");
    (done.unwrap()["item"].clone(), deltas)
}

#[test]
fn a_custom_tool_is_called_as_one() {
    let tools = json!([{"type": "web_search"}, {"type": "custom", "name": "edit"}]);
    let (item, deltas) = called("[[freeform]]", &tools);
    assert_eq!((&item["type"], &item["name"]), (&json!("custom_tool_call"), &json!("edit")));
    assert_eq!((item["input"].as_str(), deltas.as_str()), (Some(PATCH), PATCH));
}

#[test]
fn a_function_may_be_called_behind_it() {
    let tools = json!([{"type": "function", "name": "f"}, {"type": "custom", "name": "edit"}]);
    let body = json!({"input": "x[[freeform:edit,f]]", "tools": tools});
    let script = scenario::answer(Request::new(&body), u64::MAX, &Ids::new(1), 0, |_| 1);
    let items: Vec<String> = script
        .unwrap_or_else(|error| panic!("{error:?}"))
        .filter_map(|step| match step {
            Step::Event(event) if event["type"] == "response.output_item.done" => {
                Some(format!("{} {}", event["item"]["type"], event["item"]["name"]))
            }
            _ => None,
        })
        .collect();
    assert_eq!(items, [r#""custom_tool_call" "edit""#, r#""function_call" "f""#]);
}

#[test]
fn a_function_of_one_input_is_called_with_it() {
    let tool = |name: &str, properties: Value| json!({"type": "function", "name": name, "parameters": {"properties": properties}});
    let text = json!({"type": "string"});
    let tools = json!([
        tool("get_weather", json!({"city": text})),
        tool("edit", json!({ "input": text })),
        tool("run", json!({ "input": text })),
    ]);
    for (mark, name) in [("[[freeform]]", "edit"), ("[[freeform:run]]", "run")] {
        let (item, deltas) = called(mark, &tools);
        assert_eq!((&item["type"], &item["name"]), (&json!("function_call"), &json!(name)));
        let arguments: Value = serde_json::from_str(&deltas).unwrap();
        assert_eq!(arguments, json!({ "input": PATCH }), "{deltas}");
        assert!(deltas.contains(r#"\u6771京\" \\ \ud83d\uddfcé"#), "both forms: {deltas}");
    }
}
