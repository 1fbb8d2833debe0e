//! Scenarios whose answer is text.

use std::time::Duration;

use serde_json::json;

use crate::answer::{Answer, Delivery, Script};
use crate::chunking::Chunking;
use crate::events;
use crate::ids::Ids;
use crate::scenario::Scene;

pub(crate) const DEFAULT_TEXT: &str = "Hello from the scripted model.";

const USE_TOOL: &str = "Let me look that up in your notes.\n\n\
    <use_tool>\n<name>localSearch</name>\n<query>piano lessons</query>\n\
    <salientTerms>[\"piano\", \"lessons\"]</salientTerms>\n</use_tool>\n\n\
    I will go on when the results are here.";

const USE_TOOL_TWO: &str = "First the notes.\n\n\
    <use_tool>\n<name>localSearch</name>\n<query>piano lessons</query>\n\
    <salientTerms>[\"piano\", \"lessons\"]</salientTerms>\n</use_tool>\n\n\
    Then the web.\n\n\
    <use_tool>\n<name>webSearch</name>\n<query>piano teachers</query>\n</use_tool>\n\n\
    I will go on when both are here.";

/// The end of every marked scenario whose call was answered.
pub(crate) fn thanks(ids: &Ids) -> Script {
    Answer::begin(ids).message("Tool result received, thank you.").completed()
}

pub(crate) fn text(scene: &Scene<'_>) -> Script {
    scene.begin().message(scene.argument().unwrap_or(DEFAULT_TEXT)).completed()
}

pub(crate) fn echo(scene: &Scene<'_>) -> Script {
    echoed(scene, Chunking::Varying)
}

pub(crate) fn echo_chars(scene: &Scene<'_>) -> Script {
    echoed(scene, Chunking::Chars(1))
}

pub(crate) fn echo_whole(scene: &Scene<'_>) -> Script {
    echoed(scene, Chunking::Whole)
}

pub(crate) fn echo_slow(scene: &Scene<'_>) -> Script {
    let text = scene.mark.rest();
    let words = u32::try_from(text.split_whitespace().count()).unwrap_or(u32::MAX);
    let pause = scene.duration() / words.max(1);
    delivered(scene, &text, Delivery { chunking: Chunking::Words, pause: Some(pause) })
}

pub(crate) fn echo_reasoning(scene: &Scene<'_>) -> Script {
    let text = scene.mark.rest();
    scene.begin().reasoning(&[&text], None).message(&text).completed()
}

pub(crate) fn echo_hang(scene: &Scene<'_>) -> Script {
    scene.begin().message_begun(&scene.mark.rest(), 2).silence()
}

pub(crate) fn reasoning(scene: &Scene<'_>) -> Script {
    scene
        .begin()
        .reasoning(&["**Thinking** about it", "Second part here"], None)
        .message("Answer after reasoning.")
        .completed()
}

pub(crate) fn raw_reasoning(scene: &Scene<'_>) -> Script {
    scene
        .begin()
        .reasoning(&[], Some("raw chain of thought text"))
        .message("Answer after raw reasoning.")
        .completed()
}

pub(crate) fn two_messages(scene: &Scene<'_>) -> Script {
    scene
        .begin()
        .message_in_phase("Commentary first.", "commentary")
        .message_in_phase("Final text.", "final_answer")
        .completed()
}

pub(crate) fn json(scene: &Scene<'_>) -> Script {
    scene.begin().message(r#"{"answer": 42}"#).completed()
}

/// As a string, so that the object fits one schema whatever the schema says.
pub(crate) fn schema(scene: &Scene<'_>) -> Script {
    let schema = scene.request.schema().to_string();
    scene.begin().message(&json!({ "wanted": schema }).to_string()).completed()
}

pub(crate) fn recall(scene: &Scene<'_>) -> Script {
    scene.begin().message(&scene.request.recalled().join("\n")).completed()
}

pub(crate) fn no_usage(scene: &Scene<'_>) -> Script {
    scene.begin().message("No usage.").completed_with(&serde_json::Value::Null)
}

pub(crate) fn usage(scene: &Scene<'_>) -> Script {
    scene.begin().message(DEFAULT_TEXT).completed_with(&events::usage(scene.number, 0))
}

pub(crate) fn no_deltas(scene: &Scene<'_>) -> Script {
    scene.begin().message_without_deltas("This text came without a delta.").completed()
}

pub(crate) fn use_tool(scene: &Scene<'_>) -> Script {
    let chunking = match scene.argument() {
        Some(_) => Chunking::AfterByte(scene.count()),
        None => Chunking::Chars(1),
    };
    delivered(scene, USE_TOOL, Delivery::at_once(chunking))
}

pub(crate) fn use_tool_two(scene: &Scene<'_>) -> Script {
    delivered(scene, USE_TOOL_TWO, Delivery::at_once(Chunking::Varying))
}

pub(crate) fn big(scene: &Scene<'_>) -> Script {
    let text = "z".repeat(scene.count());
    delivered(scene, &text, Delivery::at_once(Chunking::Chars(1_000)))
}

pub(crate) fn big_delta(scene: &Scene<'_>) -> Script {
    let text = "z".repeat(scene.count());
    delivered(scene, &text, Delivery::at_once(Chunking::Whole))
}

pub(crate) fn slow(scene: &Scene<'_>) -> Script {
    let words = 20;
    let pause: Duration = scene.duration() / words;
    let text = "word ".repeat(20);
    delivered(scene, &text, Delivery { chunking: Chunking::Words, pause: Some(pause) })
}

pub(crate) fn empty(scene: &Scene<'_>) -> Script {
    scene.begin().completed()
}

pub(crate) fn hang(scene: &Scene<'_>) -> Script {
    scene.begin().message_begun("This begins and then hangs.", 1).silence()
}

pub(crate) fn silent(scene: &Scene<'_>) -> Script {
    scene.begin().silence()
}

fn echoed(scene: &Scene<'_>, chunking: Chunking) -> Script {
    delivered(scene, &scene.mark.rest(), Delivery::at_once(chunking))
}

fn delivered(scene: &Scene<'_>, text: &str, delivery: Delivery) -> Script {
    scene.begin().message_delivered(text, None, delivery).completed()
}
