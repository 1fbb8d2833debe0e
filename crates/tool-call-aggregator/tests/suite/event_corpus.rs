//! Every case about events: replayed, repeated and cut into single characters.

use serde_json::{Value, json};
use tool_call_aggregator::ToolCallAggregator;

use crate::corpus::files;
use crate::event_cuts::into_characters;
use crate::ingest::{aggregator, ingest, snapshots};

/// Whether all that is expected is there; a key that is not mentioned may be anything.
fn agrees(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => expected
            .iter()
            .all(|(key, value)| found.get(key).is_some_and(|found| agrees(value, found))),
        (Value::Array(expected), Value::Array(found)) => {
            expected.len() == found.len()
                && expected.iter().zip(found).all(|(expected, found)| agrees(expected, found))
        }
        _ => expected == found,
    }
}

fn steps(case: &Value) -> &[Value] {
    case["steps"].as_array().unwrap()
}

/// What is wrong with the state at the end of a case, if anything.
fn end(case: &Value, calls: &ToolCallAggregator) -> Option<String> {
    let expected = json!({
        "snapshot": case["expected"]["snapshot"],
        "parallel": case["expected"]["parallel"],
    });
    let found = json!({
        "snapshot": snapshots(calls, &case["expected"]["snapshot"]),
        "parallel": calls.supports_parallel_calls(),
    });
    (!agrees(&expected, &found)).then(|| format!("  expected {expected}\n  found    {found}"))
}

fn report(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_case_gives_its_deltas_and_its_snapshot() {
    let cases = files("events");
    assert!(cases.len() >= 35, "{} cases", cases.len());
    let mut wrong = Vec::new();
    for (name, case) in &cases {
        let mut calls = aggregator(&case["options"]);
        let expected = case["expected"]["steps"].as_array().unwrap();
        assert_eq!(expected.len(), steps(case).len(), "{name}");
        for (at, (step, expected)) in steps(case).iter().zip(expected).enumerate() {
            let found = ingest(&mut calls, step);
            if !agrees(expected, &found) {
                wrong.push(format!(
                    "{name}, step {at}: {step}\n  expected {expected}\n  found    {found}"
                ));
            }
        }
        wrong.extend(end(case, &calls).map(|end| format!("{name}, at the end:\n{end}")));
    }
    report(&wrong);
}

#[test]
fn a_step_that_is_taken_twice_changes_nothing_the_second_time() {
    let nothing = json!({"updated": false, "deltas": []});
    let mut wrong = Vec::new();
    for (name, case) in &files("events") {
        let mut calls = aggregator(&case["options"]);
        for (at, step) in steps(case).iter().enumerate() {
            ingest(&mut calls, step);
            if step["again"] != false {
                let found = ingest(&mut calls, step);
                if found != nothing {
                    wrong.push(format!("{name}, step {at}: {step}\n  found {found}"));
                }
            }
        }
        wrong.extend(end(case, &calls).map(|end| format!("{name}, at the end:\n{end}")));
    }
    report(&wrong);
}

#[test]
fn increments_of_single_characters_make_the_same_calls() {
    let mut wrong = Vec::new();
    let mut pieces = 0;
    for (name, case) in &files("events") {
        if case["cut"] == false {
            continue;
        }
        let mut calls = aggregator(&case["options"]);
        for step in steps(case) {
            let cut = into_characters(step);
            pieces += cut.len();
            for step in &cut {
                ingest(&mut calls, step);
            }
        }
        wrong.extend(end(case, &calls).map(|end| format!("{name}, at the end:\n{end}")));
    }
    assert!(pieces > 500, "hardly anything was cut: {pieces}");
    report(&wrong);
}
