//! Text after the last call.

use bridge::{EndReason, StopAfterTools, TextBlocks, TurnPolicy};
use model_turn::FailureKind;
use openai_wire::FinishReason;

use crate::play::{
    Answer, Sent, answer, called, json, play, play_whole, reasoning, rendered, shown, text,
    with_calls, xml,
};
use crate::script::{block, call, end, fail, say, think};

fn kept(policy: TurnPolicy) -> TurnPolicy {
    TurnPolicy { suppress_tail: false, ..policy }
}

#[test]
fn only_what_follows_the_last_call_is_dropped() {
    let b = block("b", "{}");
    let script = [
        say("one "),
        call("a", "{}"),
        say("two "),
        say(&b),
        say("three "),
        call("c", "{}"),
        say("four "),
        say("five"),
        end(),
    ];
    let sent = || {
        [
            text("one "),
            called(0, "a", "{}"),
            text("two "),
            called(1, "b", "{}"),
            text("three "),
            called(2, "c", "{}"),
        ]
    };
    for stop_after_tools in [StopAfterTools::Off, StopAfterTools::Burst { grace: None }] {
        let policy = TurnPolicy { stop_after_tools, ..json() };
        assert_eq!(play(policy, &script), with_calls(sent()).suppressing("four five"));
    }
    let mut with_tail = with_calls(sent());
    with_tail.sent.push(text("four five"));
    assert_eq!(play(kept(json()), &script), with_tail);
    assert_eq!(
        play(xml(), &script),
        with_calls([
            text("one "),
            rendered("a", "{}"),
            called(0, "a", "{}"),
            text("two "),
            shown(&b),
            called(1, "b", "{}"),
            text("three "),
            rendered("c", "{}"),
            called(2, "c", "{}"),
        ])
        .suppressing("four five")
    );
}

#[test]
fn text_before_any_call_is_never_held() {
    let script = [say("one"), say(" two"), call("a", "{}"), say("three"), end()];
    assert_eq!(play_whole(json(), &script).chunks, ["one", " two"]);
    assert_eq!(play_whole(kept(json()), &script).chunks, ["one", " two", "three"]);
}

#[test]
fn half_a_block_after_the_last_call_is_tail() {
    let script = [call("a", "{}"), say("x <use_tool><name>b</name>"), end()];
    assert_eq!(
        play(json(), &script),
        with_calls([called(0, "a", "{}")]).suppressing("x <use_tool><name>b</name>")
    );
    assert_eq!(
        play(kept(json()), &script),
        with_calls([called(0, "a", "{}"), text("x <use_tool><name>b</name>")])
    );
}

#[test]
fn half_a_block_after_the_last_call_is_never_tail_where_clients_execute_it() {
    let half = "<use_tool><name>b</name>";
    let sent = |more: &[Sent]| {
        let first = [rendered("a", "{}"), called(0, "a", "{}")];
        with_calls([&first, more].concat())
    };
    for script in [
        vec![say("x <use_tool><name>b</name>")],
        vec![say("x "), say("<use_"), say("tool><name>b</name"), say(">")],
        vec![say("x "), think(0, ""), say(half)],
    ] {
        let script = [vec![call("a", "{}")], script, vec![end()]].concat();
        assert_eq!(play(xml(), &script), sent(&[text("x <use_tool><name>b</name>")]));
    }
    // Text of a later message is a tail again, and no call ends where the block does.
    let script = [call("a", "{}"), say(half), think(0, "why"), say("tail"), end()];
    let played = play_whole(xml(), &script);
    let Sent::Block(block) = rendered("a", "{}") else { unreachable!() };
    assert_eq!(played.report.last_call_end, Some(block.len()));
    assert_eq!(Answer::from(played), sent(&[text(half), reasoning("why")]).suppressing("tail"));
    // What only could become a block is none.
    let script = [call("a", "{}"), say("x <use_tool"), end()];
    assert_eq!(play(xml(), &script), sent(&[]).suppressing("x <use_tool"));
    let ignored = TurnPolicy { text_blocks: TextBlocks::Ignored, ..xml() };
    let script = [call("a", "{}"), say(half), end()];
    assert_eq!(play(ignored, &script), sent(&[]).suppressing(half));
}

#[test]
fn half_a_block_that_clients_execute_is_limited_like_other_text() {
    let script = [call("a", "{}"), say("x y "), say("<use_tool> <name>b</name> <q>"), end()];
    let sent = |more: &[Sent], end| {
        let first = [rendered("a", "{}"), called(0, "a", "{}")];
        answer([&first, more].concat(), FinishReason::ToolCalls, end)
    };
    let (stopped, limit) = (EndReason::StopSequence, EndReason::MaxTokens);
    let stopping = |at: &str| TurnPolicy { stop_sequences: vec![at.to_owned()], ..xml() };
    let limited = |tokens| TurnPolicy { max_tokens: Some(tokens), ..xml() };
    let holding = |max_held_bytes| TurnPolicy { max_held_bytes, ..xml() };
    let whole = "x y <use_tool> <name>b</name> <q>";
    for (policy, expected) in [
        (stopping(" <q>"), sent(&[text("x y <use_tool> <name>b</name>")], stopped)),
        // Nothing is left of the block, and so the text before it is a tail.
        (stopping("<use_tool>"), sent(&[], stopped).suppressing("x y ")),
        (limited(4), sent(&[text("x y <use_tool>")], limit)),
        (limited(3), sent(&[], limit).suppressing("x y ")),
        (holding(3), sent(&[], EndReason::HeldText).truncated().suppressing("x y")),
        (holding(4), sent(&[text(whole)], EndReason::ToolCalls)),
    ] {
        assert_eq!(play(policy, &script), expected);
    }
}

#[test]
fn a_block_that_was_cut_after_a_call_is_not_sent() {
    let half = "<use_tool><name>b</name>";
    let sent = |end| {
        let sent = [rendered("a", "{}"), called(0, "a", "{}")];
        answer(sent, FinishReason::ToolCalls, end).truncated().suppressing(half)
    };
    let script = [call("a", "{}"), say(half), fail(FailureKind::StreamCut)];
    assert_eq!(play(xml(), &script), sent(EndReason::FailedAfterCalls));
    let full = TurnPolicy { max_answer_bytes: half.len(), ..xml() };
    let script = [call("a", "{}"), say(half), say("<q>"), end()];
    assert_eq!(play(full, &script), sent(EndReason::HeldText));
}

#[test]
fn reasoning_after_a_call_is_no_tail() {
    let script = [call("a", "{}"), say("tail"), think(0, "why"), end()];
    assert_eq!(
        play(json(), &script),
        with_calls([called(0, "a", "{}"), reasoning("why")]).suppressing("tail")
    );
}

#[test]
fn a_tail_may_be_as_long_as_the_limit_and_no_longer() {
    let policy = || TurnPolicy { max_held_bytes: 4, ..json() };
    let a = || called(0, "a", "{}");
    let over = || answer([a()], FinishReason::ToolCalls, EndReason::HeldText).truncated();
    let table = [
        // The next call makes room again.
        (
            vec![say("1234"), call("b", "{}"), say("5678")],
            with_calls([a(), text("1234"), called(1, "b", "{}")]).suppressing("5678"),
        ),
        (vec![say("12"), say("345"), call("b", "{}")], over().suppressing("1234")),
        (vec![say("123456789"), call("b", "{}")], over().suppressing("1234")),
        // Half a character is not held.
        (vec![say("123ä"), call("b", "{}")], over().suppressing("123")),
    ];
    for (lines, expected) in table {
        let script = [vec![call("a", "{}")], lines, vec![end()]].concat();
        assert_eq!(play(policy(), &script), expected, "{script:?}");
    }
    let script = [call("a", "{}"), say("123456789"), end()];
    assert_eq!(play(kept(policy()), &script), with_calls([a(), text("123456789")]));
}
