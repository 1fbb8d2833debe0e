//! Random texts made of the grammar's own pieces, which come near a block far more often than
//! random characters do; failures are shrunk.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use tool_call_aggregator::extract_use_tool_blocks;

use crate::cuts::seed;
use crate::reference::{Block, Grammar, Outcome, Segment, decide, parse};
use crate::scan::{Reading, scan};

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
    "{\"a\":\"b\" c\"}",
    "{\"a\":\"</args></use_tool>\"}",
    "{\"</args></use_tool>",
    "\\\"",
    "\\u00e9",
    "\",\"",
    ":\"",
    "-1.5e+3",
    "true",
    "nul",
    "```",
    "\n```\n",
    "\n````xml\n",
    "\n   ```",
    "\n~~~ x\n",
    "~",
    "`",
    "\r\n",
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
    &[Grammar::UseTool, Grammar::Fences],
    &[Grammar::UseTool, Grammar::ToolCall, Grammar::Bracket, Grammar::Fences],
];

/// Beginnings and ends that belong together.
const PAIRS: &[(&str, &str)] = &[
    ("<use_tool><name>x</name>", "</use_tool>"),
    ("<use_tool name='localSearch'>", "</use_tool >"),
    ("<use_tool><name>readNote</name>", "</use_tool>"),
    ("<use_tool><name>x</name><args>{", "}</args></use_tool>"),
    ("<use_tool><name>x</name><args>[\"", "\"]</args></use_tool>"),
    ("<use_tool>{\"name\":\"x\",\"a\":\"", "\"}</use_tool>"),
    ("<use_tool>{\"name\":\"x\"", "}</use_tool>"),
    ("<use_tool name=\"x\">[", "]</use_tool>"),
    ("<tool_call>{\"name\":\"y\"", "}</tool_call>"),
    ("<tool_call>{\"name\":\"y\",\"arguments\":\"", "\"}</tool_call>"),
    ("[[call ", "]]"),
    ("\n```\n", "\n```\n"),
    ("~~~\n", "\n~~~~\n"),
    ("```", "```"),
    ("<use_tool><name>x</name><args>{\"a\":\"", "\"}</args></use_tool>"),
    ("<p>", "</p>"),
    ("<path>", "</path>"),
    ("<args>", "</args>"),
    ("<salientTerms>", "</salientTerms>"),
];

fn texts() -> impl Strategy<Value = String> {
    let pieces = || vec(select(PIECES), 0..6).prop_map(|pieces| pieces.concat());
    let inside = vec(paired(pieces()), 0..3).prop_map(|parts| parts.concat());
    let inside = prop_oneof![pieces(), inside];
    vec(prop_oneof![pieces(), paired(inside)], 0..6).prop_map(|parts| parts.concat())
}

fn paired(inside: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    (select(PAIRS), inside).prop_map(|((start, end), inside)| [start, &inside, end].concat())
}

fn grammars() -> impl Strategy<Value = &'static [Grammar]> {
    select(GRAMMARS)
}

/// A runner that `SEED` repeats; `TIMES` makes it longer.
pub(crate) fn runner(cases: u32) -> TestRunner {
    let times = std::env::var("TIMES").map_or(1, |times| times.parse().expect("a number"));
    let cases = cases * times;
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

/// Otherwise the comparisons below would compare plain text with plain text.
#[test]
fn many_random_texts_hold_blocks() {
    let mut runner = runner(1);
    let mut with_blocks = 0;
    for _ in 0..1000 {
        let (text, grammars) = (texts(), grammars()).new_tree(&mut runner).unwrap().current();
        with_blocks += usize::from(!blocks(&parse(&text, grammars)).is_empty());
    }
    assert!(with_blocks > 200, "{with_blocks} of 1000");
}

fn blocks(outcome: &Outcome) -> Vec<Block> {
    let block = |segment: &Segment| match segment {
        Segment::Text(_) => None,
        Segment::Block(block) => Some(block.clone()),
    };
    outcome.segments.iter().filter_map(block).collect()
}

fn cut<'b>(bytes: &'b [u8], cuts: &[Index]) -> Vec<&'b [u8]> {
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    ends.push(bytes.len());
    ends.sort_unstable();
    let mut start = 0;
    ends.into_iter().map(|end| &bytes[std::mem::replace(&mut start, end)..end]).collect()
}

#[test]
fn random_texts_in_one_piece_and_in_random_chunks() {
    let law = |(text, grammars, cuts): (String, &'static [Grammar], Vec<Index>)| {
        let expected = parse(&text, grammars);
        prop_assert_eq!(&scan(grammars, [text.as_bytes()]), &expected);
        prop_assert_eq!(&scan(grammars, cut(text.as_bytes(), &cuts)), &expected);
        Ok(())
    };
    runner(20_000).run(&(texts(), grammars(), vec(any::<Index>(), 0..6)), law).unwrap();
}

#[test]
fn random_texts_are_said_as_soon_as_they_are_certain() {
    let law = |(text, grammars): (String, &'static [Grammar])| {
        let mut reading = Reading::new(grammars);
        for (start, character) in text.char_indices() {
            let end = start + character.len_utf8();
            reading.push_str(&text[start..end]);
            let (expected, _) = decide(&text[..end], grammars);
            prop_assert_eq!(&reading.so_far().segments, &expected.segments, "{:?}", &text[..end]);
        }
        Ok(())
    };
    runner(5000).run(&(texts(), grammars()), law).unwrap();
}

/// Bytes that are not UTF-8 are read as the replacement character, wherever they are cut.
#[test]
fn random_bytes_are_read_as_lossy_text() {
    const NOT_UTF8: &[&[u8]] =
        &[b"\xff", b"\xc3", b"\xa9", b"\xf0\x9f", b"\x99\x82", b"\xed\xa0\x80"];
    let piece = prop_oneof![
        3 => texts().prop_map(String::into_bytes),
        2 => select(NOT_UTF8).prop_map(<[u8]>::to_vec),
    ];
    let law = |(pieces, cuts): (Vec<Vec<u8>>, Vec<Index>)| {
        let bytes = pieces.concat();
        let expected = parse(&String::from_utf8_lossy(&bytes), &[Grammar::UseTool]);
        let grammars = &[Grammar::UseTool];
        prop_assert_eq!(&scan(grammars, [&bytes[..]]), &expected);
        prop_assert_eq!(&scan(grammars, cut(&bytes, &cuts)), &expected);
        prop_assert_eq!(&scan(grammars, bytes.chunks(1)), &expected);
        Ok(())
    };
    runner(5000).run(&(vec(piece, 0..5), vec(any::<Index>(), 0..6)), law).unwrap();
}

/// A text that grows, read from where the last reading ended: the same blocks as all at once.
#[test]
fn random_texts_extracted_as_they_grow() {
    let law = |(text, cuts): (String, Vec<Index>)| {
        let expected = blocks(&decide(&text, &[Grammar::UseTool]).0);
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        ends.retain(|end| text.is_char_boundary(*end));
        ends.sort_unstable();
        ends.push(text.len());
        let (mut found, mut next) = (Vec::new(), 0);
        for end in ends {
            let extracted = extract_use_tool_blocks(&text[..end], next);
            found.extend(extracted.blocks.into_iter().map(Block::from));
            prop_assert!(next <= extracted.next && extracted.next <= end);
            next = extracted.next;
        }
        prop_assert_eq!(found, expected);
        Ok(())
    };
    runner(5000).run(&(texts(), vec(any::<Index>(), 0..6)), law).unwrap();
}
