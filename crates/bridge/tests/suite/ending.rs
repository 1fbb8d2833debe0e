//! How a turn ends that does not end as it should, and what comes after an end.

use bridge::{EndReason, TurnPolicy};
use model_turn::{FailureKind, TurnEnd};
use openai_wire::FinishReason;
use tool_call_aggregator::Limits;

use crate::play::{
    Answer, Sent, answer, called, completed, failed, json, play, reasoning, text, with_calls, xml,
};
use crate::script::{
    block, call, call_as, end, fail, fail_with_status, say, think, turn_end, wait,
};

const CUT: FailureKind = FailureKind::StreamCut;

fn after_calls(sent: impl Into<Vec<Sent>>) -> Answer {
    answer(sent, FinishReason::ToolCalls, EndReason::FailedAfterCalls).truncated()
}

fn a() -> Sent {
    called(0, "a", "{}")
}

#[test]
fn a_failure_without_calls_is_an_error() {
    assert_eq!(play(json(), &[fail(CUT)]), failed([], CUT));
    assert_eq!(play(json(), &[say("Hi."), fail(CUT)]), failed([text("Hi.")], CUT));
    assert_eq!(
        play(json(), &[say("Hi."), turn_end(TurnEnd::Interrupted)]),
        failed([text("Hi.")], FailureKind::Unexpected)
    );
}

#[test]
fn after_complete_calls_it_is_the_end_of_a_burst() {
    for kind in [CUT, FailureKind::MaxOutput, FailureKind::ContentFilter, FailureKind::ChildGone] {
        let script = [say("Hi."), call("a", "{}"), say("tail"), fail(kind)];
        assert_eq!(play(json(), &script), after_calls([text("Hi."), a()]).suppressing("tail"));
    }
    assert_eq!(play(json(), &[say(&block("a", "{}")), fail(CUT)]), after_calls([a()]));
    assert_eq!(
        play(json(), &[call("a", "{}"), turn_end(TurnEnd::Interrupted)]),
        after_calls([a()])
    );
}

#[test]
fn half_a_block_at_a_failure_is_text() {
    let half = "<use_tool><name>b</name>";
    for policy in [json(), xml()] {
        assert_eq!(play(policy, &[say(half), fail(CUT)]), failed([text(half)], CUT));
    }
    assert_eq!(
        play(json(), &[call("a", "{}"), say(half), fail(CUT)]),
        after_calls([a()]).suppressing(half)
    );
    let kept = TurnPolicy { suppress_tail: false, ..json() };
    assert_eq!(
        play(kept, &[call("a", "{}"), say(half), fail(CUT)]),
        after_calls([a(), text(half)])
    );
}

#[test]
fn an_answer_may_be_as_long_as_the_limit_and_no_longer() {
    let policy = || TurnPolicy { max_answer_bytes: 4, ..json() };
    assert_eq!(play(policy(), &[say("1234"), end()]), completed([text("1234")]));
    let too_large = |sent: &[Sent]| failed(sent, FailureKind::OutputTooLarge);
    for script in [vec![say("12"), say("345"), end()], vec![say("123456789"), end()]] {
        assert_eq!(play(policy(), &script), too_large(&[text("1234")]), "{script:?}");
    }
    // Half a character does not fit, and reasoning counts.
    assert_eq!(play(policy(), &[say("123ä"), end()]), too_large(&[text("123")]));
    let script = [think(0, "123"), say("45"), end()];
    assert_eq!(play(policy(), &script), too_large(&[reasoning("123"), text("4")]));
    // After calls it is cut like any text that goes on and on.
    let kept = TurnPolicy { suppress_tail: false, ..policy() };
    assert_eq!(
        play(kept, &[call("a", "{}"), say("12345"), end()]),
        answer([a(), text("1234")], FinishReason::ToolCalls, EndReason::HeldText).truncated()
    );
}

#[test]
fn the_upstreams_own_limit_is_a_length() {
    assert_eq!(
        play(json(), &[say("Hi <use"), fail(FailureKind::MaxOutput)]),
        answer([text("Hi <use")], FinishReason::Length, EndReason::UpstreamLength)
    );
}

#[test]
fn a_filter_ends_an_answer_but_refuses_a_request() {
    let filter = FailureKind::ContentFilter;
    assert_eq!(
        play(json(), &[say("Hi."), fail(filter)]),
        answer([text("Hi.")], FinishReason::ContentFilter, EndReason::ContentFilter)
    );
    assert_eq!(play(json(), &[fail_with_status(filter, 400)]), failed([], filter));
}

#[test]
fn an_empty_response_may_be_a_refusal() {
    let refused =
        |sent: Vec<Sent>| answer(sent, FinishReason::ContentFilter, EndReason::ContentFilter);
    let filter = || fail(FailureKind::ContentFilter);
    assert_eq!(play(json(), &[end(), filter()]), refused(vec![]));
    assert_eq!(play(json(), &[say(""), end(), filter()]), refused(vec![]));
    assert_eq!(play(json(), &[think(0, "No."), end(), filter()]), refused(vec![reasoning("No.")]));
    // Until the turn itself ends nobody knows.
    let open = play(json(), &[end()]);
    assert_eq!((open.told, open.sent), (None, vec![]));
    assert_eq!(play(json(), &[end(), turn_end(TurnEnd::Completed)]), completed([]));
    // The response has ended, and so it was not cut.
    assert_eq!(play(json(), &[end(), fail(CUT)]), Answer { truncated: false, ..failed([], CUT) });
}

#[test]
fn the_end_of_a_turn_is_the_end_of_its_response() {
    assert_eq!(play(json(), &[say("Hi."), turn_end(TurnEnd::Completed)]), completed([text("Hi.")]));
    assert_eq!(play(json(), &[call("a", "{}"), turn_end(TurnEnd::ToolCalls)]), with_calls([a()]));
}

#[test]
fn what_comes_after_the_end_is_dropped() {
    let late = || {
        vec![
            say("late"),
            say(&block("b", "{}")),
            think(1, "late"),
            call("c", "{}"),
            end(),
            wait(1_000_000),
            turn_end(TurnEnd::ToolCalls),
            fail(CUT),
        ]
    };
    let policy = TurnPolicy { stop_sequences: vec!["END".to_owned()], ..json() };
    for ended in [
        vec![say("Hi."), end()],
        vec![call("a", "{}"), end()],
        vec![say("END")],
        vec![fail(CUT)],
        vec![call("a", "{}"), fail(CUT)],
    ] {
        let script = [ended.clone(), late()].concat();
        assert_eq!(play(policy.clone(), &script), play(policy.clone(), &ended), "{ended:?}");
    }
}

#[test]
fn calls_over_a_limit_end_the_turn_with_those_before() {
    let capped = || answer([a()], FinishReason::ToolCalls, EndReason::CallCap).truncated();
    let over_calls = Limits { calls: 1, ..Limits::default() };
    let over_bytes = Limits { argument_bytes: 100, ..Limits::default() };
    let over_name = Limits { name_bytes: 3, ..Limits::default() };
    let long = format!("\"{}\"", "x".repeat(200));
    for (limits, (name, arguments)) in
        [(over_calls, ("b", "{}")), (over_bytes, ("b", long.as_str())), (over_name, ("long", "{}"))]
    {
        let policy = TurnPolicy { limits, ..json() };
        let structured = [call("a", "{}"), say("x"), call(name, arguments), end()];
        assert_eq!(play(policy.clone(), &structured), capped().suppressing("x"));
        let written = block(name, arguments);
        let in_text = [call("a", "{}"), say(&written), end()];
        // A block with such a name is text.
        let ended = if name == "long" { with_calls([a()]) } else { capped() };
        assert_eq!(play(policy, &in_text), ended.suppressing(&written));
    }
}

#[test]
fn an_answer_whose_only_call_is_over_a_limit_is_an_error() {
    let limits = Limits { argument_bytes: 10, ..Limits::default() };
    let policy = TurnPolicy { limits, ..json() };
    let script = [say("Hi."), call("a", "\"much too long\""), end()];
    assert_eq!(play(policy, &script), failed([text("Hi.")], FailureKind::OutputTooLarge));
}

#[test]
fn a_call_that_is_taken_back_is_an_error() {
    for (before, after) in [("{}", r#"{"x":1}"#), ("", r#"{"x":1}"#), ("[1", "[1]")] {
        let script = [call_as("call_1", "a", before), call_as("call_1", "a", after), end()];
        let sent = called(0, "a", if before.is_empty() { "{}" } else { before });
        assert_eq!(play(json(), &script), failed([sent], FailureKind::Unexpected));
    }
}
