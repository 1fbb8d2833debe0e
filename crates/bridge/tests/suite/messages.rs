//! Several messages in one answer: a blank line between them in a chat, items in a response.

use bridge::TurnPolicy;
use model_turn::{MessagePhase, TurnEvent};

use crate::play::{
    called, completed, json, play, play_whole, rendered, shown, text, whole, with_calls, xml,
};
use crate::script::{Line, block, call, end, message, say, think};

fn kept(policy: TurnPolicy) -> TurnPolicy {
    TurnPolicy { suppress_tail: false, ..policy }
}

#[test]
fn a_separator_stands_between_the_texts_of_two_messages() {
    let phase = Some(MessagePhase::Commentary);
    let in_phase = Line::Event(TurnEvent::MessageStart { phase });
    for (script, content) in [
        (vec![say("one"), message(), say("two")], "one¶two"),
        (vec![say("o"), say("ne"), message(), say("t"), say("wo"), say("!")], "one¶two!"),
        // The first message may be announced too.
        (
            vec![in_phase, say("one"), message(), say("two"), message(), say("three")],
            "one¶two¶three",
        ),
        // Messages without text are none.
        (vec![message(), message(), say("one"), message(), say("")], "one"),
        (vec![say("one"), message(), say(""), message(), say("two"), message()], "one¶two"),
        // Half a tag belongs to its message.
        (vec![say("one <use"), message(), say("_tool> two")], "one <use¶_tool> two"),
    ] {
        let script = [script, vec![end()]].concat();
        for policy in [json(), xml(), kept(json())] {
            assert_eq!(play(policy, &script), completed([text(content)]), "{script:?}");
        }
    }
}

#[test]
fn reasoning_and_calls_between_two_messages_do_not_separate_them() {
    let script = [say("one"), think(0, ""), message(), say("two"), end()];
    assert_eq!(play(json(), &script), completed([text("one¶two")]));
    let script = [say("one"), call("a", "{}"), message(), say("two"), end()];
    let a = || called(0, "a", "{}");
    assert_eq!(play(kept(json()), &script), with_calls([text("one"), a(), text("¶two")]));
    let expected = with_calls([text("one"), rendered("a", "{}"), a(), text("¶two")]);
    assert_eq!(play(kept(xml()), &script), expected);
    // Nothing was sent in JSON mode, but a block is content.
    let script = [call("a", "{}"), message(), say("two"), end()];
    assert_eq!(play(kept(json()), &script), with_calls([a(), text("two")]));
    let expected = with_calls([rendered("a", "{}"), a(), text("¶two")]);
    assert_eq!(play(kept(xml()), &script), expected);
}

#[test]
fn text_that_is_held_back_keeps_its_messages() {
    let (a, b) = (|| called(0, "a", "{}"), || called(1, "b", "{}"));
    let held = [say("one"), call("a", "{}"), message(), say("two"), message(), say("three")];
    let script = [&held[..], &[call("b", "{}"), message(), say("four"), end()]].concat();
    let expected = with_calls([text("one"), a(), text("¶two¶three"), b()]).suppressing("four");
    assert_eq!(play(json(), &script), expected);
    let dropped = [&held[..], &[end()]].concat();
    let expected = with_calls([text("one"), a()]).suppressing("twothree");
    assert_eq!(play(json(), &dropped), expected);
    // A block that is not closed releases it too.
    let half = "<use_tool><name>b</name>";
    let script = [&held[..], &[message(), say(half), end()]].concat();
    let released = format!("¶two¶three¶{half}");
    let expected = with_calls([text("one"), rendered("a", "{}"), a(), text(&released)]);
    assert_eq!(play(xml(), &script), expected);
}

#[test]
fn a_block_that_begins_a_message_is_separated() {
    let (a, b) = (block("a", "{}"), block("b", "{}"));
    let script = [say("one"), message(), say(&a), message(), say(&b), end()];
    let calls = || (called(0, "a", "{}"), called(1, "b", "{}"));
    let (first, second) = calls();
    let separated = [text("one¶"), shown(&a), first.clone(), text("¶"), shown(&b), second.clone()];
    assert_eq!(play(xml(), &script), with_calls(separated));
    // Between two blocks the operator's delimiter is enough.
    let policy = TurnPolicy { delimiter: "--".to_owned(), ..xml() };
    let delimited = [text("one¶"), shown(&a), first.clone(), text("--"), shown(&b), second.clone()];
    assert_eq!(play(policy, &script), with_calls(delimited));
    assert_eq!(play(json(), &script), with_calls([text("one"), first, second]));
}

#[test]
fn a_separator_is_content_and_no_words_of_the_model() {
    let script = [say("one"), message(), say("two"), call("a", "{}"), end()];
    let report = play_whole(json(), &script).report;
    assert_eq!(report.last_call_end, Some("one¶two".len()));
    assert_eq!(report.said, "onetwoa{}");
    assert_eq!(report.suppressed_bytes, 0);
}

#[test]
fn a_chat_separates_messages_with_a_blank_line() {
    let script = [say("Let me look."), message(), say("Here it is."), end()];
    // Each choice has a state of its own.
    for choice in whole(&json(), 2, &script)["choices"].as_array().unwrap() {
        assert_eq!(choice["message"]["content"], "Let me look.\n\nHere it is.");
    }
}
