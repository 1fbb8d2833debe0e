//! Calls that are said more than once: identical ones, and the same one in text and as a structured call.

use std::num::NonZeroUsize;

use bridge::{OutputMode, TurnPolicy};

use crate::play::{
    Answer, Sent, called, json, play, play_whole, rendered, shown, text, with_calls, xml,
};
use crate::script::{Line, arguments, block, call_as, end, item_as, say, start};

const ARGUMENTS: &str = r#"{"x":1,"y":2}"#;
const SAME: &str = r#"{ "y": 2, "x": 1 }"#;

fn dedup(policy: TurnPolicy) -> TurnPolicy {
    TurnPolicy { dedup: true, ..policy }
}

/// A structured call of `a`.
fn structured(id: &str, arguments: &str) -> Line {
    call_as(id, "a", arguments)
}

fn a(index: usize, arguments: &str) -> Sent {
    called(index, "a", arguments)
}

#[test]
fn identical_calls_are_kept_unless_they_are_to_be_dropped() {
    let script = [structured("call_1", ARGUMENTS), structured("call_2", SAME), end()];
    assert_eq!(play(json(), &script), with_calls([a(0, ARGUMENTS), a(1, SAME)]));
    assert_eq!(play(dedup(json()), &script), with_calls([a(0, ARGUMENTS)]).truncated());
    assert_eq!(
        play(dedup(xml()), &script),
        with_calls([rendered("a", ARGUMENTS), a(0, ARGUMENTS)]).truncated()
    );
}

#[test]
fn identical_blocks_are_kept_unless_they_are_to_be_dropped() {
    let (one, two) = (block("a", ARGUMENTS), block("a", SAME));
    let script = [say(&one), say(&two), end()];
    assert_eq!(play(json(), &script), with_calls([a(0, ARGUMENTS), a(1, SAME)]));
    assert_eq!(
        play(dedup(json()), &script),
        with_calls([a(0, ARGUMENTS)]).truncated().suppressing(&two)
    );
    assert_eq!(
        play(dedup(xml()), &script),
        with_calls([shown(&one), a(0, ARGUMENTS)]).truncated().suppressing(&two)
    );
}

#[test]
fn identical_is_the_same_name_and_the_same_value() {
    let kept = |first: &str, second: &str| {
        let script = [structured("call_1", first), structured("call_2", second), end()];
        play(dedup(json()), &script).sent.len() == 2
    };
    assert!(kept(r#"{"x":1}"#, r#"{"x":2}"#));
    assert!(kept(r#"{"x":1}"#, r#"{"x":"1"}"#));
    assert!(kept("[1,2]", "[2,1]"));
    // What is no JSON is compared as it is.
    assert!(kept(r#"{"x":"#, r#"{"x": "#));
    assert!(!kept(r#"{"x":"#, r#"{"x":"#));
    // A client is sent `{}` for no arguments.
    assert!(!kept("", "{}"));
    assert!(!kept("{}", ""));
    assert!(!kept("", ""));
    assert!(kept("", "null"));
    let names = [structured("call_1", "{}"), call_as("call_2", "b", "{}"), end()];
    assert_eq!(play(dedup(json()), &names), with_calls([a(0, "{}"), called(1, "b", "{}")]));
}

#[test]
fn a_call_is_dropped_however_much_lies_between() {
    let script = [
        structured("call_1", ARGUMENTS),
        say("between"),
        call_as("call_2", "b", "{}"),
        structured("call_3", SAME),
        say("tail"),
        end(),
    ];
    assert_eq!(
        play(dedup(json()), &script),
        with_calls([a(0, ARGUMENTS), text("between"), called(1, "b", "{}")])
            .truncated()
            .suppressing("tail")
    );
}

#[test]
fn what_is_dropped_does_not_count_for_the_cap() {
    let policy = TurnPolicy { max_calls: NonZeroUsize::new(2), ..dedup(json()) };
    let script = [
        structured("call_1", ARGUMENTS),
        structured("call_2", SAME),
        call_as("call_3", "b", "{}"),
        end(),
    ];
    assert_eq!(
        play(policy, &script),
        with_calls([a(0, ARGUMENTS), called(1, "b", "{}")]).truncated()
    );
}

#[test]
fn a_block_and_an_equal_structured_call_are_one_call() {
    let written = block("a", SAME);
    let block_first = [say(&written), structured("call_1", ARGUMENTS), end()];
    let call_first = [structured("call_1", ARGUMENTS), say(&written), end()];
    // With and without dedup, and at the cap: a twin is no other call, and nothing is dropped.
    for settings in [
        json(),
        dedup(json()),
        TurnPolicy { max_calls: NonZeroUsize::new(1), ..json() },
        TurnPolicy { max_calls: NonZeroUsize::new(1), ..dedup(json()) },
    ] {
        let in_xml = TurnPolicy { mode: OutputMode::ObsidianXml, ..settings.clone() };
        assert_eq!(play(settings.clone(), &block_first), with_calls([a(0, SAME)]));
        assert_eq!(
            play(settings, &call_first),
            with_calls([a(0, ARGUMENTS)]).suppressing(&written)
        );
        assert_eq!(play(in_xml.clone(), &block_first), with_calls([shown(&written), a(0, SAME)]));
        assert_eq!(
            play(in_xml, &call_first),
            with_calls([rendered("a", ARGUMENTS), a(0, ARGUMENTS)]).suppressing(&written)
        );
    }
}

#[test]
fn two_structured_calls_confirm_two_blocks() {
    let written = block("a", "{}");
    let script = [
        say(&written),
        say(&written),
        structured("call_1", "{}"),
        structured("call_2", "{}"),
        structured("call_3", "{}"),
        end(),
    ];
    assert_eq!(play(json(), &script), with_calls([a(0, "{}"), a(1, "{}"), a(2, "{}")]));
}

#[test]
fn with_other_arguments_a_block_is_a_call_of_its_own() {
    let script = [structured("call_1", ARGUMENTS), say(&block("a", "{}")), end()];
    assert_eq!(play(json(), &script), with_calls([a(0, ARGUMENTS), a(1, "{}")]));
}

#[test]
fn a_call_that_is_delivered_twice_is_sent_once() {
    let script = [structured("call_1", ARGUMENTS), structured("call_1", ARGUMENTS), end()];
    assert_eq!(play(xml(), &script), with_calls([rendered("a", ARGUMENTS), a(0, ARGUMENTS)]));
}

#[test]
fn the_delimiter_stands_between_adjacent_blocks_only() {
    let policy = |policy| TurnPolicy { delimiter: "\n\n".to_owned(), ..policy };
    let (one, two) = (block("a", "1"), block("a", "2"));
    let adjacent =
        [say(&one), say(&two), structured("call_3", "3"), structured("call_4", "4"), end()];
    assert_eq!(
        play(policy(xml()), &adjacent),
        with_calls([
            shown(&one),
            a(0, "1"),
            text("\n\n"),
            shown(&two),
            a(1, "2"),
            text("\n\n"),
            rendered("a", "3"),
            a(2, "3"),
            text("\n\n"),
            rendered("a", "4"),
            a(3, "4"),
        ])
    );
    assert_eq!(
        play(policy(json()), &adjacent),
        with_calls([a(0, "1"), a(1, "2"), a(2, "3"), a(3, "4")])
    );
    let apart = [say("x"), say(&one), say(" "), say(&two), say("tail"), end()];
    for suppress_tail in [true, false] {
        let answer = play(TurnPolicy { suppress_tail, ..policy(xml()) }, &apart);
        let sent = [text("x"), shown(&one), a(0, "1"), text(" "), shown(&two), a(1, "2")];
        assert_eq!(answer.sent[..6], sent);
    }
    // What is not shown does not come between.
    let around_a_twin = [say(&one), structured("call_1", "1"), say(&one), say(&two), end()];
    assert_eq!(
        play(policy(xml()), &around_a_twin),
        with_calls([shown(&one), a(0, "1"), text("\n\n"), shown(&two), a(1, "2")])
            .suppressing(&one)
    );
}

#[test]
fn long_numbers_are_not_identical_for_being_close() {
    let (one, two) = (r#"{"id":12345678901234567890123}"#, r#"{"id":12345678901234567890124}"#);
    let script = [structured("call_1", one), structured("call_2", two), end()];
    assert_eq!(play(dedup(json()), &script), with_calls([a(0, one), a(1, two)]));
    let other = block("a", two);
    let script = [structured("call_1", one), say(&other), end()];
    for policy in [json(), dedup(json())] {
        assert_eq!(play(policy, &script), with_calls([a(0, one), a(1, two)]));
    }
    let rewritten = [structured("call_1", "[1]"), structured("call_2", "[1.0]"), end()];
    assert_eq!(play(dedup(json()), &rewritten), with_calls([a(0, "[1]"), a(1, "[1.0]")]));
}

#[test]
fn items_with_one_call_id_are_calls_of_their_own() {
    let one = |item| item_as(Some(item), "call_1", "a", "[1]");
    let two = |item| item_as(Some(item), "call_1", "b", "[2]");
    let sent = [called(0, "a", "[1]"), called(1, "b", "[2]")];
    for script in [
        vec![one("fc_1"), two("fc_2"), end()],
        vec![one("fc_1"), two("fc_2"), one("fc_1"), two("fc_2"), end()],
        vec![start("call_1", "a"), arguments("[1"), one("fc_1"), two("fc_2"), end()],
        vec![one("fc_1"), start("call_1", "b"), arguments("[2"), two("fc_2"), end()],
    ] {
        let played = play_whole(json(), &script);
        let ids = played.report.call_ids.clone();
        assert_eq!(ids, ["tool_2_0_1", "tool_2_1_text"]);
        assert_eq!(Answer::from(played), with_calls(sent.clone()), "{script:?}");
    }
    let equal = [one("fc_1"), one("fc_2"), end()];
    let sent = [called(0, "a", "[1]"), called(1, "a", "[1]")];
    assert_eq!(play(json(), &equal), with_calls(sent.clone()));
    let [first, _] = sent;
    assert_eq!(
        play(dedup(json()), &equal),
        with_calls([first]).truncated(),
        "deduplication looks at name and arguments alone"
    );
}
