//! What an answer must say, piece by piece, and how far it has come.

use std::fmt::Debug;

use scripted_model::{MarkedAnswer, MarkedCall};

/// How calls are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Json,
    Xml,
}

/// A part of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Reasoning(String),
    Text(String),
    Call {
        name: String,
        arguments: String,
        /// The block that it is made of, where that is not shown.
        hidden: String,
    },
}

/// Everything that one choice must say, in this order and nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Expected {
    pub(crate) parts: Vec<Part>,
}

/// How much of it has come.
#[derive(Debug)]
pub(crate) struct Progress<'a> {
    expected: &'a Expected,
    /// The part that is next, and how much of it has come.
    part: usize,
    bytes: usize,
    pub(crate) calls: usize,
    /// How much of a block was said as text, because it will never be complete.
    torn: usize,
    /// Whether a call has begun.
    in_call: bool,
}

// === impl Mode ===

impl Mode {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Json => "openai-json",
            Self::Xml => "obsidian-xml",
        }
    }
}

// === impl Expected ===

impl Expected {
    /// What our server makes of an answer, in a stream.
    pub(crate) fn of(answer: &MarkedAnswer, mode: Mode) -> Self {
        let mut expected = Self { parts: Vec::new() };
        expected.push(Part::Reasoning(answer.reasoning().collect()));
        expected.push(Part::Text(answer.words().collect()));
        for (index, call) in answer.blocks().enumerate() {
            // A word behind a call is kept only if another call follows.
            if let Some(before) = index.checked_sub(1) {
                expected.push(Part::Text(answer.word_behind(before)));
            }
            let arguments = format!(r#"{{"city":"{}"}}"#, call.city);
            match mode {
                Mode::Json => expected.push_call(call.name, arguments, call.block()),
                Mode::Xml => {
                    expected.push(Part::Text(call.block()));
                    expected.push_call(call.name, arguments, String::new());
                }
            }
        }
        if let (Some(last), 1..) = (answer.blocks().count().checked_sub(1), answer.calls) {
            expected.push(Part::Text(answer.word_behind(last)));
        }
        for call in answer.calls() {
            if mode == Mode::Xml {
                expected.push(Part::Text(rendered(&call)));
            }
            expected.push_call(call.name, call.arguments(), String::new());
        }
        expected
    }

    fn push_call(&mut self, name: &str, arguments: String, hidden: String) {
        self.parts.push(Part::Call { name: name.to_owned(), arguments, hidden });
    }

    /// Texts without anything in between are one.
    fn push(&mut self, part: Part) {
        match (self.parts.last_mut(), part) {
            (Some(Part::Text(text)), Part::Text(more)) => text.push_str(&more),
            (_, Part::Text(text) | Part::Reasoning(text)) if text.is_empty() => {}
            (_, part) => self.parts.push(part),
        }
    }

    pub(crate) fn progress(&self) -> Progress<'_> {
        Progress { expected: self, part: 0, bytes: 0, calls: 0, torn: 0, in_call: false }
    }

    /// The text that a message has, all together.
    pub(crate) fn text(&self) -> String {
        let texts = self.parts.iter().map(|part| match part {
            Part::Text(text) => text.as_str(),
            Part::Reasoning(_) | Part::Call { .. } => "",
        });
        texts.collect()
    }

    pub(crate) fn reasoning(&self) -> &str {
        match self.parts.first() {
            Some(Part::Reasoning(text)) => text,
            _ => "",
        }
    }

    /// Name and arguments of each call.
    pub(crate) fn calls(&self) -> Vec<(&str, &str)> {
        let calls = self.parts.iter().filter_map(|part| match part {
            Part::Call { name, arguments, .. } => Some((name.as_str(), arguments.as_str())),
            Part::Reasoning(_) | Part::Text(_) => None,
        });
        calls.collect()
    }
}

/// A structured call as our server writes it into a text.
fn rendered(call: &MarkedCall) -> String {
    let MarkedCall { name, city } = call;
    format!("<use_tool>\n  <name>{name}</name>\n  <city>{city}</city>\n</use_tool>")
}

// === impl Progress ===

impl Progress<'_> {
    pub(crate) fn take_text(&mut self, piece: &str) -> Result<(), String> {
        match self.expected.parts.get(self.part) {
            Some(Part::Text(text)) => {
                let rest = &text[self.bytes..];
                self.take(rest, piece)
            }
            Some(Part::Call { hidden, .. })
                if !self.in_call && hidden[self.torn..].starts_with(piece) =>
            {
                self.torn += piece.len();
                Ok(())
            }
            other => Err(format!("the text {} where {} is due", start_of(piece), told(other))),
        }
    }

    pub(crate) fn take_reasoning(&mut self, piece: &str) -> Result<(), String> {
        match self.expected.parts.get(self.part) {
            Some(Part::Reasoning(text)) => {
                let rest = &text[self.bytes..];
                self.take(rest, piece)
            }
            other => Err(format!("the reasoning {} where {} is due", start_of(piece), told(other))),
        }
    }

    /// A call that begins, under its name, or more of its arguments.
    pub(crate) fn take_call(&mut self, name: Option<&str>, piece: &str) -> Result<(), String> {
        let begins = |due: &str| match name {
            Some(name) => name == due && !self.in_call && self.torn == 0,
            None => self.in_call,
        };
        match self.expected.parts.get(self.part) {
            Some(Part::Call { name: due, arguments, .. }) if begins(due) => {
                let (before, rest) = (self.part, &arguments[self.bytes..]);
                self.in_call = true;
                self.take(rest, piece)?;
                if self.part > before {
                    self.in_call = false;
                    self.calls += 1;
                }
                Ok(())
            }
            other => Err(format!("the call {name:?} {piece} where {} is due", told(other))),
        }
    }

    fn take(&mut self, rest: &str, piece: &str) -> Result<(), String> {
        if !rest.starts_with(piece) {
            return Err(format!("{} where {} is due", start_of(piece), start_of(rest)));
        }
        self.bytes += piece.len();
        if piece.len() == rest.len() {
            self.part += 1;
            self.bytes = 0;
        }
        Ok(())
    }

    /// Whether a part of a block was sent as text, or a part of a call. An answer that ends well has
    /// neither.
    pub(crate) fn is_torn(&self) -> bool {
        self.torn > 0 || self.in_call
    }

    /// What is missing of a whole answer.
    pub(crate) fn missing(&self) -> Option<String> {
        let part = self.expected.parts.get(self.part)?;
        Some(format!("{} is missing from byte {}", told(Some(part)), self.bytes))
    }
}

fn told(part: Option<&Part>) -> String {
    part.map_or("nothing".to_owned(), start_of)
}

/// The beginning of something that may be long.
pub(crate) fn start_of(told: impl Debug) -> String {
    let told = format!("{told:?}");
    match told.char_indices().nth(120) {
        Some((end, _)) => format!("{}…", &told[..end]),
        None => told,
    }
}
