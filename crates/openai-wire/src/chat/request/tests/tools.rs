//! Tools of every kind, and which of them may or must be called.

use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::reading::{Grammar, HostedTool, Namespace};

#[test]
fn tools_in_every_form() {
    let empty = json!({"type": "object", "properties": {}});
    let function = |name: &str| json!({"name": name, "parameters": {"type": "object", "x": 1}});
    let cases = [
        (json!({"tools": []}), vec![], ToolDialect::Tools),
        (json!({"functions": []}), vec![], ToolDialect::Tools),
        (
            json!({"tools": [
                {"type": "function", "function": {"name": "a b", "description": null, "parameters": null, "strict": null}},
                {"function": {"name": "c"}},
            ], "functions": []}),
            vec![tool("a b", empty.clone()), tool("c", empty)],
            ToolDialect::Tools,
        ),
        (
            json!({"functions": [function("f"), function("g")], "tools": []}),
            ["f", "g"].map(|name| tool(name, json!({"type": "object", "x": 1}))).into(),
            ToolDialect::Functions,
        ),
    ];
    for (members, tools, tool_dialect) in cases {
        let expected = ChatRequest { tools: declared(tools), tool_dialect, ..plain() };
        assert_eq!(parse(&with(&members)), Ok(expected), "{members}");
    }
}

#[test]
fn tools_of_other_kinds() {
    let lark = || json!({"syntax": "lark", "definition": "start: /a/"});
    let request = parse(&with(&json!({"tools": [
        {"type": "custom", "custom": {
            "name": "p", "description": "d", "format": {"type": "grammar", "grammar": lark()},
        }},
        {"type": "custom", "name": "q", "format": {"type": "text"}},
        {"type": "web_search"},
        {"type": "namespace", "name": "github", "description": "g", "tools": [
            {"type": "function", "name": "p"},
            {"type": "function", "function": {"name": "q"}},
            {"type": "custom", "name": "r"},
            {"type": "mcp"},
        ]},
    ]})));
    let grammar = Grammar { syntax: "lark".to_owned(), definition: "start: /a/".to_owned() };
    let custom =
        |name: &str, grammar| Tool { kind: ToolKind::Custom { grammar }, ..tool(name, json!({})) };
    let inside = |tool: Tool| {
        let namespace = Namespace { name: "github".to_owned(), description: "g".into() };
        Tool { namespace: Some(Arc::new(namespace)), ..tool }
    };
    let empty = json!({"type": "object", "properties": {}});
    let hosted = |r#type: &str, place: &str| HostedTool {
        r#type: r#type.to_owned(),
        place: place.to_owned(),
    };
    let expected = Tools {
        declared: vec![
            Tool { description: "d".to_owned(), ..custom("p", Some(grammar)) },
            custom("q", None),
            inside(tool("p", empty.clone())),
            inside(tool("q", empty)),
            inside(custom("r", None)),
        ],
        hosted: vec![
            hosted("web_search", "tools[2].type"),
            hosted("mcp", "tools[3].tools[3].type"),
        ],
    };
    assert_eq!(request, Ok(ChatRequest { tools: expected, ..plain() }));
}

#[test]
fn choices_of_other_kinds() {
    let tools = json!([
        {"type": "custom", "custom": {"name": "p"}},
        {"type": "namespace", "name": "n", "tools": [{"name": "p"}, {"name": "q"}]},
        {"type": "web_search"},
    ]);
    let custom = ChosenTool { name: "p".to_owned(), kind: ToolCallKind::Custom, ..chosen() };
    let inside = |name: &str| ChosenTool {
        namespace: Some("n".to_owned()),
        name: name.to_owned(),
        ..chosen()
    };
    let allowed = |tools| ToolChoice::Allowed { tools, mode: AllowedMode::Auto };
    for (choice, expected) in [
        (json!({"type": "custom", "custom": {"name": "p"}}), ToolChoice::Named(custom.clone())),
        (json!({"type": "custom", "name": "p"}), ToolChoice::Named(custom.clone())),
        (json!({"type": "function", "name": "q"}), ToolChoice::Named(inside("q"))),
        (
            json!({"type": "function", "namespace": "n", "name": "p"}),
            ToolChoice::Named(inside("p")),
        ),
        (
            json!({"type": "allowed_tools", "mode": "auto", "tools": [
                {"type": "web_search"}, {"type": "custom", "custom": {"name": "p"}},
            ]}),
            allowed(vec![custom]),
        ),
        (
            json!({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "web_search"}]}),
            allowed(vec![]),
        ),
    ] {
        let request = parse(&with(&json!({"tools": tools, "tool_choice": choice})));
        assert_eq!(request.map(|request| request.tool_choice), Ok(expected), "{choice}");
    }
}

#[test]
fn tool_choices_in_every_form() {
    let named = || ToolChoice::Named(chosen());
    let allowed = |mode| ToolChoice::Allowed { tools: vec![chosen()], mode };
    let cases = [
        (json!({"tool_choice": "none"}), ToolChoice::None),
        (json!({"tool_choice": "auto"}), ToolChoice::Auto),
        (json!({"tool_choice": "required"}), ToolChoice::Required),
        (json!({"tool_choice": {"type": "function", "function": {"name": "f"}}}), named()),
        (json!({"tool_choice": {"type": "function", "name": "f"}}), named()),
        (
            json!({"tool_choice": {"type": "allowed_tools", "allowed_tools": {
                "mode": "required", "tools": [{"type": "function", "function": {"name": "f"}}],
            }}}),
            allowed(AllowedMode::Required),
        ),
        (
            json!({"tool_choice": {
                "type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}],
            }}),
            allowed(AllowedMode::Auto),
        ),
        (json!({"function_call": "none"}), ToolChoice::None),
        (json!({"function_call": "auto"}), ToolChoice::Auto),
        (json!({"function_call": {"name": "f"}}), named()),
    ];
    for (mut members, expected) in cases {
        members["functions"] = json!([{"name": "e"}, {"name": "f"}]);
        let request = parse(&with(&members)).expect("a request");
        assert_eq!(request.tool_choice, expected, "{members}");
    }
    for choice in ["none", "auto"] {
        assert!(parse(&with(&json!({"tool_choice": choice}))).is_ok(), "{choice} without tools");
    }
}
