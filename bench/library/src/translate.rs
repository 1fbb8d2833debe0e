//! The same prose and calls in the format of a peer, so that it is judged on what it claims only.

use serde_json::Value;

use crate::contender::Declared;
use crate::corpus::{Block, Case, Segment};
use crate::format::{Format, Plain, declare};

/// A case of the corpus in another format.
#[derive(Debug)]
pub struct Translated {
    pub name: String,
    pub text: String,
    pub tools: Vec<Declared>,
    pub expected_text: String,
    /// How much of the expected text comes before the first call.
    pub before: usize,
    pub expected_calls: Vec<(String, Value)>,
}

/// None if the format cannot carry the case: arguments that are no JSON object, its own markers in
/// prose or values, or a call in quotes or a code fence, which some readers leave alone on purpose.
pub fn translate(case: &Case, format: Format) -> Option<Translated> {
    let (mut text, mut prose) = (String::new(), String::new());
    let mut before = None;
    let mut calls: Vec<Plain> = Vec::new();
    let mut after_call = false;
    for segment in &case.expected {
        match segment {
            Segment::Text(more) => {
                text.push_str(more);
                prose.push_str(more);
                after_call = false;
            }
            Segment::Block(block) => {
                if after_call {
                    // The templates of the models have a new line between calls.
                    text.push('\n');
                    prose.push('\n');
                }
                let call = plain(block)?;
                (format.carries(&call) && !is_quoted(&prose)).then_some(())?;
                before.get_or_insert(prose.len());
                format.write(&mut text, &call, calls.len());
                calls.push(call);
                after_call = true;
            }
        }
    }
    let tools = declare(&calls);
    (format.carries_prose(&prose) && !(tools.disagree && format == Format::QwenXml))
        .then_some(())?;
    Some(Translated {
        name: case.name.clone(),
        text,
        tools: tools.declared,
        before: before.unwrap_or(prose.len()),
        expected_text: prose,
        expected_calls: calls.into_iter().map(|call| (call.name, call.arguments)).collect(),
    })
}

fn plain(block: &Block) -> Option<Plain> {
    let arguments = serde_json::from_str(&block.args_text).ok()?;
    Some(Plain { name: block.name.clone(), arguments, text: block.args_text.clone() })
}

/// Whether what follows this prose stands in quotes or in a code fence.
fn is_quoted(prose: &str) -> bool {
    ["\"", "```"].iter().any(|quote| prose.matches(quote).count() % 2 == 1)
}
