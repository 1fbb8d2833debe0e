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

use std::collections::BTreeSet;

use conformance::{Outcome, Plan, Report, RuleId, ScriptedUpstream, Server, rules, run};
use filter::{Fault, Filter};
use scripted_model::ScriptedModel;

async fn report(fault: Fault, only: Vec<RuleId>) -> Report {
    let model = ScriptedModel::for_gateways(([127, 0, 0, 1], 0).into()).await.unwrap();
    let filter = Filter::start(model.address(), fault).await;
    let control = format!("http://{}", model.address());
    let plan = Plan {
        server: Server::parse(&filter.base_url(), Some(filter::KEY.to_owned())).unwrap(),
        model: Some("demo".to_owned()),
        upstream: ScriptedUpstream::Controlled(Server::parse(&control, None).unwrap()),
        only,
    };
    run(&plan).await.unwrap()
}

#[tokio::test]
async fn a_right_server_passes_whole() {
    let report = report(Fault::None, Vec::new()).await;
    for verdict in &report.verdicts {
        let passed = matches!(verdict.outcome, Outcome::Passed { .. });
        assert!(passed, "{}: {:?}", verdict.rule.id, verdict.outcome);
    }
    assert_eq!(report.verdicts.len(), rules().unwrap().len());
    assert!(report.has_passed());
}

/// Every wrong server is like the right one but for one thing.
#[tokio::test]
async fn every_rule_catches_a_wrong_server() {
    let (mut caught, mut missed) = (BTreeSet::new(), Vec::new());
    for (rule, fault) in faults::ALL {
        let rule: RuleId = rule.parse().unwrap();
        let report = report(fault, vec![rule]).await;
        let [verdict] = &report.verdicts[..] else { panic!("one rule was asked for") };
        match &verdict.outcome {
            Outcome::Failed { .. } => assert!(!report.has_passed()),
            outcome => missed.push(format!("{rule}: {outcome:?}")),
        }
        caught.insert(rule);
    }
    assert!(missed.is_empty(), "{missed:#?}");
    let all: BTreeSet<_> = rules().unwrap().into_iter().map(|rule| rule.id).collect();
    assert_eq!(caught, all);
}

/// What only a scripted model does is never told as passed without one.
#[tokio::test]
async fn nothing_is_passed_that_was_not_tested() {
    let model = ScriptedModel::for_gateways(([127, 0, 0, 1], 0).into()).await.unwrap();
    let filter = Filter::start(model.address(), Fault::None).await;
    let plan = Plan {
        server: Server::parse(&filter.base_url(), None).unwrap(),
        model: None,
        upstream: ScriptedUpstream::Unknown,
        only: Vec::new(),
    };
    let report = run(&plan).await.unwrap();
    let outcome = |id: &str| {
        let id: RuleId = id.parse().unwrap();
        let verdict = report.verdicts.iter().find(|verdict| verdict.rule.id == id).unwrap();
        verdict.outcome.clone()
    };
    for (rule, why) in [
        ("chat-disconnect", "only the scripted model tells what became of its requests"),
        ("chat-error-frame", "only a scripted model does this (--scripted)"),
        ("chat-same-either-way", "only a scripted model does this (--scripted)"),
        ("key-refused", "no key was given that could be wrong (--api-key)"),
    ] {
        let Outcome::NotTested { why: told } = outcome(rule) else { panic!("{rule}") };
        assert!(told.starts_with(why), "{rule}: {told}");
    }
    for rule in ["chat-role-first", "chat-call-order", "responses-call-events", "models-list"] {
        assert!(matches!(outcome(rule), Outcome::Passed { .. }), "{rule}: {:?}", outcome(rule));
    }
    assert_eq!(report.model, "demo", "the first that is listed");
}

#[tokio::test]
async fn nobody_there_is_an_error() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let plan = Plan {
        server: Server::parse(&format!("http://{free}/v1"), None).unwrap(),
        model: None,
        upstream: ScriptedUpstream::Unknown,
        only: Vec::new(),
    };
    let error = run(&plan).await.unwrap_err().to_string();
    assert!(error.contains("nobody listens"), "{error}");
}
