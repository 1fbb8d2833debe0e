//! `[[call NAME ARGS]]`, a format of these tests' own, added through the public trait.

use tool_call_aggregator::{BlockParser, Step, TextPattern};

#[derive(Debug)]
pub(crate) struct Bracket;

const MARKER: &str = "[[call ";
