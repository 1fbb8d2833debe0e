//! `docs/operations.md`: what is told about turns.

use std::collections::BTreeSet;

use crate::sources;
use crate::tables::{quoted, rows};

/// The part of a file between two texts.
fn part<'a>(file: &'a str, from: &str, to: &str) -> &'a str {
    let (_, rest) = file.split_once(from).unwrap_or_else(|| panic!("there is no {from:?}"));
    rest.split_once(to).unwrap_or_else(|| panic!("there is no {to:?}")).0
}

fn told(heading: &str) -> BTreeSet<String> {
    let document = sources::read("docs/operations.md");
    let rows = rows(&document, heading);
    rows.iter().flat_map(|row| quoted(row[0])).map(str::to_owned).collect()
}

#[test]
fn every_field_of_the_log_line_is_explained() {
    let file = sources::read("crates/server/src/turn_record.rs");
    let fields = part(&file, "parent: None,", "\"a turn has ended\"").lines();
    let names = fields.filter_map(|line| line.trim().split([' ', ',']).next());
    let names: BTreeSet<_> = names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
    assert_eq!(told("### The log line"), names);
}

#[test]
fn every_reason_is_explained() {
    let file = sources::read("crates/bridge/src/finish.rs");
    let reasons = part(&file, "// === impl EndReason ===", "pub fn is_cut");
    let names: BTreeSet<_> = reasons.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    assert_eq!(told("### Why a turn ended"), names);
}

#[test]
fn every_counter_is_explained() {
    let file = sources::read("crates/server/src/metrics.rs");
    let file: String = file.split_whitespace().collect();
    let names = file.split("registry.register(\"").skip(1).map(|rest| {
        let name = rest.split('"').next().unwrap();
        // The text format adds to the names of counters.
        let ending = if file.contains(&format!("{name}:Gauge")) { "" } else { "_total" };
        format!("{name}{ending}")
    });
    assert_eq!(told("### Counters"), names.collect());
}

#[test]
fn every_reason_of_a_refusal_is_explained() {
    let file = sources::read("crates/server/src/metrics.rs");
    let reasons = part(&file, "// === impl Refused ===", "impl EncodeLabelValue for Refused");
    let names: BTreeSet<_> = reasons.split('"').skip(1).step_by(2).collect();
    let document = sources::read("docs/operations.md");
    let rows = rows(&document, "### Counters");
    let row = rows.iter().find(|row| row[0] == "`requests_refused_total`").unwrap();
    let told = quoted(row[1]).filter(|name| !["reason", "code"].contains(name));
    assert_eq!(told.collect::<BTreeSet<_>>(), names);
}
