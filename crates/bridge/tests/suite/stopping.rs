//! When a turn with calls is ended: burst, first, off, and the cap on calls in each of them.

use std::num::NonZeroUsize;

use bridge::{CallShape, EndReason, OutputMode, StopAfterTools, TurnPolicy};
use model_turn::TurnEvent;
use openai_wire::FinishReason;

use crate::play::{
    Sent, answer, called, completed, json, play, rendered, shown, text, with_calls, xml,
};
use crate::script::{Line, block, call, end, say};

const BURST: StopAfterTools = StopAfterTools::Burst { grace: None };
const MODES: [StopAfterTools; 3] = [BURST, StopAfterTools::First, StopAfterTools::Off];

fn stopping(stop_after_tools: StopAfterTools, policy: TurnPolicy) -> TurnPolicy {
    TurnPolicy { stop_after_tools, ..policy }
}

fn at_most(calls: usize, policy: TurnPolicy) -> TurnPolicy {
    TurnPolicy { max_calls: NonZeroUsize::new(calls), ..policy }
}

/// Two calls in two ways, and the blocks that XML mode shows for them.
fn two_calls() -> [([Line; 4], [Sent; 2]); 2] {
    let (a, b) = (block("a", "{}"), block("b", "{}"));
    [
        (
            [say("Hi."), call("a", "{}"), call("b", "{}"), end()],
            [rendered("a", "{}"), rendered("b", "{}")],
        ),
        ([say("Hi."), say(&a), say(&b), end()], [shown(&a), shown(&b)]),
    ]
}

#[test]
fn a_burst_ends_with_the_response() {
    for stop in [BURST, StopAfterTools::Off] {
        for (script, [first, second]) in two_calls() {
            assert_eq!(
                play(stopping(stop, json()), &script),
                with_calls([text("Hi."), called(0, "a", "{}"), called(1, "b", "{}")])
            );
            assert_eq!(
                play(stopping(stop, xml()), &script),
                with_calls([
                    text("Hi."),
                    first,
                    called(0, "a", "{}"),
                    second,
                    called(1, "b", "{}")
                ])
            );
        }
    }
}

#[test]
fn first_cuts_after_the_first_call() {
    for (script, [first, _]) in two_calls() {
        let cut = |sent| answer(sent, FinishReason::ToolCalls, EndReason::FirstCall).truncated();
        let policy = stopping(StopAfterTools::First, xml());
        assert_eq!(play(policy, &script), cut([text("Hi."), first, called(0, "a", "{}")]));
    }
}

#[test]
fn a_cap_of_one_with_first_is_first() {
    for (script, _) in two_calls() {
        for policy in [json(), xml()] {
            let first = stopping(StopAfterTools::First, policy);
            assert_eq!(play(at_most(1, first.clone()), &script), play(first, &script));
        }
    }
}

#[test]
fn the_cap_is_exact_in_every_mode() {
    for stop in [BURST, StopAfterTools::Off] {
        for (script, [block, _]) in two_calls() {
            let capped =
                |sent| answer(sent, FinishReason::ToolCalls, EndReason::CallCap).truncated();
            let dropped = match &script[2] {
                Line::Event(TurnEvent::Text(block)) => block.as_str(),
                _ => "",
            };
            assert_eq!(
                play(at_most(1, stopping(stop, xml())), &script),
                capped([text("Hi."), block, called(0, "a", "{}")]).suppressing(dropped),
            );
        }
    }
}

#[test]
fn meeting_the_cap_exactly_is_not_truncated() {
    for mode in [OutputMode::OpenAiJson, OutputMode::ObsidianXml] {
        for stop in [BURST, StopAfterTools::Off] {
            for (script, _) in two_calls() {
                let policy = stopping(stop, TurnPolicy { mode, ..json() });
                assert_eq!(play(at_most(2, policy.clone()), &script), play(policy, &script));
            }
        }
    }
}

#[test]
fn a_turn_without_calls_is_never_cut() {
    for stop in MODES {
        assert_eq!(
            play(at_most(1, stopping(stop, xml())), &[say("Just "), say("text."), end()]),
            completed([text("Just text.")])
        );
    }
}

#[test]
fn the_rest_of_the_chunk_in_which_a_turn_is_cut_is_dropped() {
    let script = [say(&format!("{}tail{}", block("a", "{}"), block("b", "{}"))), end()];
    assert_eq!(
        play(stopping(StopAfterTools::First, json()), &script),
        answer([called(0, "a", "{}")], FinishReason::ToolCalls, EndReason::FirstCall).truncated()
    );
}

#[test]
fn the_legacy_shape_has_a_finish_reason_of_its_own() {
    let policy = TurnPolicy { shape: CallShape::FunctionCall, ..at_most(1, json()) };
    let legacy = |end| answer([called(0, "a", "{}")], FinishReason::FunctionCall, end);
    let one = [call("a", "{}"), end()];
    assert_eq!(play(policy.clone(), &one), legacy(EndReason::ToolCalls));
    let two = [call("a", "{}"), call("b", "{}"), end()];
    assert_eq!(play(policy.clone(), &two), legacy(EndReason::CallCap).truncated());
    assert_eq!(play(policy, &[say("Hi."), end()]), completed([text("Hi.")]));
}
