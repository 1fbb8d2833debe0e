//! The tools that are offered, and what is said about them.

use model_turn::{Tool, ToolInput, ToolName, TurnRequest};
use serde_json::{Value, json};

use super::{developer, plain_turn, prepare_with, prepared, user, with};
use crate::declared_tools::{DeclaredTools, OtherTool};
use crate::policy::{CallShape, Preamble, TurnSettings, UnsupportedTools};

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
    let parameters = json!({
        "type": "object",
        "properties": {"n": {"type": "integer", "description": "(minimum: 1)"}},
    });
    Tool::function(name, "Counts", parameters)
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
        let preamble = if words.is_some() { Preamble::Held } else { Preamble::Sent };
        assert_eq!(prepared.policy.preamble, preamble, "{choice}");
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
    let expected = |description: &str| {
        Tool::function("f", description, json!({"type": "object", "properties": {}}))
    };
    assert_eq!(tool(json!("Counts.")), [expected("Counts. (minProperties: 1)")]);
    assert_eq!(tool(json!(null)), [expected("(minProperties: 1)")]);
}

#[test]
fn a_custom_tool_has_its_grammar_in_words() {
    let grammar =
        json!({"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: /a/"}});
    let tools = json!([
        {"type": "custom", "custom": {"name": "p", "description": "Patches.", "format": grammar}},
        {"type": "custom", "custom": {"name": "q"}},
    ]);
    let prepared = prepared(&with(&json!({"tools": tools})));
    let custom = |name: &str, description: &str| Tool {
        input: ToolInput::Text,
        ..Tool::function(name, description, json!({}))
    };
    let words = "The parameter `input` is free text, passed on as it is.";
    let lark = format!("Patches. {words} It must follow this lark grammar:\nstart: /a/");
    assert_eq!(prepared.turn.tools, [custom("p", &lark), custom("q", words)]);
    assert!(prepared.policy.tools.other("p").is_some_and(|tool| tool.is_custom));
}

#[test]
fn tools_of_a_namespace_keep_it() {
    let inner = json!([{"name": "f"}, {"type": "custom", "name": "p"}]);
    let tools = json!([{"type": "namespace", "name": "n", "description": "Notes", "tools": inner}]);
    let choice = json!({"type": "custom", "custom": {"name": "p"}});
    let prepared = prepared(&with(&json!({"tools": tools, "tool_choice": choice})));
    let [tool] = &prepared.turn.tools[..] else { panic!("{:?}", prepared.turn.tools) };
    let name = ToolName { namespace: Some("n".to_owned()), name: "p".to_owned() };
    assert_eq!((&tool.name, &*tool.namespace_description), (&name, "Notes"));
    let expected = OtherTool { name, is_custom: true };
    assert_eq!(prepared.policy.tools.other("n.p"), Some(&expected));
    assert_eq!(prepared.policy.tools.schema("p"), None);
}

#[test]
fn hosted_tools_are_named_or_refused() {
    let tools =
        json!([{"type": "web_search"}, {"function": {"name": "f"}}, {"type": "web_search"}]);
    let request = with(&json!({"tools": tools}));
    let offered = prepared(&request);
    assert_eq!(offered.ignored, ["tools.web_search"]);
    assert_eq!(offered.turn.tools.len(), 1);
    let refusing =
        TurnSettings { unsupported_tools: UnsupportedTools::Refuse, ..TurnSettings::default() };
    let odd = json!([{"type": "a, b\nc"}, {"type": "é"}, {"type": "mcp"}]);
    assert_eq!(prepared(&with(&json!({"tools": odd}))).ignored, ["tools.(unusual)", "tools.mcp"]);
    let many: Vec<_> = (0..100).map(|number| json!({"type": format!("t{number}")})).collect();
    assert_eq!(prepared(&with(&json!({"tools": many}))).ignored.len(), 32);
    let error = prepare_with(&refusing, &request).expect_err("an error");
    assert_eq!((error.status, error.param.as_deref()), (400, Some("tools[0].type")));
    assert!(error.message.contains("'web_search'"), "{}", error.message);
}

#[test]
fn verbosity_and_tier_are_passed_on() {
    let members = json!({"verbosity": "high", "service_tier": "fast"});
    let expected = TurnRequest {
        verbosity: Some("high".to_owned()),
        service_tier: Some("priority".to_owned()),
        ..plain_turn()
    };
    assert_eq!(prepared(&with(&members)).turn, expected);
}
