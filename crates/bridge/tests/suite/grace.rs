//! The time after a call in which another one may come.

use std::time::Duration;

use bridge::{EndReason, StopAfterTools, TextBlocks, TurnPolicy};
use openai_wire::FinishReason;

use crate::play::{Answer, Sent, answer, called, completed, json, play, text, with_calls};
use crate::script::{block, call, call_as, end, say, wait};

fn graceful() -> TurnPolicy {
    let grace = Some(Duration::from_millis(300));
    TurnPolicy { stop_after_tools: StopAfterTools::Burst { grace }, ..json() }
}

fn cut(sent: impl Into<Vec<Sent>>) -> Answer {
    answer(sent, FinishReason::ToolCalls, EndReason::Grace).truncated()
}

fn a() -> Sent {
    called(0, "a", "{}")
}

fn b() -> Sent {
    called(1, "b", "{}")
}

#[test]
fn it_runs_out_to_the_millisecond() {
    let script = |silence| [call("a", "{}"), wait(silence), call("b", "{}"), end()];
    assert_eq!(play(graceful(), &script(299)), with_calls([a(), b()]));
    assert_eq!(play(graceful(), &script(300)), cut([a()]));
}

#[test]
fn each_call_restarts_it() {
    let script = |last| {
        [
            call("a", "{}"),
            wait(200),
            say(&block("b", "{}")),
            wait(200),
            call("c", "{}"),
            wait(last),
            end(),
        ]
    };
    let sent = || [a(), b(), called(2, "c", "{}")];
    assert_eq!(play(graceful(), &script(299)), with_calls(sent()));
    assert_eq!(play(graceful(), &script(300)), cut(sent()));
}

#[test]
fn a_call_that_is_not_forwarded_restarts_it_too() {
    let script = |again| [call("a", "{}"), wait(200), again, wait(200), call("b", "{}"), end()];
    let twin = say(&block("a", "{}"));
    let suppressing = with_calls([a(), b()]).suppressing(&block("a", "{}"));
    assert_eq!(play(graceful(), &script(twin)), suppressing);

    let dedup = TurnPolicy { dedup: true, ..graceful() };
    let repeated = call_as("call_again", "a", "{}");
    assert_eq!(play(dedup, &script(repeated)), with_calls([a(), b()]).truncated());

    let structured_twin =
        [say(&block("a", "{}")), wait(200), call("a", "{}"), wait(200), call("b", "{}"), end()];
    assert_eq!(play(graceful(), &structured_twin), with_calls([a(), b()]));
}

#[test]
fn text_does_not_restart_it() {
    let script = [call("a", "{}"), wait(200), say("tail"), wait(100), call("b", "{}"), end()];
    assert_eq!(play(graceful(), &script), cut([a()]).suppressing("tail"));
}

#[test]
fn it_does_not_run_while_a_block_is_open() {
    let (opened, rest) = ("<use_tool><name>b", "</name><args>{}</args></use_tool>");
    let script = |last| [call("a", "{}"), say(opened), wait(1000), say(rest), wait(last), end()];
    assert_eq!(play(graceful(), &script(299)), with_calls([a(), b()]));
    assert_eq!(play(graceful(), &script(300)), cut([a(), b()]));
}

#[test]
fn it_begins_again_when_an_open_block_turns_out_to_be_text() {
    let unnamed = "</args></use_tool>";
    let script = |last| {
        [call("a", "{}"), say("<use_tool><args>"), wait(1000), say(unnamed), wait(last), end()]
    };
    let tail = "<use_tool><args></args></use_tool>";
    assert_eq!(play(graceful(), &script(299)), with_calls([a()]).suppressing(tail));
    assert_eq!(play(graceful(), &script(300)), cut([a()]).suppressing(tail));
}

#[test]
fn a_structured_call_ends_an_open_block() {
    let script =
        [call("a", "{}"), say("<use_tool><name>x"), wait(1000), call("b", "{}"), wait(300), end()];
    assert_eq!(play(graceful(), &script), cut([a(), text("<use_tool><name>x"), b()]));
}

#[test]
fn it_does_not_run_before_a_call() {
    let script = [say("Hi."), wait(10_000), call("a", "{}"), end()];
    assert_eq!(play(graceful(), &script), with_calls([text("Hi."), a()]));
}

#[test]
fn a_block_of_another_name_is_no_call_but_text() {
    let policy = TurnPolicy { text_blocks: TextBlocks::Declared, ..graceful() };
    let script = [say(&block("z", "{}")), wait(10_000), end()];
    assert_eq!(play(policy, &script), completed([text(&block("z", "{}"))]));
}

#[test]
fn other_modes_have_none() {
    for (stop_after_tools, expected) in [
        (StopAfterTools::Off, with_calls([a()])),
        (StopAfterTools::Burst { grace: None }, with_calls([a()])),
    ] {
        let policy = TurnPolicy { stop_after_tools, ..json() };
        assert_eq!(play(policy, &[call("a", "{}"), wait(1_000_000), end()]), expected);
    }
}

#[test]
fn what_is_held_back_is_not_lost_when_it_runs_out() {
    let script = [call("a", "{}"), say("E <use"), wait(300), say("_tool>"), end()];
    let policy = TurnPolicy { stop_sequences: vec!["END".to_owned()], ..graceful() };
    assert_eq!(play(policy.clone(), &script), cut([a()]).suppressing("E <use"));
    let kept = TurnPolicy { suppress_tail: false, ..policy };
    assert_eq!(play(kept, &script), cut([a(), text("E <use")]));
}
