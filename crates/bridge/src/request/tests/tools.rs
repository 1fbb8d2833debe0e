//! The tools that are offered, and what is said about them.

use codex_app_server::{Tool, TurnRequest};
use serde_json::{Value, json};

use super::{developer, plain_turn, prepared, user, with};
use crate::policy::{CallShape, DeclaredTools};

fn parameters() -> Value {
    json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}})
}

/// A request that declares the tools `f` and `g`.
fn declaring(mut members: Value) -> Value {
    let tool = |name: &str| {
        json!({"type": "function", "function": {
            "name": name, "description": "Counts", "parameters": parameters(),
        }})
    };
    members["tools"] = json!([tool("f"), tool("g")]);
    with(&members)
}

fn offered(name: &str) -> Tool {
    Tool {
        name: name.to_owned(),
        description: "Counts".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {"n": {"type": "integer", "description": "(minimum: 1)"}},
        })
        .into(),
    }
}

fn declared(names: &[&str]) -> DeclaredTools {
    names.iter().map(|name| ((*name).to_owned(), parameters())).collect()
}

const CALL_ONE: &str = "You must call at least one of your tools in your next answer.";

#[test]
fn each_choice_offers_its_tools_and_says_what_it_wants() {
    let allowed = |mode: &str| {
        let tools = json!([{"type": "function", "function": {"name": "g"}}]);
        json!({"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}})
    };
    let named = json!({"type": "function", "function": {"name": "g"}});
    let call_g = "You must call the one tool that you have in your next answer.";
    let cases: [(Value, &[&str], Option<&str>); 7] = [
        (json!(null), &["f", "g"], None),
        (json!("auto"), &["f", "g"], None),
        (json!("none"), &[], None),
        (json!("required"), &["f", "g"], Some(CALL_ONE)),
        (named, &["g"], Some(call_g)),
        (allowed("auto"), &["g"], None),
        (allowed("required"), &["g"], Some(CALL_ONE)),
    ];
    for (choice, names, words) in cases {
        let prepared = prepared(&declaring(json!({"tool_choice": choice})));
        let expected = TurnRequest {
            history: [user("Hi")].into_iter().chain(words.map(developer)).collect(),
            tools: names.iter().map(|name| offered(name)).collect(),
            ..plain_turn()
        };
        assert_eq!(prepared.turn, expected, "{choice}");
        assert_eq!(prepared.policy.tools, declared(names), "{choice}");
        assert_eq!(prepared.policy.shape, CallShape::ToolCalls);
        assert_eq!(prepared.policy.max_calls, None);
    }
}

#[test]
fn legacy_functions_are_tools_of_which_one_is_called() {
    let function = json!({"name": "f", "description": "Counts", "parameters": parameters()});
    let prepared = prepared(&with(&json!({"functions": [function]})));
    assert_eq!(prepared.turn, TurnRequest { tools: vec![offered("f")], ..plain_turn() });
    assert_eq!(prepared.policy.tools, declared(&["f"]));
    assert_eq!(prepared.policy.shape, CallShape::FunctionCall);
    assert_eq!(prepared.policy.max_calls.map(usize::from), Some(1));
}

#[test]
fn strict_tools_are_named_where_they_are_offered() {
    let function = |strict: bool| json!({"name": "f", "strict": strict});
    let request = |strict, choice: &str| {
        let tools = json!([{"type": "function", "function": function(strict)}]);
        with(&json!({"tools": tools, "tool_choice": choice}))
    };
    assert_eq!(prepared(&request(true, "auto")).ignored, ["function.strict"]);
    assert_eq!(prepared(&request(false, "auto")).ignored, [""; 0]);
    assert_eq!(prepared(&request(true, "none")).ignored, [""; 0]);
}

#[test]
fn what_a_schema_loses_at_its_root_is_said_of_the_tool() {
    let tool = |description: Value| {
        let parameters = json!({"type": "object", "minProperties": 1, "$schema": "x"});
        let function = json!({"name": "f", "description": description, "parameters": parameters});
        let tools = json!([{"type": "function", "function": function}]);
        prepared(&with(&json!({"tools": tools}))).turn.tools
    };
    let expected = |description: &str| Tool {
        name: "f".to_owned(),
        description: description.to_owned(),
        parameters: json!({"type": "object", "properties": {}}).into(),
    };
    assert_eq!(tool(json!("Counts.")), [expected("Counts. (minProperties: 1)")]);
    assert_eq!(tool(json!(null)), [expected("(minProperties: 1)")]);
}
