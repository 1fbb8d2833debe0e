//! One exchange of a scenario, held against the rules.

mod own_rule;

use std::time::Duration;

use crate::answer::AnswerRules;
use crate::error_body;
use crate::exchange::{Delivery, Exchange};
use crate::notes::Notes;
use crate::pace::Pace;
use crate::reading::{
    self, Answer, CHAT_RULES, ChatStream, Ending, RESPONSES_RULES, ResponseStream, Terms, UsageWish,
};
use crate::rule::RuleId;
use crate::scenario::{Endpoint, ExpectedOutcome, ModelKind, Scenario};

/// The rules of an endpoint that the outcome of a request is about.
pub(crate) struct OutcomeRules {
    pub(crate) answers: RuleId,
    content_type: RuleId,
    error_status: RuleId,
    bad_request: RuleId,
    error_told: RuleId,
    no_success: RuleId,
    silence: RuleId,
    in_time: RuleId,
    tool_results: RuleId,
    declared: RuleId,
    said: AnswerRules,
    whole_shape: RuleId,
    whole_exact: RuleId,
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
    in_time: RuleId::ChatInTime,
    tool_results: RuleId::ChatToolResults,
    declared: RuleId::ChatDeclaredCalls,
    said: CHAT_RULES,
    whole_shape: RuleId::ChatWholeShape,
    whole_exact: RuleId::ChatWholeExact,
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
    in_time: RuleId::ResponsesInTime,
    tool_results: RuleId::ResponsesToolResults,
    declared: RuleId::ResponsesDeclaredCalls,
    said: RESPONSES_RULES,
    whole_shape: RuleId::ResponsesWholeShape,
    whole_exact: RuleId::ResponsesWholeExact,
    same: RuleId::ResponsesSameEitherWay,
};

/// Of these an answer is all that is wanted; of others more must be seen.
const ANSWER_IS_ALL: [RuleId; 6] = [
    RuleId::ChatTolerant,
    RuleId::ChatLenient,
    RuleId::ChatHostedTools,
    RuleId::ResponsesHostedTools,
    RuleId::ResponsesUnknownTools,
    RuleId::ResponsesRepeatedOutput,
];

/// The reasons of an answer that is as it was meant to be; others, such as `error`, are no success.
const OF_SUCCESS: [&str; 5] = ["stop", "tool_calls", "function_call", "length", "content_filter"];

/// What an exchange has shown, and what was said in it, if it was answered.
pub(crate) fn exchange(
    scenario: &Scenario,
    kind: ModelKind,
    delivery: Delivery,
    exchange: &Exchange,
    notes: &mut Notes,
) -> Option<Answer> {
    let expected = &scenario.expected;
    let Some(rules) = outcome_rules(scenario.endpoint) else {
        match scenario.endpoint {
            Endpoint::Models => models(exchange, notes),
            _ => error_body::read(exchange, expected, RuleId::UnknownPath, notes),
        }
        return None;
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

/// Of the endpoints that a model answers behind.
pub(crate) fn outcome_rules(endpoint: Endpoint) -> Option<&'static OutcomeRules> {
    match endpoint {
        Endpoint::Chat => Some(&CHAT),
        Endpoint::Responses => Some(&RESPONSES),
        Endpoint::Models | Endpoint::Nowhere => None,
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
    if exchange.status != 200 {
        let found = error_body::summary(exchange);
        notes.broken(scenario.unanswered, format!("it was answered with {found}"));
        return None;
    }
    if scenario.unanswered == rules.answers || ANSWER_IS_ALL.contains(&scenario.unanswered) {
        notes.kept(scenario.unanswered);
    }
    let answer = read(scenario, rules, delivery, exchange, notes);
    if exchange.ending != Ending::Whole {
        notes.broken(scenario.unanswered, exchange.ending.in_words());
    }
    let own = own_rule::of(scenario, delivery);
    let (finish, said) = match (own, delivery, kind) {
        (Some(own), Delivery::Streamed, ModelKind::Scripted) => {
            let custom_form = rules.said.custom_form;
            (Some(own), AnswerRules { custom_form, ..AnswerRules::all(own) })
        }
        (Some(own), Delivery::Whole, ModelKind::Scripted) => (Some(own), AnswerRules::all(own)),
        (_, Delivery::Streamed, _) => (None, rules.said),
        (None, Delivery::Whole, ModelKind::Scripted) => {
            (Some(rules.whole_exact), AnswerRules::all(rules.whole_exact))
        }
        // What the model said is not known: only whether the reason fits.
        (_, Delivery::Whole, ModelKind::Any) => (Some(rules.whole_shape), rules.said),
    };
    check_finish(scenario, kind, finish, &answer, notes);
    check_declared(scenario, rules, &answer, notes);
    if kind == ModelKind::Scripted {
        let mut expected = scenario.expected.clone();
        if leaves_out_preamble(scenario, delivery, &answer) {
            expected.text = None;
        }
        answer.compare(&expected, said, notes);
        if scenario.is_about(rules.tool_results) {
            let wanted = scenario.expected.text.as_deref().unwrap_or_default();
            notes.check(rules.tool_results, answer.text == wanted, || {
                format!("the model must have had {wanted:?}, but had {:?}", answer.text)
            });
        }
    }
    if delivery == Delivery::Streamed && scenario.is_about(rules.silence) {
        check_pace(scenario, rules, exchange, &answer, notes);
    }
    Some(answer)
}

/// A tool that the client does not know of cannot be run by it.
fn check_declared(scenario: &Scenario, rules: &OutcomeRules, answer: &Answer, notes: &mut Notes) {
    let declared = scenario.declared();
    for call in &answer.calls {
        notes.check(rules.declared, declared.contains(&call.name.as_str()), || {
            format!("{:?} was called, and the request declares {declared:?}", call.name)
        });
    }
}

/// The model is silent in the middle of its text, and the client must have what it said before.
fn check_pace(
    scenario: &Scenario,
    rules: &OutcomeRules,
    exchange: &Exchange,
    answer: &Answer,
    notes: &mut Notes,
) {
    let Pace { first_text_before_end, disturbance } = Pace::of(exchange, scenario.endpoint);
    let is_undisturbed = exchange.ending == Ending::Whole
        && disturbance.is_none()
        && !notes.is_broken(RuleId::ChatSseFrames)
        && !notes.is_broken(RuleId::ResponsesEventNames)
        && answer.finish.is_some()
        && !answer.has_failed;
    notes.check(rules.silence, is_undisturbed, || {
        let end = answer.end_in_words();
        let between = disturbance.unwrap_or_else(|| "nothing".to_owned());
        format!("{}, with {end}; between the text came {between}", exchange.ending.in_words())
    });
    let wanted = scenario.expected.first_text_before_end_ms.map(Duration::from_millis);
    if let (Some(wanted), Some(found)) = (wanted, first_text_before_end) {
        notes.check(rules.in_time, found >= wanted, || {
            format!(
                "the first text came {} ms before the end of the stream, although the model had \
                 said it much earlier",
                found.as_millis()
            )
        });
    }
}

/// Something was said, then the model failed.
fn failure(scenario: &Scenario, rules: &OutcomeRules, exchange: &Exchange, notes: &mut Notes) {
    if exchange.status != 200 {
        // It waited for the end before it began: then the status tells it.
        error_body::read(exchange, &scenario.expected, rules.error_status, notes);
        return;
    }
    let answer = read(scenario, rules, Delivery::Streamed, exchange, notes);
    let finish = answer.finish.as_deref().unwrap_or_default();
    notes.check(rules.no_success, !OF_SUCCESS.contains(&finish), || {
        format!("the model's stream broke off, and the client is told {finish:?}")
    });
    if !answer.has_failed {
        let words = format!("no error was told; {}", exchange.ending.in_words());
        notes.broken(rules.error_told, words);
    }
}

/// What was said, whatever is wrong with how it was said.
pub(crate) fn text_of(scenario: &Scenario, delivery: Delivery, exchange: &Exchange) -> String {
    let rules = outcome_rules(scenario.endpoint).unwrap_or(&CHAT);
    read(scenario, rules, delivery, exchange, &mut Notes::default()).text
}

fn read(
    scenario: &Scenario,
    rules: &OutcomeRules,
    delivery: Delivery,
    exchange: &Exchange,
    notes: &mut Notes,
) -> Answer {
    let (rule, wanted) = match delivery {
        Delivery::Streamed => (rules.content_type, "text/event-stream"),
        Delivery::Whole => (rules.whole_shape, "application/json"),
    };
    notes.check(rule, exchange.content_type == wanted, || {
        format!("the content type is {:?} and not {wanted}", exchange.content_type)
    });
    let (body, ending) = (&exchange.body, exchange.ending);
    match (scenario.endpoint, delivery) {
        (Endpoint::Responses, Delivery::Streamed) => {
            let mut stream = ResponseStream::new(notes);
            stream.take(body.as_bytes());
            stream.end(ending).0.answer()
        }
        (Endpoint::Responses, Delivery::Whole) => {
            reading::answer_of_response(&reading::read_response(body, notes))
        }
        (_, Delivery::Streamed) => {
            let is_asked = scenario.request.contains_key("stream_options");
            let usage = if is_asked { UsageWish::Asked } else { UsageWish::Unasked };
            let mut stream = ChatStream::new(Terms { usage, ..Terms::default() }, notes);
            stream.take(body.as_bytes());
            stream.end(ending).0.answer()
        }
        (_, Delivery::Whole) => reading::read_completion(body, &Terms::default(), notes).answer(),
    }
}

/// The reason that is told fits what was said, and is the one that was expected.
fn check_finish(
    scenario: &Scenario,
    kind: ModelKind,
    instead: Option<RuleId>,
    answer: &Answer,
    notes: &mut Notes,
) {
    let told = answer.end_in_words();
    let expected = match (kind, scenario.expected.finish.as_deref()) {
        (ModelKind::Scripted, Some(reason)) => reason,
        (_, Some("length")) => "length",
        _ if !answer.calls.is_empty() => "tool_calls",
        _ => "stop",
    };
    // Whether a limit is kept at all is asked once, of the stream.
    if kind == ModelKind::Any && expected == "length" && instead.is_some() {
        return;
    }
    let rule = match (scenario.endpoint, expected) {
        (Endpoint::Responses, "length") => RuleId::ResponsesLength,
        (_, "length") => RuleId::ChatFinishLength,
        (Endpoint::Responses, _) => RuleId::ResponsesBeginAndEnd,
        (_, "tool_calls") => RuleId::ChatFinishToolCalls,
        _ => RuleId::ChatFinishStop,
    };
    notes.check(instead.unwrap_or(rule), told == expected, || {
        format!("the end was to be {expected:?}, and is {told:?}")
    });
}

/// Both deliveries of a scenario must say the same.
pub(crate) fn same(scenario: &Scenario, streamed: &Answer, whole: &Answer, notes: &mut Notes) {
    let Some(rules) = outcome_rules(scenario.endpoint) else { return };
    // Each has been compared with what was expected: a fault is reported once.
    if own_rule::of(scenario, Delivery::Streamed).is_some() {
        return;
    }
    let mut streamed = streamed.clone();
    if leaves_out_preamble(scenario, Delivery::Whole, whole) {
        streamed.text.clear();
    }
    notes.check(rules.same, streamed.said() == whole.said(), || {
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

#[cfg(test)]
mod tests;
