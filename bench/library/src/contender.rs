//! Who takes part, and in which format.

use std::time::Duration;

use serde_json::Value;

use crate::corpus::Pattern;
use crate::format::Format;
use crate::reader::{Outcome, Reader, read, time};
use crate::{ours, peers};

/// A tool the parser is told of: peers read calls of declared tools only, and XML formats need types.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    pub name: String,
    /// JSON schema.
    pub parameters: Value,
}

/// One parser in one format.
pub trait Contender {
    fn label(&self) -> &'static str;
    fn format(&self) -> Format;
    fn ours(&self) -> bool;
    /// The time for all chunks and the end; not for making the parser, which is once a stream.
    fn time(&self, tools: &[Declared], chunks: &[&str]) -> Duration;
    fn read(&self, tools: &[Declared], chunks: &[&str]) -> Outcome;
}

struct Entry<F> {
    label: &'static str,
    format: Format,
    ours: bool,
    make: F,
}

/// Ours first: ratios are to the first one.
pub fn all() -> Vec<Box<dyn Contender>> {
    let peer = |label, format| (label, format, false);
    vec![
        // A peer looks for one format at a time.
        entry(("ours", Format::UseTool, true), |_| ours::Text::new(Pattern::UseTool)),
        entry(("ours", Format::ToolCall, true), |_| ours::Text::new(Pattern::ToolCall)),
        entry(peer("dynamo-parsers-v2 `kimi_k2`", Format::Kimi), |tools| {
            peers::dynamo::Dynamo::new("kimi_k2", tools)
        }),
        entry(peer("dynamo-parsers-v2 `qwen3_coder`", Format::QwenXml), |tools| {
            peers::dynamo::Dynamo::new("qwen3_coder", tools)
        }),
        entry(peer("tool-parser `QwenParser`", Format::ToolCall), |tools| {
            peers::tool_parser::Peer::new(tool_parser::QwenParser::new(), tools)
        }),
        entry(peer("tool-parser `QwenXmlParser`", Format::QwenXml), |tools| {
            peers::tool_parser::Peer::new(tool_parser::parsers::QwenXmlParser::new(), tools)
        }),
    ]
}

fn entry<R, F>((label, format, ours): (&'static str, Format, bool), make: F) -> Box<dyn Contender>
where
    R: Reader,
    F: Fn(&[Declared]) -> R + 'static,
{
    Box::new(Entry { label, format, ours, make })
}

// === impl Entry ===

impl<R: Reader, F: Fn(&[Declared]) -> R> Contender for Entry<F> {
    fn label(&self) -> &'static str {
        self.label
    }

    fn format(&self) -> Format {
        self.format
    }

    fn ours(&self) -> bool {
        self.ours
    }

    fn time(&self, tools: &[Declared], chunks: &[&str]) -> Duration {
        time((self.make)(tools), chunks)
    }

    fn read(&self, tools: &[Declared], chunks: &[&str]) -> Outcome {
        read((self.make)(tools), chunks)
    }
}
