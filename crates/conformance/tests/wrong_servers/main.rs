//! The kit itself: a right server passes whole, and for every rule there is a wrong one that it
//! catches.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "the exemption for tests does not reach the helpers of an integration test"
)]
#![allow(
    clippy::assigning_clones,
    clippy::format_push_string,
    reason = "a table of faults is read as one, and none of it is hot"
)]

mod faults;
mod filter;
mod hostile;
mod network;
mod other_tools;
mod set_up;
mod untested;

use std::collections::BTreeSet;

use conformance::{
    Level, Outcome, Plan, Report, RuleId, ScriptedUpstream, Selection, Server, Standing, Unable,
    Verdict, rules, run,
};
use filter::{Fault, Filter};
use scripted_model::ScriptedModel;
use tokio::task::JoinSet;

async fn report(fault: Fault, only: Vec<Selection>) -> Report {
    let model = ScriptedModel::for_gateways(([127, 0, 0, 1], 0).into()).await.unwrap();
    let filter = Filter::start(model.address(), fault).await;
    let control = format!("http://{}", model.address());
    let plan = Plan {
        server: Server::parse(&filter.base_url(), Some(filter::KEY.to_owned())).unwrap(),
        model: Some("demo".to_owned()),
        upstream: ScriptedUpstream::Controlled(Server::parse(&control, None).unwrap().into()),
        only,
    };
    run(&plan).await.unwrap()
}

/// A plan for a server of which nothing is known.
fn plain_plan(url: &str) -> Plan {
    Plan {
        server: Server::parse(url, None).unwrap(),
        model: None,
        upstream: ScriptedUpstream::Unknown,
        only: Vec::new(),
    }
}

async fn unable(plan: &Plan) -> String {
    let error: Unable = run(plan).await.unwrap_err();
    error.to_string()
}

fn outcome(report: &Report, id: &str) -> Outcome {
    let id: RuleId = id.parse().unwrap();
    report.verdicts.iter().find(|verdict| verdict.rule.id == id).unwrap().outcome.clone()
}

fn assert_all_passed(report: &Report) {
    for verdict in &report.verdicts {
        let passed = matches!(verdict.outcome, Outcome::Passed { .. });
        assert!(passed, "{}: {:?}", verdict.rule.id, verdict.outcome);
    }
    assert_eq!(report.standing(), Standing::Passed);
}

#[tokio::test]
async fn a_right_server_passes_whole() {
    let report = report(Fault::None, Vec::new()).await;
    assert_all_passed(&report);
    assert_eq!(report.verdicts.len(), rules().unwrap().len());
}

/// Every wrong server is like the right one but for one thing, and for keeping answers back.
#[tokio::test]
async fn every_rule_catches_a_wrong_server() {
    let mut caught = BTreeSet::new();
    let mut servers = JoinSet::new();
    let faults = faults::ALL.into_iter().chain(other_tools::ALL);
    for (number, (rule, fault)) in faults.enumerate() {
        let id: RuleId = rule.parse().unwrap();
        caught.insert(id);
        servers.spawn(async move {
            let report = report(fault, vec![Selection::Rule(id)]).await;
            let [verdict] = &report.verdicts[..] else { panic!("one rule was asked for") };
            let wanted = match verdict.rule.level {
                Level::Contract => Standing::Failed,
                Level::Advice => Standing::Passed,
            };
            let is_caught = matches!(verdict.outcome, Outcome::Failed { .. });
            let words = format!("{rule} ({number}): {:?}", verdict.outcome);
            (!is_caught || report.standing() != wanted).then_some(words)
        });
    }
    let missed: Vec<String> = servers.join_all().await.into_iter().flatten().collect();
    assert!(missed.is_empty(), "{missed:#?}");
    let all: BTreeSet<_> = rules().unwrap().into_iter().map(|rule| rule.id).collect();
    assert_eq!(caught, all);
}

/// A fault with tools of other kinds breaks one of their rules, whatever else it spoils.
#[tokio::test]
async fn a_fault_with_tools_of_other_kinds_breaks_one_rule() {
    let rules: BTreeSet<&str> = other_tools::ALL.iter().map(|(rule, _)| *rule).collect();
    let selection: Vec<Selection> = rules.iter().map(|rule| rule.parse().unwrap()).collect();
    let mut servers = JoinSet::new();
    for (number, (rule, fault)) in other_tools::ALL.into_iter().enumerate() {
        let selection = selection.clone();
        servers.spawn(async move {
            let report = report(fault, selection).await;
            let failed = |verdict: &&Verdict| matches!(verdict.outcome, Outcome::Failed { .. });
            let failed = report.verdicts.iter().filter(failed);
            let failed: Vec<String> = failed.map(|verdict| verdict.rule.id.to_string()).collect();
            (failed != [rule]).then(|| format!("{rule} ({number}): {failed:?}"))
        });
    }
    let wrong: Vec<String> = servers.join_all().await.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// OpenAI's own sign of life, in every place where it may come.
#[tokio::test]
async fn keepalive_events_break_nothing() {
    let fault = Fault::Altered(|answer| {
        if answer.is_stream() && !answer.is_chat() {
            let sign = "event: keepalive\ndata: {\"type\": \"keepalive\"}\n\nevent: response.";
            let (begun, rest) = answer.body.split_once("\n\n").unwrap();
            answer.body = format!("{begun}\n\n{}", rest.replace("event: response.", sign));
        }
    });
    let report = report(fault, vec!["responses-*".parse().unwrap()]).await;
    for verdict in &report.verdicts {
        let passed = matches!(verdict.outcome, Outcome::Passed { .. });
        let is_late = verdict.rule.id == RuleId::ResponsesInTime;
        assert!(passed || is_late, "{}: {:?}", verdict.rule.id, verdict.outcome);
    }
}
