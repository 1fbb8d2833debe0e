//! One exchange of a scenario, held against the rules.

use crate::answer::{Answer, End};
use crate::chat::{self, UsageWish};
use crate::error_body;
use crate::exchange::{Delivery, Ending, Exchange};
use crate::notes::Notes;
use crate::responses;
use crate::rule::RuleId;
use crate::scenario::{Endpoint, ExpectedOutcome, ModelKind, Scenario};
use crate::sse;

/// The rules of an endpoint that the outcome of a request is about.
struct OutcomeRules {
    answers: RuleId,
    content_type: RuleId,
    error_status: RuleId,
    bad_request: RuleId,
    error_told: RuleId,
    no_success: RuleId,
    silence: RuleId,
    tool_results: RuleId,
    same: RuleId,
}

const CHAT: OutcomeRules = OutcomeRules {
    answers: RuleId::ChatAnswers,
    content_type: RuleId::ChatContentType,
    error_status: RuleId::ChatErrorStatus,
    bad_request: RuleId::ChatBadRequest,
    error_told: RuleId::ChatErrorFrame,
    no_success: RuleId::ChatFailureIsNoSuccess,
    silence: RuleId::ChatSilence,
    tool_results: RuleId::ChatToolResults,
    same: RuleId::ChatSameEitherWay,
};

const RESPONSES: OutcomeRules = OutcomeRules {
    answers: RuleId::ResponsesAnswers,
    content_type: RuleId::ResponsesContentType,
    error_status: RuleId::ResponsesErrorStatus,
    bad_request: RuleId::ResponsesBadRequest,
    error_told: RuleId::ResponsesErrorEvent,
    no_success: RuleId::ResponsesFailureIsNoSuccess,
    silence: RuleId::ResponsesSilence,
    tool_results: RuleId::ResponsesToolResults,
    same: RuleId::ResponsesSameEitherWay,
};

/// What an exchange has shown, and what was said in it, if it was answered.
pub(crate) fn exchange(
    scenario: &Scenario,
    kind: ModelKind,
    delivery: Delivery,
    exchange: &Exchange,
    notes: &mut Notes,
) -> Option<Answer> {
    let expected = &scenario.expected;
    let rules = match scenario.endpoint {
        Endpoint::Models => {
            models(exchange, notes);
            return None;
        }
        Endpoint::Nowhere => {
            error_body::read(exchange, expected, RuleId::UnknownPath, notes);
            return None;
        }
        Endpoint::Chat => &CHAT,
        Endpoint::Responses => &RESPONSES,
    };
    match (expected.outcome, delivery) {
        (ExpectedOutcome::Refusal, _) => {
            let about = [RuleId::KeyRefused, rules.bad_request];
            let rule = about.into_iter().find(|rule| scenario.is_about(*rule));
            error_body::read(exchange, expected, rule.unwrap_or(rules.error_status), notes);
            None
        }
        (ExpectedOutcome::Failure, Delivery::Whole) => {
            error_body::read(exchange, expected, rules.error_status, notes);
            None
        }
        (ExpectedOutcome::Failure, Delivery::Streamed) => {
            failure(scenario, rules, exchange, notes);
            None
        }
        (ExpectedOutcome::Answer, _) => answer(scenario, kind, rules, delivery, exchange, notes),
    }
}

fn answer(
    scenario: &Scenario,
    kind: ModelKind,
    rules: &OutcomeRules,
    delivery: Delivery,
    exchange: &Exchange,
    notes: &mut Notes,
) -> Option<Answer> {
    let tolerance = RuleId::ChatTolerant;
    let rule = if scenario.is_about(tolerance) { tolerance } else { rules.answers };
    if exchange.status != 200 {
        let found = error_body::summary(exchange);
        notes.broken(rule, format!("{} was answered with {found}", scenario.name));
        return None;
    }
    notes.kept(rule);
    let answer = read(scenario, rules, delivery, exchange, notes);
    if exchange.ending != Ending::Whole {
        notes.broken(rule, format!("{}: {}", scenario.name, exchange.ending.in_words()));
    }
    check_finish(scenario, kind, &answer, notes);
    if kind == ModelKind::Scripted {
        let answer_rules = match scenario.endpoint {
            Endpoint::Responses => responses::RULES,
            _ => chat::RULES,
        };
        let mut expected = scenario.expected.clone();
        if leaves_out_preamble(scenario, delivery, &answer) {
            expected.text = None;
        }
        answer.compare(&expected, answer_rules, notes);
        if scenario.is_about(rules.tool_results) {
            let wanted = scenario.expected.text.as_deref().unwrap_or_default();
            notes.check(rules.tool_results, answer.text == wanted, || {
                format!("the model must have had {wanted:?}, but had {:?}", answer.text)
            });
        }
    }
    if scenario.is_about(rules.silence) {
        let is_undisturbed = exchange.ending == Ending::Whole
            && !notes.is_broken(RuleId::ChatSseFrames)
            && !notes.is_broken(RuleId::ResponsesEventNames)
            && matches!(answer.end, End::Finished(_));
        notes.check(rules.silence, is_undisturbed, || {
            format!("{}, with {:?}", exchange.ending.in_words(), answer.end)
        });
    }
    Some(answer)
}

/// Something was said, then the model failed.
fn failure(scenario: &Scenario, rules: &OutcomeRules, exchange: &Exchange, notes: &mut Notes) {
    if exchange.status != 200 {
        // It waited for the end before it began: then the status tells it.
        error_body::read(exchange, &scenario.expected, rules.error_status, notes);
        notes.kept(rules.no_success);
        return;
    }
    let answer = read(scenario, rules, Delivery::Streamed, exchange, notes);
    notes.check(rules.no_success, !matches!(answer.end, End::Finished(_)), || {
        format!("the model's stream broke off, and the client is told {:?}", answer.end)
    });
    if answer.end != End::Failed {
        let words = format!("no error was told; {}", exchange.ending.in_words());
        notes.broken(rules.error_told, words);
    }
}

fn read(
    scenario: &Scenario,
    rules: &OutcomeRules,
    delivery: Delivery,
    exchange: &Exchange,
    notes: &mut Notes,
) -> Answer {
    let wanted = match delivery {
        Delivery::Streamed => "text/event-stream",
        Delivery::Whole => "application/json",
    };
    notes.check(rules.content_type, exchange.content_type == wanted, || {
        format!("the content type is {:?} and not {wanted}", exchange.content_type)
    });
    let ending = exchange.ending;
    match (scenario.endpoint, delivery) {
        (Endpoint::Responses, Delivery::Streamed) => {
            responses::read_stream(&sse::frames(&exchange.body), ending, notes)
        }
        (Endpoint::Responses, Delivery::Whole) => responses::read_whole(&exchange.body, notes),
        (_, Delivery::Streamed) => {
            let is_asked = scenario.request.contains_key("stream_options");
            let wish = if is_asked { UsageWish::Asked } else { UsageWish::Unasked };
            chat::read_stream(&sse::frames(&exchange.body), ending, wish, notes)
        }
        (_, Delivery::Whole) => chat::read_whole(&exchange.body, notes),
    }
}

/// The reason that is told fits what was said, and is the one that was expected.
fn check_finish(scenario: &Scenario, kind: ModelKind, answer: &Answer, notes: &mut Notes) {
    let told = match &answer.end {
        End::Finished(reason) => reason.as_str(),
        End::Failed => "a failure",
        End::Untold => "none",
    };
    let expected = match (kind, scenario.expected.finish.as_deref()) {
        (ModelKind::Scripted, Some(reason)) => reason,
        (_, Some("length")) => "length",
        _ if !answer.calls.is_empty() => "tool_calls",
        _ => "stop",
    };
    let rule = match (scenario.endpoint, expected) {
        (Endpoint::Responses, "length") => RuleId::ResponsesLength,
        (Endpoint::Responses, _) => RuleId::ResponsesBeginAndEnd,
        (_, "length") => RuleId::ChatFinishLength,
        (_, "tool_calls") => RuleId::ChatFinishToolCalls,
        _ => RuleId::ChatFinishStop,
    };
    notes.check(rule, told == expected, || {
        format!("{}: {expected} was expected, {told} came", scenario.name)
    });
}

/// Both deliveries of a scenario must say the same.
pub(crate) fn same(scenario: &Scenario, streamed: &Answer, whole: &Answer, notes: &mut Notes) {
    let rule = match scenario.endpoint {
        Endpoint::Responses => RESPONSES.same,
        _ => CHAT.same,
    };
    let mut streamed = streamed.clone();
    if leaves_out_preamble(scenario, Delivery::Whole, whole) {
        streamed.text.clear();
    }
    notes.check(rule, streamed.said() == whole.said(), || {
        format!("streamed {:?}, whole {:?}", streamed.said(), whole.said())
    });
}

/// A whole chat completion with calls may have `content: null`: no client minds, and some servers
/// always do so.
fn leaves_out_preamble(scenario: &Scenario, delivery: Delivery, answer: &Answer) -> bool {
    scenario.endpoint == Endpoint::Chat
        && delivery == Delivery::Whole
        && !answer.calls.is_empty()
        && answer.text.is_empty()
}

/// The rule about a client that leaves.
pub(crate) fn disconnect_rule(scenario: &Scenario) -> RuleId {
    match scenario.endpoint {
        Endpoint::Responses => RuleId::ResponsesDisconnect,
        _ => RuleId::ChatDisconnect,
    }
}

fn models(exchange: &Exchange, notes: &mut Notes) {
    let body: serde_json::Value = serde_json::from_str(&exchange.body).unwrap_or_default();
    let models = body["data"].as_array();
    let is_list = models.is_some_and(|models| {
        !models.is_empty() && models.iter().all(|model| model["id"].is_string())
    });
    notes.check(RuleId::ModelsList, exchange.status == 200 && is_list, || {
        error_body::summary(exchange)
    });
}
