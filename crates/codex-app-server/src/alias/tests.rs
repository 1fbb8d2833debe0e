use proptest::prelude::*;

use super::*;

/// The rules of Codex, without those of our own.
fn is_taken_by_codex(name: &str) -> bool {
    let pattern = !name.is_empty() && name.len() <= 128 && name.bytes().all(is_name_byte);
    pattern && name != "mcp" && !name.starts_with("mcp__") && !HIDDEN.contains(&name)
}

#[test]
fn a_name_that_is_anothers_alias_gets_its_own() {
    let mut aliases = ToolAliases::default();
    let alias = aliases.alias("a.b");
    let second = aliases.alias(&alias);
    assert_ne!(alias, second);
    assert_eq!(aliases.original(second), alias);
    assert_eq!(aliases.original(alias), "a.b");
}

#[test]
fn ordinary_names_stay_and_difficult_ones_are_replaced() {
    let mut aliases = ToolAliases::default();
    for name in ["get_weather", "shell", "apply_patch", "a-b", "mcp_x", &"x".repeat(128)] {
        assert_eq!(aliases.alias(name), name);
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
        let alias = aliases.alias(name);
        assert!(is_taken_by_codex(&alias), "{name} became {alias}");
        assert_eq!(aliases.original(alias), name);
    }
    assert!(aliases.alias("mcp__git__log").starts_with("t_mcp__git__log_"));
}

proptest! {
    #[test]
    fn every_name_has_an_accepted_alias_that_leads_back(names in proptest::collection::vec(".{0,200}", 1..8)) {
        let mut aliases = ToolAliases::default();
        let given: Vec<String> = names.iter().map(|name| aliases.alias(name)).collect();
        for (name, alias) in names.iter().zip(given) {
            prop_assert!(is_taken_by_codex(&alias));
            prop_assert_eq!(&aliases.original(alias), name);
        }
    }
}
