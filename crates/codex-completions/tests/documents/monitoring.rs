//! `packaging/grafana` and `packaging/prometheus`: every name in them is one of ours, and every one of ours is shown.

mod query;

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;
use server::{Described, Kind, METRICS};

use crate::sources;
use crate::tables::{anchors, quoted};
use query::Query;

/// What Prometheus adds to every series that it scrapes.
const SCRAPED: [&str; 2] = ["job", "instance"];

/// Series that Prometheus makes itself.
const OF_PROMETHEUS: [&str; 1] = ["up"];

/// A file of rules.
#[derive(Debug, Deserialize)]
struct Rules {
    groups: Vec<Group>,
}

#[derive(Debug, Deserialize)]
struct Group {
    rules: Vec<Rule>,
}

#[derive(Debug, Deserialize)]
struct Rule {
    alert: String,
    expr: String,
    annotations: BTreeMap<String, String>,
}

/// A file of tests of rules.
#[derive(Debug, Deserialize)]
struct RuleTests {
    tests: Vec<RuleTest>,
}

#[derive(Debug, Deserialize)]
struct RuleTest {
    alert_rule_test: Vec<Expectation>,
}

#[derive(Debug, Deserialize)]
struct Expectation {
    alertname: String,
    #[serde(default)]
    exp_alerts: Vec<serde::de::IgnoredAny>,
}

fn alerts() -> Vec<Rule> {
    let rules: Rules =
        serde_saphyr::from_str(&sources::read("packaging/prometheus/alerts.yml")).unwrap();
    rules.groups.into_iter().flat_map(|group| group.rules).collect()
}

fn dashboard() -> Value {
    serde_json::from_str(&sources::read("packaging/grafana/codex-completions.json")).unwrap()
}

/// The panels that show something.
fn panels(dashboard: &Value) -> Vec<&Value> {
    let panels = dashboard["panels"].as_array().unwrap();
    panels.iter().filter(|panel| panel["type"] != "row").collect()
}

/// Every query of a panel, with how its series are called.
fn targets(panel: &Value) -> Vec<(Query, &str)> {
    let targets = panel["targets"].as_array().unwrap().iter();
    let text = |target: &'_ Value, member| target[member].as_str().unwrap().to_owned();
    targets
        .map(|target| {
            (Query::parse(&text(target, "expr")), target["legendFormat"].as_str().unwrap())
        })
        .collect()
}

/// The metric behind a series, if it is one of ours.
fn metric_of(series: &str) -> Option<&'static Described> {
    METRICS.iter().find(|metric| match metric.kind {
        Kind::Counter => series == format!("{}_total", metric.name),
        Kind::Gauge => series == metric.name,
        Kind::Histogram => ["_bucket", "_sum", "_count"]
            .iter()
            .any(|end| series == format!("{}{end}", metric.name)),
    })
}

/// The labels that a series has.
fn labels_of(series: &str) -> BTreeSet<&'static str> {
    let ours = metric_of(series).map_or(&[][..], |metric| metric.labels);
    let bound = series.ends_with("_bucket").then_some("le");
    SCRAPED.into_iter().chain(ours.iter().copied()).chain(bound).collect()
}

/// Holds one query against the code.
fn check(query: &Query, place: &str) {
    for series in &query.series {
        let is_known = metric_of(series).is_some() || OF_PROMETHEUS.contains(&series.as_str());
        assert!(is_known, "{place}: there is no {series}");
    }
    for (series, label) in &query.labels {
        assert!(labels_of(series).contains(label.as_str()), "{place}: {series} has no {label}");
    }
    let told = [sources::read("docs/telemetry.md"), sources::read("docs/operations.md")];
    let told: BTreeSet<&str> = told.iter().flat_map(|document| quoted(document)).collect();
    for value in &query.values {
        assert!(told.contains(value.as_str()), "{place}: no label has the value {value:?}");
    }
}

#[test]
fn every_name_on_the_dashboard_exists() {
    let dashboard = dashboard();
    for panel in panels(&dashboard) {
        let place = panel["title"].as_str().unwrap();
        for (query, legend) in targets(panel) {
            check(&query, place);
            for label in legend.split("{{").skip(1).map(|rest| rest.split("}}").next().unwrap()) {
                let is_known = query.series.iter().any(|series| labels_of(series).contains(label));
                assert!(is_known, "{place}: no series has {label}");
            }
        }
    }
    for variable in dashboard["templating"]["list"].as_array().unwrap() {
        let Some(definition) = variable["definition"].as_str() else { continue };
        let arguments =
            definition.strip_prefix("label_values(").unwrap().strip_suffix(')').unwrap();
        let (selector, label) = arguments.rsplit_once(", ").unwrap();
        check(&Query::parse(selector), definition);
        assert!(SCRAPED.contains(&label), "{definition}");
    }
}

#[test]
fn every_metric_is_on_the_dashboard() {
    let dashboard = dashboard();
    let queries = panels(&dashboard).into_iter().flat_map(targets);
    let shown: BTreeSet<&str> = queries
        .flat_map(|(query, _)| query.series)
        .filter_map(|series| Some(metric_of(&series)?.name))
        .collect();
    assert_eq!(shown, METRICS.iter().map(|metric| metric.name).collect());
}

#[test]
fn every_panel_says_its_unit_and_what_is_bad() {
    let dashboard = dashboard();
    let panels = panels(&dashboard);
    for panel in &panels {
        let title = panel["title"].as_str().unwrap();
        assert!(panel["fieldConfig"]["defaults"]["unit"].is_string(), "{title} has no unit");
        let description = panel["description"].as_str().unwrap();
        assert!(description.ends_with('.') && description.contains(';'), "{title}: {description}");
    }
    let ids: BTreeSet<u64> = panels.iter().map(|panel| panel["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), panels.len(), "two panels have the same id");
}

#[test]
fn every_alert_is_about_something_that_exists_and_leads_into_the_run_book() {
    let run_book = sources::read("docs/operations.md");
    let headings = anchors(&run_book);
    for Rule { alert, expr, annotations } in alerts() {
        check(&Query::parse(&expr), &alert);
        let names: Vec<_> = annotations.keys().map(String::as_str).collect();
        assert_eq!(names, ["description", "runbook", "summary"], "{alert}");
        let heading = annotations["runbook"].strip_prefix("docs/operations.md#").unwrap();
        assert!(headings.contains(heading), "{alert}: the run-book has no #{heading}");
    }
}

/// They are run by `promtool`, which is not part of our tests.
#[test]
fn every_alert_has_a_test_in_which_it_fires_and_one_in_which_it_does_not() {
    let tests: RuleTests =
        serde_saphyr::from_str(&sources::read("packaging/prometheus/alerts_test.yml")).unwrap();
    let expectations = || tests.tests.iter().flat_map(|test| &test.alert_rule_test);
    let names: BTreeSet<String> = alerts().into_iter().map(|alert| alert.alert).collect();
    for fires in [true, false] {
        let expected = expectations().filter(|expected| expected.exp_alerts.is_empty() != fires);
        let tested: BTreeSet<_> = expected.map(|expected| expected.alertname.clone()).collect();
        assert_eq!(tested, names, "in which they fire: {fires}");
    }
}
