//! An answer in which every piece says whose it is and which one it is of how many, so that a reader
//! who knows the request can tell whether a byte is missing, doubled or somebody else's.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::answer::{Call, Delivery, Script};
use crate::chunking::Chunking;
use crate::failures::ErrorReply;
use crate::scenario::Scene;

/// The tools that a marked answer calls, in turn.
const TOOLS: [&str; 3] = ["get_weather", "get_time", "lookup"];

/// Most pieces of each kind, and most bytes or milliseconds of each.
const MOST: u32 = 1_000_000;

/// What is said where the mark has no argument.
const EXAMPLE: &str = "example:1:3:1:2:0:0";

/// What a marked answer says: reasoning, a text with blocks at its end, and calls, in this order.
///
/// It is written and read as `ID:REASONING:WORDS:BLOCKS:CALLS:FILLER:PAUSE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedAnswer {
    /// In every piece. Letters and digits.
    pub id: String,
    /// Deltas of reasoning.
    pub reasoning: u32,
    /// Words of the text, each a delta.
    pub words: u32,
    /// `<use_tool>` blocks behind them, each with a word of its own behind it.
    pub blocks: u32,
    /// Structured calls.
    pub calls: u32,
    /// Bytes that make each word longer.
    pub filler: u32,
    /// Milliseconds after each delta.
    pub pause: u32,
}

/// A call, or the block of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedCall {
    /// Its tool.
    pub name: &'static str,
    /// The only argument.
    pub city: String,
}

/// Why a text is no marked answer.
#[derive(Debug, PartialEq, Eq)]
pub struct NotMarked;

// === impl MarkedAnswer ===

impl MarkedAnswer {
    /// The reasoning, delta by delta.
    pub fn reasoning(&self) -> impl Iterator<Item = String> + use<'_> {
        (0..self.reasoning).map(|number| format!("{}:r{number}/{} ", self.id, self.reasoning))
    }

    /// The words of the text, each with a blank behind it.
    pub fn words(&self) -> impl Iterator<Item = String> + use<'_> {
        let filler = usize::try_from(self.filler).unwrap_or(0);
        // Of the id too, so that not one byte of it could be anybody's.
        let filler: String = self.id.chars().cycle().take(filler).collect();
        (0..self.words).map(move |number| format!("{}:{number}/{}{filler} ", self.id, self.words))
    }

    /// The calls that are blocks of the text.
    pub fn blocks(&self) -> impl Iterator<Item = MarkedCall> + use<'_> {
        (0..self.blocks).map(|number| self.call('b', number, self.blocks))
    }

    /// The word behind a block.
    pub fn word_behind(&self, block: usize) -> String {
        format!("{}:behind{block} ", self.id)
    }

    /// The structured calls.
    pub fn calls(&self) -> impl Iterator<Item = MarkedCall> + use<'_> {
        (0..self.calls).map(|number| self.call('c', number, self.calls))
    }

    /// The whole text, delta by delta: a block is several.
    pub fn text(&self) -> Vec<String> {
        let mut deltas: Vec<String> = self.words().collect();
        for (index, block) in self.blocks().enumerate() {
            deltas.extend(block.block_deltas());
            deltas.push(self.word_behind(index));
        }
        deltas
    }

    /// The silence after each delta.
    pub fn pause(&self) -> Duration {
        Duration::from_millis(self.pause.into())
    }

    fn call(&self, kind: char, number: u32, of: u32) -> MarkedCall {
        let turn = usize::try_from(number).unwrap_or(0);
        let city = format!("{}:{kind}{number}/{of}", self.id);
        MarkedCall { name: TOOLS[turn % TOOLS.len()], city }
    }
}

impl fmt::Display for MarkedAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, reasoning, words, blocks, calls, filler, pause } = self;
        write!(f, "{id}:{reasoning}:{words}:{blocks}:{calls}:{filler}:{pause}")
    }
}

impl FromStr for MarkedAnswer {
    type Err = NotMarked;

    fn from_str(text: &str) -> Result<Self, NotMarked> {
        let (id, numbers) = text.split_once(':').ok_or(NotMarked)?;
        let numbers: Vec<u32> = numbers
            .split(':')
            .map(|number| number.parse().ok().filter(|number| *number <= MOST).ok_or(NotMarked))
            .collect::<Result<_, _>>()?;
        let [reasoning, words, blocks, calls, filler, pause] = numbers[..] else {
            return Err(NotMarked);
        };
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(NotMarked);
        }
        Ok(Self { id: id.to_owned(), reasoning, words, blocks, calls, filler, pause })
    }
}

// === impl MarkedCall ===

impl MarkedCall {
    /// The arguments of a structured call, as the model writes them.
    pub fn arguments(&self) -> String {
        format!(r#"{{"city": "{}"}}"#, self.city)
    }

    /// The call as a block of a text.
    pub fn block(&self) -> String {
        self.block_deltas().concat()
    }

    /// A tag in two pieces, and an argument in one.
    fn block_deltas(&self) -> [String; 4] {
        let Self { name, city } = self;
        [
            "<use".to_owned(),
            format!("_tool><name>{name}</name><city>"),
            city.clone(),
            "</city></use_tool>".to_owned(),
        ]
    }
}

/// Plays the answer that the mark describes.
pub(crate) fn marked(scene: &Scene<'_>) -> Result<Script, ErrorReply> {
    let answer: MarkedAnswer =
        scene.argument().unwrap_or(EXAMPLE).parse().map_err(|NotMarked| {
            ErrorReply::invalid_mark(
                "`[[marked:…]]` takes ID:REASONING:WORDS:BLOCKS:CALLS:FILLER:PAUSE",
            )
        })?;
    let mut script = scene.begin();
    if answer.reasoning > 0 {
        let reasoning: String = answer.reasoning().collect();
        script = script.reasoning(&[&reasoning], None);
    }
    let text = answer.text();
    if !text.is_empty() {
        let pause = Some(answer.pause()).filter(|pause| !pause.is_zero());
        let delivery = Delivery { chunking: Chunking::Words, pause };
        script = script.message_delivered(&text.concat(), None, delivery);
    }
    for call in answer.calls() {
        script = script.call(&Call::new(call.name, call.arguments()));
    }
    Ok(script.completed())
}

#[cfg(test)]
mod tests;
