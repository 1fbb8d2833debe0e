//! Random texts made of the grammar's own pieces, which come near a block far more often than
//! random characters do; failures are shrunk.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::cuts::seed;
use crate::reference::{Grammar, Outcome, Segment, decide, parse};

const PIECES: &[&str] = &[
    "<use_tool>",
    "<use_tool>",
    "<use_tool",
    "<use_tool ",
    "<use_tool name=\"x\">",
    "<use_tool name='",
    "</use_tool>",
    "</use_tool>",
    "</use_tool",
    "<use_tool><name>x</name>",
    "<use_tool><name>x</name><args>{\"a\":\"",
    "<use_tool>{\"name\":\"x\"",
    "<use_tools>",
    "<name>",
    "</name>",
    "<args>",
    "</args>",
    "</args ",
    "<p>",
    "</p>",
    "<path>",
    "</path>",
    "<notePath>n</notePath>",
    "<salientTerms>",
    "</salientTerms>",
    "readNote",
    "localSearch",
    "<tool_call>",
    "<tool_call>{\"name\":\"y\"",
    "</tool_call>",
    "<tool_call",
    "</tool_call",
    "{\"name\":\"x\",\"arguments\":",
    ",\"parameters\":",
    "{\"a\":1}",
    "[1, 2]",
    "[[call ",
    "[[call z q]]",
    "]]",
    "<",
    "</",
    ">",
    "\"",
    "'",
    "\\",
    "{",
    "}",
    "[",
    "=",
    "name",
    "a",
    "1",
    "é",
    "🙂",
    "\u{a0}",
    " ",
    "\n",
    "\u{c}",
    "\0",
];

const GRAMMARS: &[&[Grammar]] = &[
    &[Grammar::UseTool],
    &[Grammar::UseTool],
    &[Grammar::ToolCall],
    &[Grammar::UseTool, Grammar::ToolCall],
    &[Grammar::UseTool, Grammar::ToolCall, Grammar::Bracket],
    &[Grammar::UseTool, Grammar::Bracket],
];

fn texts() -> impl Strategy<Value = String> {
    vec(select(PIECES), 0..32).prop_map(|pieces| pieces.concat())
}

fn grammars() -> impl Strategy<Value = &'static [Grammar]> {
    select(GRAMMARS)
}

/// A runner that `SEED` repeats.
fn runner(cases: u32) -> TestRunner {
    let seed = seed();
    println!("SEED={seed}");
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let bytes = [seed.to_le_bytes(), [0; 8], [0; 8], [0; 8]].concat();
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// Whether the one outcome may become the other when more text arrives.
fn leads_to(early: &Outcome, late: &Outcome) -> bool {
    let Some((last, before)) = early.segments.split_last() else { return true };
    let goes_on = match (last, late.segments.get(before.len())) {
        (Segment::Text(short), Some(Segment::Text(long))) => long.starts_with(short.as_str()),
        (last, there) => there == Some(last),
    };
    goes_on && late.segments.starts_with(before) && early.unnamed <= late.unnamed
}

/// A grammar that changed its mind about a text could not be streamed.
#[test]
fn what_the_reference_has_decided_stays_so() {
    let law = |(text, grammars): (String, &'static [Grammar])| {
        let whole = parse(&text, grammars);
        for (end, _) in text.char_indices() {
            let (early, _) = decide(&text[..end], grammars);
            prop_assert!(leads_to(&early, &whole), "{:?}: {early:?} {whole:?}", &text[..end]);
        }
        Ok(())
    };
    runner(2000).run(&(texts(), grammars()), law).unwrap();
}
