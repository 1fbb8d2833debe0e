//! `[[call NAME ARGS]]`, a format of these tests' own, added through the public trait.

use tool_call_aggregator::{BlockParser, NotACall, Step, TextPattern};

#[derive(Debug)]
pub(crate) struct Bracket;

#[derive(Debug)]
struct Parser;

const MARKER: &str = "[[call ";

impl TextPattern for Bracket {
    fn open_markers(&self) -> &[&str] {
        &[MARKER]
    }

    fn open(&self) -> Box<dyn BlockParser> {
        Box::new(Parser)
    }
}

impl BlockParser for Parser {
    fn step(&mut self, buffer: &str, fresh: usize) -> Step {
        // A `]` that was the last byte seen may be the first half of the end.
        let from = fresh.saturating_sub(1).max(MARKER.len());
        let unseen = &buffer.as_bytes()[from..];
        let line_end = unseen.iter().position(|byte| *byte == b'\n').map(|at| from + at);
        let close = unseen.windows(2).position(|pair| pair == b"]]").map(|at| from + at);
        match (close, line_end) {
            (Some(close), line_end) if line_end.is_none_or(|line_end| close < line_end) => {
                let inside = buffer[MARKER.len()..close].trim();
                let (name, args) = inside.split_once(char::is_whitespace).unwrap_or((inside, ""));
                let end = close + 2;
                if name.is_empty() {
                    return Step::Text { end, why: NotACall::Unnamed };
                }
                Step::Block { end, name: name.to_owned(), args_text: args.trim().to_owned() }
            }
            (_, Some(_)) => Step::Text { end: MARKER.len(), why: NotACall::NoBlock },
            _ => Step::Undecided,
        }
    }
}
