//! `docs/telemetry.md`: what is told about turns.

use std::collections::BTreeSet;

use codex_app_server::FreshReason;
use model_turn::FailureKind;
use server::{Described, Kind, METRICS};

use crate::sources;
use crate::tables::{quoted, rows};

/// The part of a file between two texts.
fn part<'a>(file: &'a str, from: &str, to: &str) -> &'a str {
    let (_, rest) = file.split_once(from).unwrap_or_else(|| panic!("there is no {from:?}"));
    rest.split_once(to).unwrap_or_else(|| panic!("there is no {to:?}")).0
}

fn told(heading: &str) -> BTreeSet<String> {
    let document = sources::read("docs/telemetry.md");
    let rows = rows(&document, heading);
    rows.iter().flat_map(|row| quoted(row[0])).map(str::to_owned).collect()
}

#[test]
fn every_field_of_the_log_line_is_explained() {
    let file = sources::read("crates/server/src/turn_record.rs");
    let fields = part(&file, "parent: None,", "\"a turn has ended\"").lines();
    let names = fields.filter_map(|line| line.trim().split([' ', ',']).next());
    let names: BTreeSet<_> = names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
    assert_eq!(told("## The log line"), names);
}

#[test]
fn every_span_is_explained_with_its_attributes() {
    let file = sources::read("crates/otlp/src/spans.rs");
    let all = |before: &str| -> BTreeSet<String> {
        let names = file.split(before).skip(1).map(|rest| rest.split('"').next().unwrap());
        names.map(str::to_owned).collect()
    };
    assert_eq!(told("## Traces"), all("name: \""));
    let document = sources::read("docs/telemetry.md");
    let rows = rows(&document, "## Traces");
    let attributes = rows.iter().flat_map(|row| quoted(row[3])).map(str::to_owned);
    assert_eq!(attributes.collect::<BTreeSet<_>>(), all("KeyValue::new(\""));
}

#[test]
fn every_reason_is_explained() {
    let file = sources::read("crates/bridge/src/finish.rs");
    let reasons = part(&file, "// === impl EndReason ===", "pub fn is_cut");
    let names: BTreeSet<_> = reasons.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    assert_eq!(told("## Why a turn ended"), names);
}

#[test]
fn every_failure_is_explained() {
    let names = FailureKind::ALL.map(|kind| kind.as_str().to_owned());
    assert_eq!(told("## What failed"), BTreeSet::from(names));
}

#[test]
fn every_reason_of_a_fresh_thread_is_explained_and_has_advice() {
    let names: BTreeSet<_> = FreshReason::ALL.map(|reason| reason.as_str().to_owned()).into();
    assert_eq!(told("## Why a turn is fresh"), names);
    let run_book = sources::read("docs/operations.md");
    let rows = rows(&run_book, "### Why is a conversation not continued?");
    let advised = rows.iter().flat_map(|row| quoted(row[0])).map(str::to_owned);
    assert_eq!(advised.collect::<BTreeSet<_>>(), names);
}

/// In the section's tables, each metric with the labels that it has.
#[test]
fn every_metric_is_explained_with_its_labels() {
    let document = sources::read("docs/telemetry.md");
    let rows = rows(&document, "## Metrics");
    let explained: BTreeSet<&str> = rows.iter().flat_map(|row| quoted(row[0])).collect();
    let names: Vec<String> = METRICS.iter().map(shown).collect();
    assert_eq!(explained, names.iter().map(String::as_str).collect());
    for (metric, name) in METRICS.iter().zip(&names) {
        let row = rows.iter().find(|row| quoted(row[0]).any(|quoted| quoted == name)).unwrap();
        let told: BTreeSet<_> = quoted(row[1]).collect();
        let missing: Vec<_> = metric.labels.iter().filter(|label| !told.contains(*label)).collect();
        assert!(missing.is_empty(), "{name} has the labels {missing:?}");
    }
}

/// As people look for it.
fn shown(metric: &Described) -> String {
    match metric.kind {
        Kind::Counter => format!("{}_total", metric.name),
        Kind::Gauge | Kind::Histogram => metric.name.to_owned(),
    }
}

#[test]
fn every_reason_of_a_refusal_is_explained() {
    let file = sources::read("crates/server/src/metrics/labels.rs");
    let reasons = part(&file, "// === impl Refused ===", "impl EncodeLabelValue for Refused");
    let names: BTreeSet<_> = reasons.split('"').skip(1).step_by(2).collect();
    let document = sources::read("docs/telemetry.md");
    let rows = rows(&document, "## Metrics");
    let row = rows.iter().find(|row| row[0] == "`requests_refused_total`").unwrap();
    let told = quoted(row[1]).filter(|name| !["reason", "code"].contains(name));
    assert_eq!(told.collect::<BTreeSet<_>>(), names);
}
