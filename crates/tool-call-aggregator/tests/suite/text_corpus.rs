//! Every case about text, read in one piece.

use crate::corpus::text_cases;
use crate::reference::{Segment, parse};

#[test]
fn the_corpus_is_large_enough_and_loses_no_byte() {
    let cases = text_cases();
    assert!(cases.len() >= 45, "{} cases", cases.len());
    for case in cases {
        let mut again = String::new();
        for segment in &case.expected.segments {
            match segment {
                Segment::Text(text) => again.push_str(text),
                Segment::Block(block) => {
                    assert_eq!(block.start, again.len(), "{}", case.name);
                    again.push_str(&block.raw);
                }
            }
        }
        assert!(again == case.input, "{}: {again:?}", case.name);
    }
}

/// Only where each is right does a comparison with both say something.
#[test]
fn the_corpus_agrees_with_the_reference() {
    let mut wrong = Vec::new();
    for case in text_cases() {
        let found = parse(&case.input, &case.grammars);
        if found != case.expected {
            wrong.push(format!("{}\n  {found:?}\n  {:?}", case.name, case.expected));
        }
    }
    assert!(wrong.is_empty(), "reference, then expected:\n{}", wrong.join("\n"));
}
