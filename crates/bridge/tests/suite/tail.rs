//! Text after the last call.

use bridge::{EndReason, FinishReason, StopAfterTools, TurnPolicy};

use crate::play::{
    answer, called, json, play, play_whole, reasoning, rendered, shown, text, with_calls, xml,
};
use crate::script::{block, call, end, say, think};

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
