use std::collections::BTreeSet;
use std::path::Path;

use super::*;
use crate::rule::{Level, rules};

#[test]
fn every_file_is_a_scenario_and_every_rule_has_one() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/http");
    let files: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    let scenarios = scenarios().unwrap();
    let names: BTreeSet<String> =
        scenarios.iter().map(|scenario| scenario.name.to_owned()).collect();
    assert_eq!(names, files);
    let used: BTreeSet<RuleId> =
        scenarios.iter().flat_map(|scenario| scenario.rules.iter().copied()).collect();
    let all: BTreeSet<RuleId> = rules().unwrap().iter().map(|rule| rule.id).collect();
    assert_eq!(used, all);
    for scenario in &scenarios {
        assert!(scenario.is_about(scenario.unanswered), "{}", scenario.name);
    }
}

#[test]
fn rules_are_named_once_and_say_who_breaks() {
    let rules = rules().unwrap();
    let ids: BTreeSet<RuleId> = rules.iter().map(|rule| rule.id).collect();
    assert_eq!(ids.len(), rules.len());
    for rule in &rules {
        assert!(rule.rule.ends_with('.') && rule.breaks.ends_with('.'), "{rule:?}");
        assert_eq!(rule.id.to_string().parse::<RuleId>().unwrap(), rule.id);
    }
    // A group is one heading of a report.
    let mut groups: Vec<&str> = rules.iter().map(|rule| rule.group.as_str()).collect();
    groups.dedup();
    let distinct: BTreeSet<&str> = groups.iter().copied().collect();
    assert_eq!(groups.len(), distinct.len());
}

#[test]
fn a_question_is_put_where_it_belongs() {
    let scenarios = scenarios().unwrap();
    for scenario in &scenarios {
        let ask = &scenario.ask;
        for delivery in [Delivery::Streamed, Delivery::Whole] {
            let plain = scenario.body("m", ModelKind::Any, delivery);
            assert_eq!(plain.is_none(), ask.plain.is_none() && ask.scripted.is_some());
            let body = scenario.body("m", ModelKind::Scripted, delivery).unwrap().to_string();
            assert!(!body.contains(QUESTION), "{}: {body}", scenario.name);
            assert!(body.contains("\"model\":\"m\""), "{body}");
            assert_eq!(body.contains("\"stream\":true"), delivery == Delivery::Streamed);
        }
        let asks = scenario.request.values().any(|value| value.to_string().contains(QUESTION));
        assert_eq!(asks, ask.plain.is_some() || ask.scripted.is_some(), "{}", scenario.name);
    }
}

#[test]
fn the_documents_name_every_rule() {
    let read = |path: &str| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        std::fs::read_to_string(root.join(path)).unwrap()
    };
    let (document, page, readme) =
        (read("docs/conformance.md"), read("docs/conformance.html"), read("README.md"));
    let rules = rules().unwrap();
    for rule in &rules {
        let (id, note) = (rule.id, if rule.level == Level::Advice { " (advice)" } else { "" });
        let row = format!("\n| `{id}`{note} | pass |");
        assert!(document.contains(&row), "{id} is not in the table");
        assert!(page.contains(&format!("<li class=\"passed\" id=\"{id}\">")), "{id}");
    }
    let advice = rules.iter().filter(|rule| rule.level == Level::Advice).count();
    let counts = format!("{} rules and {advice} pieces of advice", rules.len() - advice);
    assert!(readme.contains(&counts), "{counts}");
    let rows =
        document.matches("` | pass |").count() + document.matches("` (advice) | pass |").count();
    assert_eq!(rows, rules.len(), "and no others");
}
