//! Calls in text: which blocks are calls, and what is held back for them.

use bridge::{OutputMode, TextBlocks, TurnPolicy};
use model_turn::FailureKind;
use serde_json::json;
use tool_call_aggregator::Limits;
use tool_call_aggregator::obsidian::XmlEscaping;

use crate::play::{
    Answer, called, completed, failed, json, play, play_whole, rendered, shown, text, with_calls,
    xml,
};
use crate::script::{Line, block, call, end, fail, message, say};

fn looking_for(text_blocks: TextBlocks, policy: TurnPolicy) -> TurnPolicy {
    TurnPolicy { text_blocks, ..policy }
}

/// An answer of text alone.
fn only_text(content: &str) -> Answer {
    completed([text(content)])
}

#[test]
fn blocks_of_declared_tools_or_of_any_or_none_are_calls() {
    let (a, z) = (block("a", "{}"), block("z", "{}"));
    let script = [say("x"), say(&z), say("y"), say(&a), end()];
    assert_eq!(
        play(looking_for(TextBlocks::Any, json()), &script),
        with_calls([text("x"), called(0, "z", "{}"), text("y"), called(1, "a", "{}")])
    );
    assert_eq!(
        play(looking_for(TextBlocks::Declared, json()), &script),
        with_calls([text(&format!("x{z}y")), called(0, "a", "{}")])
    );
    assert_eq!(
        play(looking_for(TextBlocks::Declared, xml()), &script),
        with_calls([text(&format!("x{z}y")), shown(&a), called(0, "a", "{}")])
    );
    for policy in [json(), xml()] {
        assert_eq!(
            play(looking_for(TextBlocks::Ignored, policy), &script),
            only_text(&format!("x{z}y{a}"))
        );
    }
}

#[test]
fn a_block_in_fenced_code_is_an_example_where_tools_are_declared() {
    let a = block("a", "{}");
    let example = format!("Like this:\n```xml\n{a}\n```\nThat is all.");
    let script = [say(&example), end()];
    for text_blocks in [TextBlocks::Declared, TextBlocks::Any] {
        assert_eq!(play(looking_for(text_blocks, json()), &script), only_text(&example));
        // Obsidian Copilot executes it.
        let (before, after) = example.split_once(&a).unwrap();
        assert_eq!(
            play(looking_for(text_blocks, xml()), &script),
            Answer {
                suppressed: after.len(),
                ..with_calls([text(before), shown(&a), called(0, "a", "{}")])
            }
        );
    }
    // Without tools a block is the only way to make a call.
    let undeclared = TurnPolicy { tools: [].into_iter().collect(), ..json() };
    let calls = play(looking_for(TextBlocks::Any, undeclared), &script);
    assert_eq!(calls.suppressed, "\n```\nThat is all.".len());
    // Each message has its own fences.
    let script = [say("```\n"), message(), say(&a), end()];
    assert_eq!(
        play(looking_for(TextBlocks::Declared, json()), &script),
        with_calls([text("```\n"), called(0, "a", "{}")])
    );
}

#[test]
fn a_structured_call_needs_no_declaration() {
    for text_blocks in [TextBlocks::Declared, TextBlocks::Ignored] {
        assert_eq!(
            play(looking_for(text_blocks, json()), &[call("z", "{}"), end()]),
            with_calls([called(0, "z", "{}")])
        );
    }
}

#[test]
fn what_is_no_whole_block_is_text() {
    for content in [
        "<use_tool><name>a</name>",
        "<use_tool",
        "<use_tools><name>a</name></use_tools>",
        "<use_tool><args>{}</args></use_tool>",
        "</use_tool>",
        "a < b",
    ] {
        for mode in [OutputMode::OpenAiJson, OutputMode::ObsidianXml] {
            let policy = TurnPolicy { mode, ..json() };
            assert_eq!(play(policy, &[say(content), end()]), only_text(content));
        }
    }
}

#[test]
fn the_end_of_a_message_completes_a_block_with_broken_json() {
    let broken = r#"<use_tool><name>a</name><args>{"q": "</args></use_tool>"#;
    let a = || called(0, "a", r#"{"q": ""#);
    let script = [say("x"), say(broken), say(" tail"), end()];
    assert_eq!(play(json(), &script), with_calls([text("x"), a()]).suppressing(" tail"));
    let expected = with_calls([text("x"), shown(broken), a()]).suppressing(" tail");
    assert_eq!(play(xml(), &script), expected);
    // Before what follows the message.
    let script = [say(broken), call("b", "{}"), end()];
    assert_eq!(play(json(), &script), with_calls([a(), called(1, "b", "{}")]));
    // But not where its text was cut off.
    let script = [say(broken), fail(FailureKind::StreamCut)];
    assert_eq!(play(json(), &script), failed([text(broken)], FailureKind::StreamCut));
}

#[test]
fn a_block_in_a_block_makes_the_outer_one_text() {
    let (outer, inner) = ("<use_tool><name>b</name>", block("a", "{}"));
    assert_eq!(
        play(xml(), &[say(outer), say(&inner), end()]),
        with_calls([text(outer), shown(&inner), called(0, "a", "{}")])
    );
}

#[test]
fn a_message_ends_before_a_structured_call() {
    let script = [say("<use_tool><name>b</na"), call("a", "{}"), say("me></use_tool>"), end()];
    assert_eq!(
        play(json(), &script),
        with_calls([text("<use_tool><name>b</na"), called(0, "a", "{}")])
            .suppressing("me></use_tool>")
    );
}

#[test]
fn blocks_of_two_messages_are_two_calls_wherever_they_stand() {
    let a = block("a", "{}");
    let script = [say(&a), call("b", "{}"), say(&a), end()];
    assert_eq!(
        play(json(), &script),
        with_calls([called(0, "a", "{}"), called(1, "b", "{}"), called(2, "a", "{}")])
    );
}

#[test]
fn only_what_could_begin_a_block_is_held_back() {
    let script = [say("a <"), say("b> <use"), say("_tools> <use_tool"), say(">"), say("x"), end()];
    let played = play_whole(json(), &script);
    assert_eq!(played.chunks, ["a ", "<b> ", "<use_tools> ", "<use_tool>x"]);
    assert_eq!(play(json(), &script), only_text("a <b> <use_tools> <use_tool>x"));
}

#[test]
fn a_block_of_the_model_is_shown_byte_for_byte() {
    let written = "<use_tool >\n <name> a</name>\r\n<q>1 &lt; 2 < 3 é</q>\n</use_tool>";
    let arguments = r#"{"q":"1 &lt; 2 < 3 é"}"#;
    let script = [say("é"), say(written), say("\n"), end()];
    assert_eq!(
        play(xml(), &script),
        with_calls([text("é"), shown(written), called(0, "a", arguments)]).suppressing("\n")
    );
    // Wherever the stream is cut.
    let whole = format!("é{written}\n");
    let letters: Vec<_> =
        whole.chars().map(|letter| say(letter.encode_utf8(&mut [0; 4]))).collect();
    assert_eq!(play(xml(), &[letters, vec![end()]].concat()), play(xml(), &script));
    for (at, _) in whole.char_indices() {
        let halves = [say(&whole[..at]), say(&whole[at..]), end()];
        assert_eq!(play(xml(), &halves), play(xml(), &script), "cut at {at}");
    }
}

#[test]
fn a_structured_call_is_rendered_as_a_block() {
    let arguments = r#"{"q":"1 < 2","list":["<"]}"#;
    let script = [call("a", arguments), end()];
    let written = |q: &str| {
        format!(
            "<use_tool>\n  <name>a</name>\n  <q>{q}</q>\n  <list>[\"\\u003c\"]</list>\n</use_tool>"
        )
    };
    for (xml_escaping, q) in [(XmlEscaping::Verbatim, "1 < 2"), (XmlEscaping::Entities, "1 &lt; 2")]
    {
        let policy = TurnPolicy { xml_escaping, ..xml() };
        assert_eq!(
            play(policy, &script),
            with_calls([shown(&written(q)), called(0, "a", arguments)])
        );
    }
}

#[test]
fn values_that_a_block_cannot_hold_are_counted() {
    let arguments = r#"{"q":"<b>bold</b>","r":"</r>","s":"1 < 2","t":["<b></b>"]}"#;
    let written = "<use_tool>\n  <name>a</name>\n  <q>&lt;b>bold</b></q>\n  <r>&lt;/r></r>\n  \
                   <s>1 < 2</s>\n  <t>[\"\\u003cb\\u003e\\u003c/b\\u003e\"]</t>\n</use_tool>";
    let script = [call("a", arguments), call("b", r#"{"q":"<i></i>"}"#), end()];
    let played = play_whole(xml(), &script);
    assert_eq!(played.sent[0], shown(written));
    assert_eq!(played.report.altered_values, 3);
    assert_eq!(play_whole(json(), &script).report.altered_values, 0);
    let entities = TurnPolicy { xml_escaping: XmlEscaping::Entities, ..xml() };
    assert_eq!(play_whole(entities, &script).report.altered_values, 0);
    // A block of the model is passed on as it is.
    let script = [say("<use_tool><name>a</name><q><b>bold</b></q></use_tool>"), end()];
    assert_eq!(play_whole(xml(), &script).report.altered_values, 0);
}

#[test]
fn a_rendered_block_has_every_parameter_that_the_request_declares() {
    let schema = json!({"properties": {"mood": {"type": "string"}}});
    let tools = [("updateMemory".to_owned(), schema)].into_iter().collect();
    let arguments = r#"{"statement":"s","mood":"m","other":"o"}"#;
    let written = "<use_tool>\n  <name>updateMemory</name>\n  <statement>s</statement>\n  \
                   <mood>m</mood>\n</use_tool>";
    assert_eq!(
        play(TurnPolicy { tools, ..xml() }, &[call("updateMemory", arguments), end()]),
        with_calls([shown(written), called(0, "updateMemory", arguments)])
    );
}

#[test]
fn values_have_the_types_of_the_requests_own_schemas() {
    let schema = json!({"properties": {"id": {"type": "integer"}}});
    let policy = TurnPolicy { tools: [("a".to_owned(), schema)].into_iter().collect(), ..json() };
    let script = [say("<use_tool><name>a</name><id>42</id></use_tool>"), end()];
    assert_eq!(play(policy, &script), with_calls([called(0, "a", r#"{"id":42}"#)]));
    assert_eq!(play(json(), &script), with_calls([called(0, "a", r#"{"id":"42"}"#)]));
}

#[test]
fn arguments_are_carried_as_they_are_and_none_are_written_as_braces() {
    let broken = r#"{"x": "Par"#;
    let odd = r#"{ "a" :1,  "a":2 }"#;
    let script = [call("a", ""), call("b", broken), call("c", odd), end()];
    let calls = || [called(0, "a", "{}"), called(1, "b", broken), called(2, "c", odd)];
    assert_eq!(play(json(), &script), with_calls(calls()));
    let [a, b, c] = calls();
    assert_eq!(
        play(xml(), &script),
        with_calls([rendered("a", ""), a, rendered("b", broken), b, rendered("c", odd), c])
    );
    assert_eq!(
        play(json(), &[say("<use_tool><name>a</name></use_tool>"), end()]),
        with_calls([called(0, "a", "{}")])
    );
}

#[test]
fn a_block_that_is_too_long_to_be_held_is_text() {
    let long = block("a", &format!("{{\"x\":\"{}\"}}", "y".repeat(100)));
    let limits = Limits { held_bytes: 60, ..Limits::default() };
    let policy = TurnPolicy { limits, ..xml() };
    let short = block("b", "{}");
    let script = [say(&long), say(&short), end()];
    assert_eq!(
        play(policy.clone(), &script),
        with_calls([text(&long), shown(&short), called(0, "b", "{}")])
    );
    let letters: Vec<Line> =
        long.chars().map(|letter| say(letter.encode_utf8(&mut [0; 4]))).collect();
    assert_eq!(play(policy, &[letters, vec![end()]].concat()), only_text(&long));
}
