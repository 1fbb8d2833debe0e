//! What was not tested is never told as passed, nor as failed.

use super::*;

/// What only a scripted model does is never told as passed without one.
#[tokio::test]
async fn nothing_is_passed_that_was_not_tested() {
    let model = ScriptedModel::for_gateways(([127, 0, 0, 1], 0).into()).await.unwrap();
    let filter = Filter::start(model.address(), Fault::NoKey).await;
    let report = run(&plain_plan(&filter.base_url())).await.unwrap();
    for (rule, why) in [
        ("chat-disconnect", "only the scripted model tells what became of its requests"),
        ("chat-error-frame", "only a scripted model does this (--scripted)"),
        ("chat-in-time", "only a scripted model does this (--scripted)"),
        ("chat-same-either-way", "only a scripted model does this (--scripted)"),
        ("key-refused", "no key was given that could be wrong (--api-key)"),
    ] {
        let Outcome::NotTested { why: told } = outcome(&report, rule) else { panic!("{rule}") };
        assert!(told.starts_with(why), "{rule}: {told}");
    }
    for rule in ["chat-role-first", "chat-call-order", "responses-call-events", "models-list"] {
        let outcome = outcome(&report, rule);
        assert!(matches!(outcome, Outcome::Passed { .. }), "{rule}: {outcome:?}");
    }
    assert_eq!(report.model, "demo", "the first that is listed");
    assert!(!report.is_scripted);
}

/// A server whose every stream is refused has shown nothing of its streams.
#[tokio::test]
async fn whole_answers_say_nothing_of_streams() {
    let fault = Fault::Altered(|answer| {
        if answer.asks("\"stream\":true") {
            answer.refuse(500, "no streams here");
        }
    });
    let report = report(fault, Vec::new()).await;
    let failed = ["answers"];
    // Who leaves is not refused by these servers.
    let passed = [
        "whole-shape",
        "whole-exact",
        "bad-request",
        "error-status",
        "disconnect",
        // These are about whole answers, too.
        "declared-calls",
        "custom-whole",
        "custom-results",
        "hosted-tools",
        "unknown-tools",
        "repeated-output",
    ];
    for verdict in &report.verdicts {
        let id = verdict.rule.id.to_string();
        let Some((_, name)) =
            id.split_once('-').filter(|(endpoint, _)| ["chat", "responses"].contains(endpoint))
        else {
            continue;
        };
        let is_as_it_should_be = match &verdict.outcome {
            Outcome::Failed { .. } => failed.contains(&name),
            Outcome::Passed { .. } => passed.contains(&name) || name == "whole-usage",
            Outcome::NotTested { .. } => !failed.contains(&name) && !passed.contains(&name),
        };
        assert!(is_as_it_should_be, "{id}: {:?}", verdict.outcome);
    }
    let Outcome::NotTested { why } = outcome(&report, "chat-tolerant") else { panic!() };
    assert_eq!(why, "a plain request for a streamed answer is refused, too: 500 (no streams here)");
}

/// A server without one of the endpoints fails in this alone.
#[tokio::test]
async fn a_missing_endpoint_is_one_fault() {
    let fault = Fault::Altered(|answer| {
        if !answer.is_chat() && answer.path.ends_with("/responses") {
            answer.refuse(404, "no responses here");
        }
    });
    let report = report(fault, vec!["responses-*".parse().unwrap()]).await;
    for verdict in &report.verdicts {
        match &verdict.outcome {
            Outcome::Failed { .. } => assert_eq!(verdict.rule.id, RuleId::ResponsesAnswers),
            Outcome::NotTested { .. } => {}
            // Who leaves is not refused by these servers.
            Outcome::Passed { .. } => assert_eq!(verdict.rule.id, RuleId::ResponsesDisconnect),
        }
    }
}

/// What is special in a request is what its refusal is booked under.
#[tokio::test]
async fn a_refusal_is_booked_under_what_was_refused() {
    let fault = Fault::Altered(|answer| {
        if answer.asks("stream_options") {
            answer.refuse(400, "no such field");
        }
    });
    let report =
        report(fault, vec!["chat-answers".parse().unwrap(), "chat-usage-*".parse().unwrap()]);
    let report = report.await;
    assert!(matches!(outcome(&report, "chat-answers"), Outcome::Passed { .. }));
    assert!(matches!(outcome(&report, "chat-usage-unasked"), Outcome::Passed { .. }));
    assert!(matches!(outcome(&report, "chat-usage-asked"), Outcome::Failed { .. }));
}

/// A server that takes any key, and none, has no wrong ones.
#[tokio::test]
async fn a_server_without_keys_refuses_none() {
    let report = report(Fault::NoKey, vec!["key-refused".parse().unwrap()]).await;
    let Outcome::NotTested { why } = outcome(&report, "key-refused") else { panic!() };
    assert_eq!(why, "the server answers without a key, too");
    assert_eq!(report.standing(), Standing::NotTested);
}

/// `max_tokens` is refused by newer models, and has another name with them.
#[tokio::test]
async fn a_limit_has_two_names() {
    let model = ScriptedModel::for_gateways(([127, 0, 0, 1], 0).into()).await.unwrap();
    let filter = Filter::start(
        model.address(),
        Fault::Altered(|answer| {
            if answer.asks("max_completion_tokens") {
                answer.body = answer.body.replace("\"stop\"", "\"length\"");
            } else if answer.asks("max_tokens") {
                answer.refuse(400, "use max_completion_tokens");
            }
        }),
    )
    .await;
    let server = Server::parse(&filter.base_url(), Some(filter::KEY.to_owned())).unwrap();
    let only = vec!["chat-finish-length".parse().unwrap()];
    let plan = Plan { server, only, ..plain_plan("http://a/v1") };
    let report = run(&plan).await.unwrap();
    let outcome = outcome(&report, "chat-finish-length");
    assert!(matches!(outcome, Outcome::Passed { .. }), "{outcome:?}");
}
