//! Stop sequences and the limit of tokens, which are about visible text alone.

use bridge::{EndReason, TextBlocks, TurnPolicy};
use model_turn::FailureKind;
use openai_wire::FinishReason;

use crate::play::{
    answer, called, completed, failed, json, play, play_whole, rendered, shown, text, with_calls,
    xml,
};
use crate::script::{block, call, end, fail, say};

fn stopping_at(sequence: &str) -> TurnPolicy {
    TurnPolicy { stop_sequences: vec![sequence.to_owned()], ..json() }
}

/// A word is a token.
fn limited_to(tokens: u32) -> TurnPolicy {
    TurnPolicy { max_tokens: Some(tokens), ..json() }
}

#[test]
fn text_ends_before_a_stop_sequence() {
    let stopped = |before: &str| {
        answer([text(before)], FinishReason::Stop, EndReason::StopSequence).truncated()
    };
    for script in [
        vec![say("one END two")],
        vec![say("one E"), say("N"), say("D two")],
        vec![say("one END"), call("a", "{}")],
    ] {
        let script = [script, vec![end()]].concat();
        assert_eq!(play(stopping_at("END"), &script), stopped("one "));
    }
    let nothing_left = [say("END"), end()];
    assert_eq!(
        play(stopping_at("END"), &nothing_left),
        answer([], FinishReason::Stop, EndReason::StopSequence).truncated()
    );
}

#[test]
fn what_only_begins_like_a_stop_sequence_is_kept() {
    let script = [say("one E"), say("N"), end()];
    assert_eq!(play(stopping_at("END"), &script), completed([text("one EN")]));
    assert_eq!(play_whole(stopping_at("END"), &script).chunks, ["one ", "EN"]);
}

#[test]
fn nothing_in_a_call_stops() {
    let written = block("a", r#"{"x":"END"}"#);
    let arguments = r#"{"x":"END"}"#;
    let policy = TurnPolicy { stop_sequences: vec!["END".to_owned()], ..xml() };
    assert_eq!(
        play(policy.clone(), &[say(&written), end()]),
        with_calls([shown(&written), called(0, "a", arguments)])
    );
    assert_eq!(
        play(policy, &[call("a", arguments), end()]),
        with_calls([rendered("a", arguments), called(0, "a", arguments)])
    );
    // A block of an unknown name is text.
    let policy = TurnPolicy { text_blocks: TextBlocks::Declared, ..stopping_at("END") };
    let unknown = block("z", "END");
    assert_eq!(
        play(policy, &[say(&unknown), end()]),
        answer(
            [text("<use_tool><name>z</name><args>")],
            FinishReason::Stop,
            EndReason::StopSequence
        )
        .truncated()
    );
}

#[test]
fn no_stop_sequence_reaches_over_a_call() {
    let a = block("a", "{}");
    for script in [
        [say("E"), say(&a), say("ND"), call("b", "{}"), end()],
        [say("E"), call("a", "{}"), say("ND"), call("b", "{}"), end()],
    ] {
        assert_eq!(
            play(stopping_at("END"), &script),
            with_calls([text("E"), called(0, "a", "{}"), text("ND"), called(1, "b", "{}")])
        );
    }
    // Not even over one that is not shown.
    let twin = [call("a", "{}"), say("E"), say(&a), say("ND"), call("b", "{}"), end()];
    assert_eq!(
        play(stopping_at("END"), &twin),
        with_calls([called(0, "a", "{}"), text("END"), called(1, "b", "{}")]).suppressing(&a)
    );
}

#[test]
fn a_stop_sequence_after_a_call_ends_the_turn_with_its_calls() {
    let script = [call("a", "{}"), say("x END y"), call("b", "{}"), end()];
    let stopped = answer([called(0, "a", "{}")], FinishReason::ToolCalls, EndReason::StopSequence);
    assert_eq!(play(stopping_at("END"), &script), stopped.truncated().suppressing("x "));
}

#[test]
fn text_has_no_more_tokens_than_allowed() {
    let table = [
        // Exactly the limit is not over it.
        ("one two three", 3, "one two three", false),
        ("one two three four", 3, "one two three", true),
        ("one two", 1, "one", true),
        ("one", 2, "one", false),
    ];
    for (said, limit, seen, met) in table {
        for chunks in [vec![say(said)], said.split_inclusive(' ').map(say).collect()] {
            let answer = play(limited_to(limit), &[chunks, vec![end()]].concat());
            let told = if met { FinishReason::Length } else { FinishReason::Stop };
            let end = if met { EndReason::MaxTokens } else { EndReason::Completed };
            assert_eq!(answer.sent, [text(seen)], "{said}");
            assert_eq!((answer.told, answer.end), (Some(Ok(told)), end), "{said}");
        }
    }
}

#[test]
fn a_turn_is_cut_as_soon_as_the_limit_is_known_to_be_met() {
    let cut = answer([text("one two")], FinishReason::Length, EndReason::MaxTokens).truncated();
    let script = [say("one two three "), call("a", "{}"), end()];
    assert_eq!(play(limited_to(2), &script), cut);
    // The last word may be a longer one, until the response ends.
    let script = [say("one two"), say(" three"), end()];
    assert_eq!(play(limited_to(2), &script), cut);
}

#[test]
fn calls_have_no_tokens() {
    let a = block("a", r#"{"x":"many words in a call"}"#);
    let arguments = r#"{"x":"many words in a call"}"#;
    let script = [say("one"), say(&a), say(" two"), call("b", arguments), end()];
    assert_eq!(
        play(limited_to(2), &script),
        with_calls([
            text("one"),
            called(0, "a", arguments),
            text(" two"),
            called(1, "b", arguments)
        ])
    );
}

#[test]
fn a_limit_that_is_met_after_a_call_ends_the_turn_with_its_calls() {
    let script = [say("one"), call("a", "{}"), say(" two three "), call("b", "{}"), end()];
    let cut =
        answer([text("one"), called(0, "a", "{}")], FinishReason::ToolCalls, EndReason::MaxTokens);
    assert_eq!(play(limited_to(2), &script), cut.truncated().suppressing(" two"));
}

#[test]
fn what_is_held_near_the_limit_is_not_lost_at_a_failure() {
    let script = |said| [say(said), fail(FailureKind::ServerError)];
    assert_eq!(
        play(limited_to(2), &script("one two")),
        failed([text("one two")], FailureKind::ServerError)
    );
    // The answer was complete before it failed.
    assert_eq!(
        play(limited_to(2), &script("one two three")),
        answer([text("one two")], FinishReason::Length, EndReason::MaxTokens).truncated()
    );
}

#[test]
fn of_both_limits_the_first_one_counts() {
    let both = |tokens| TurnPolicy { max_tokens: Some(tokens), ..stopping_at("END") };
    let script = [say("one two END three"), end()];
    let stopped = |end, finish, seen| answer([text(seen)], finish, end).truncated();
    assert_eq!(play(both(1), &script), stopped(EndReason::MaxTokens, FinishReason::Length, "one"));
    assert_eq!(
        play(both(9), &script),
        stopped(EndReason::StopSequence, FinishReason::Stop, "one two ")
    );
}
