//! The corpus of texts, cut in every way: whatever the chunks, the outcome is the expected one.

use crate::corpus::{TextCase, text_cases};
use crate::cuts::Dice;
use crate::reference::{decide, parse};
use crate::scan::{Reading, scan};

/// Every cut of an input up to here is tried.
const ONE_CUT: usize = 8 << 10;
/// Every pair of cuts of an input up to here is tried.
const TWO_CUTS: usize = 400;

/// Runs a check for each case that is short enough, and tells all that fail at once.
fn each(longest: usize, mut check: impl FnMut(&TextCase) -> Result<(), String>) {
    let cases: Vec<TextCase> =
        text_cases().into_iter().filter(|case| case.input.len() <= longest).collect();
    assert!(cases.len() >= 45, "{} cases", cases.len());
    let check = |case: &TextCase| check(case).err().map(|wrong| format!("{}: {wrong}", case.name));
    let wrong: Vec<String> = cases.iter().filter_map(check).collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// The input in these chunks gives what the case expects, and what the reference finds.
fn compare(case: &TextCase, chunks: &[&[u8]]) -> Result<(), String> {
    let found = scan(&case.grammars, chunks.iter().copied());
    if found == case.expected {
        return Ok(());
    }
    let lengths: Vec<usize> = chunks.iter().take(20).map(|chunk| chunk.len()).collect();
    let wrong = format!("{lengths:?}\n  expected {:?}\n  found    {found:?}", case.expected);
    Err(wrong.chars().take(4000).collect())
}

#[test]
fn in_one_piece() {
    each(usize::MAX, |case| {
        assert!(parse(&case.input, &case.grammars) == case.expected, "{}", case.name);
        compare(case, &[case.input.as_bytes()])
    });
}

#[test]
fn every_cut() {
    each(ONE_CUT, |case| {
        let input = case.input.as_bytes();
        (0..=input.len()).try_for_each(|at| compare(case, &[&input[..at], &input[at..]]))
    });
}

#[test]
fn every_pair_of_cuts() {
    each(TWO_CUTS, |case| {
        let input = case.input.as_bytes();
        (0..input.len()).try_for_each(|first| {
            (first..=input.len()).try_for_each(|second| {
                compare(case, &[&input[..first], &input[first..second], &input[second..]])
            })
        })
    });
}

#[test]
fn byte_by_byte() {
    each(usize::MAX, |case| {
        let bytes: Vec<&[u8]> = case.input.as_bytes().chunks(1).collect();
        compare(case, &bytes)
    });
}

#[test]
fn random_cuts() {
    let mut dice = Dice::new();
    each(usize::MAX, |case| {
        let longest = [4, 32, 256, 8 << 10, 256 << 10];
        let input = case.input.as_bytes();
        longest.into_iter().try_for_each(|longest| {
            let times = if input.len() > ONE_CUT { 2 } else { 40 };
            (0..times).try_for_each(|_| compare(case, &dice.chunks(input, longest)))
        })
    });
}

/// Nothing is held back that is certain, and nothing is said that is not.
#[test]
fn everything_certain_is_said_at_once() {
    each(TWO_CUTS, |case| {
        let mut reading = Reading::new(&case.grammars);
        case.input.char_indices().try_for_each(|(start, character)| {
            let sofar = &case.input[..start + character.len_utf8()];
            reading.push_str(&sofar[start..]);
            let (expected, held) = decide(sofar, &case.grammars);
            if reading.so_far().segments == expected.segments {
                return Ok(());
            }
            Err(format!("after {sofar:?}, {held:?} open: {:?}", reading.so_far().segments))
        })
    });
}
