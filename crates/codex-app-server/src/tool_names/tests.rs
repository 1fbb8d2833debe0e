use proptest::prelude::*;
use serde_json::json;

use super::*;

/// The rules of Codex for tools, without those of our own.
fn is_taken_by_codex(name: &str) -> bool {
    let pattern = !name.is_empty() && name.len() <= 128 && name.bytes().all(is_name_byte);
    pattern && name != "mcp" && !name.starts_with("mcp__") && !HIDDEN.contains(&name)
}

fn inside(namespace: &str, name: &str) -> ToolName {
    ToolName { namespace: Some(namespace.to_owned()), name: name.to_owned() }
}

fn custom(name: ToolName) -> Tool {
    Tool { name, input: ToolInput::Text, ..Tool::function("", "", json!({})) }
}

#[test]
fn a_name_that_is_the_alias_of_another_gets_its_own() {
    let mut names = ToolNames::default();
    let alias = names.mention(&"a.b".into());
    let second = names.mention(&alias);
    assert_ne!(alias, second);
    assert_eq!(names.original(&second), alias);
    assert_eq!(names.original(&alias), "a.b".into());
}

#[test]
fn ordinary_names_stay_and_difficult_ones_are_replaced() {
    let mut names = ToolNames::default();
    for name in ["get_weather", "shell", "apply_patch", "a-b", "mcp_x", &"x".repeat(128)] {
        assert_eq!(names.mention(&name.into()), name.into());
    }
    for name in [
        "mcp",
        "mcp__git__log",
        "a.b",
        "two words",
        "exec_command",
        "shell_command",
        "",
        "ünï",
        &"x".repeat(129),
    ] {
        let alias = names.mention(&name.into());
        assert!(is_taken_by_codex(&alias.name), "{name} became {alias}");
        assert_eq!(names.original(&alias), name.into());
    }
    assert!(alias(&"mcp__git__log".into()).name.starts_with("t_mcp__git__log_"));
}

#[test]
fn namespaces_have_rules_of_their_own() {
    for name in [inside("github", "exec_command"), inside("clock", "sleep")] {
        assert_eq!(alias(&name), name);
    }
    for namespace in ["mcp__files", "web", "a.b", &"x".repeat(65)] {
        let name = inside(namespace, "search");
        let alias = alias(&name);
        assert_eq!(alias.name, "search");
        let taken = alias.namespace.clone().unwrap();
        assert!(taken.len() <= 64 && is_taken_by_codex(&taken), "{namespace} became {taken}");
        let mut names = ToolNames::default();
        assert_eq!(names.mention(&name), alias);
        assert_eq!(names.original(&alias), name);
    }
}

#[test]
fn functions_is_the_namespace_of_tools_without_one() {
    let name = inside("functions", "exec");
    let mut names = ToolNames::default();
    assert_eq!(names.declare(&custom(name.clone())), Some("exec".into()));
    for namespace in [None, Some("functions"), Some("")] {
        let towards_codex = towards_codex(namespace, "exec".to_owned());
        assert_eq!(names.original(&towards_codex), name);
        assert_eq!(names.declared(&towards_codex), Some(ToolCallKind::Custom));
    }
    assert_eq!(names.declare(&custom("exec".into())), None, "it is the same tool");
}

#[test]
fn a_call_has_the_name_and_the_input_of_the_declared_tool() {
    let call = |name: ToolName, kind, arguments: &str| ToolCall {
        call_id: "1".to_owned(),
        item_id: None,
        name,
        arguments: arguments.to_owned(),
        kind,
        deviation: None,
    };
    let mut names = ToolNames::default();
    let patch = names.declare(&custom(inside("mcp__x", "apply_patch"))).unwrap();
    let arguments = r#"{"input":"a\nb"}"#;
    let (function, own) = (ToolCallKind::Function, ToolCallKind::Custom);

    let expected = call(inside("mcp__x", "apply_patch"), own, "a\nb");
    assert_eq!(names.translated(call(patch.clone(), function, arguments)), expected);
    let raw = ToolCall {
        deviation: Some(model_turn::InputDeviation::Raw),
        ..call(inside("mcp__x", "apply_patch"), own, "a")
    };
    assert_eq!(names.translated(call(patch.clone(), function, "a")), raw);
    let verbatim = call(inside("mcp__x", "apply_patch"), own, arguments);
    assert_eq!(names.translated(call(patch, own, arguments)), verbatim);
    let unknown = call("github.search".into(), function, arguments);
    assert_eq!(names.translated(call(inside("github", "search"), function, arguments)), unknown);
}

proptest! {
    #[test]
    fn every_name_has_an_accepted_alias_that_leads_back(given in proptest::collection::vec(".{0,200}", 1..8)) {
        let mut names = ToolNames::default();
        let aliases: Vec<_> = given.iter().map(|name| names.mention(&name.as_str().into())).collect();
        for (name, alias) in given.iter().zip(aliases) {
            prop_assert!(is_taken_by_codex(&alias.name));
            prop_assert_eq!(names.original(&alias), name.as_str().into());
        }
    }
}
