//! The format: a header, and then whatever happened, one JSON object a line.

mod format_1;

use std::io::{self, BufRead, Write};

use bridge::{EndReason, TurnPolicy};
use model_turn::TurnEvent;
use openai_wire::{Usage, chat, responses};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::report::Report;
use crate::response::ResponseHeader;
use format_1::OldEnd;

/// The version of the format. Version 1 can be read too.
pub const FORMAT: u32 = 2;

/// Far more than a request may ask for; each takes memory before anything is read.
const MOST_CHOICES: u32 = 128;

/// Everything about one request.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// What is known before its turns run.
    pub header: Header,
    /// What happened, in order.
    pub entries: Vec<Entry>,
}

/// What is known of a request before its turns run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`]
    pub capture: u32,
    /// Our version.
    pub version: String,
    /// The version of Codex, if one was running.
    pub codex: Option<String>,
    /// When the request came, in UTC.
    pub time: String,
    /// The API that the request used.
    #[serde(flatten)]
    pub api: Api,
    /// Its name in the log.
    pub request_id: String,
    /// What was taken out.
    pub redaction: Redaction,
    /// The header `x-proxy-output-mode`.
    pub requested_mode: Option<String>,
    /// Settings that differ from their defaults.
    pub settings: String,
    /// The model as the client names it.
    pub model: String,
    /// The real one.
    pub backend_model: String,
    /// Whether the answer is streamed.
    pub stream: bool,
    /// Whether a stream ends with the usage.
    pub include_usage: bool,
    /// How many answers there are.
    pub choices: u32,
    /// The answer's id.
    pub id: String,
    /// When the answer was made, in seconds since 1970.
    pub created: u64,
    /// What decides what becomes of the events.
    pub policy: TurnPolicy,
    /// The request.
    pub request: Value,
}

/// The API that a request used, and what else its answer repeats of the request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "endpoint")]
pub enum Api {
    /// Chat completions.
    #[serde(rename = "/v1/chat/completions")]
    Chat,
    /// Responses.
    #[serde(rename = "/v1/responses")]
    Responses {
        /// What the response has beside its items.
        response: Box<ResponseHeader>,
    },
}

/// What was taken out of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Redaction {
    /// Nothing: everything that was said can be read.
    None,
    /// Every word that was said; replayed, the record does the same as before.
    Exact,
    /// The same, and replayed it does something else: the words themselves mattered.
    Inexact,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Microseconds since the turns were started.
    pub at: u64,
    /// What it was.
    #[serde(flatten)]
    pub what: What,
}

/// What happened: everything that decides about an answer, and the answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum What {
    /// A turn has said something.
    Event {
        /// The choice that it is for.
        choice: u32,
        /// Exactly what it said.
        event: TurnEvent,
    },
    /// A choice was ended by the clock.
    Clock {
        /// Which one.
        choice: u32,
    },
    /// A random suffix was drawn for a call's id.
    Suffix(String),
    /// The tokenizer has given this number.
    Tokens(usize),
    /// The head of a stream was made: a later failure is a frame.
    Head {},
    /// A comment was sent because nothing else was.
    KeepAlive {},
    /// Another request has cancelled the answer.
    Cancel {},
    /// The client took no more of it, for this reason.
    Abandon(EndReason),
    /// The turns were over, and no failure.
    Settle {
        /// The token counts that the client gets, if it wants them.
        usage: Option<Usage>,
        /// The time, in seconds since 1970.
        at: u64,
    },
    /// Whether the answer is stored.
    Stored(bool),
    /// Frames that were sent together.
    Sent(String),
    /// An answer that is not streamed.
    Answer {
        /// Its status.
        status: u16,
        /// Its body.
        body: String,
    },
    /// More happened than is recorded.
    Cut {
        /// How much a record may hold.
        limit: usize,
    },
    /// What became of each choice.
    End(Vec<Report>),
}

/// What a client received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received {
    /// These frames.
    Stream(String),
    /// A whole answer.
    Whole {
        /// Its status.
        status: u16,
        /// Its body.
        body: String,
    },
    /// Nothing.
    Nothing,
}

/// Why something is not a record.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The input cannot be read.
    #[error("line {line}: {source}")]
    Io {
        /// Where.
        line: usize,
        /// Why.
        source: io::Error,
    },
    /// A line is not what the format says.
    #[error("line {line}: {source}")]
    Line {
        /// Where.
        line: usize,
        /// Why.
        source: serde_json::Error,
    },
    /// There is nothing in it.
    #[error("there is no header: the input is empty")]
    Empty,
    /// Another version wrote it.
    #[error("line 1: the format is {found}, and this version reads 1 to {FORMAT}")]
    Format {
        /// What it says.
        found: u64,
    },
    /// The answer has more choices than any.
    #[error("line {line}: there are {found} choices, more than {MOST_CHOICES}")]
    Choices {
        /// Where.
        line: usize,
        /// How many.
        found: u32,
    },
    /// An entry is about a choice that the answer does not have.
    #[error("line {line}: there is no choice {choice}")]
    Choice {
        /// Where.
        line: usize,
        /// Which one.
        choice: u32,
    },
}

// === impl Record ===

impl Record {
    /// Reads a record.
    ///
    /// # Errors
    /// What is wrong with it, and in which line.
    pub fn read(input: impl BufRead) -> Result<Self, ReadError> {
        let mut header = None;
        let mut entries = Vec::new();
        let mut old_end = None;
        for (line, text) in (1..).zip(input.lines()) {
            let text = text.map_err(|source| ReadError::Io { line, source })?;
            if text.trim().is_empty() {
                continue;
            }
            match &header {
                None => {
                    let first = header.insert(read_header(&text, line)?);
                    old_end = (first.capture == 1).then(OldEnd::default);
                }
                Some(_) if old_end.as_mut().is_some_and(|end| end.take(&text)) => {}
                Some(header) => entries.push(read_entry(&text, line, header)?),
            }
        }
        let mut record = Self { header: header.ok_or(ReadError::Empty)?, entries };
        if let Some(end) = old_end {
            end.add_to(&mut record);
        }
        Ok(record)
    }

    /// Writes it, one object a line.
    ///
    /// # Errors
    /// What the output says.
    pub fn write(&self, mut output: impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut output, &self.header)?;
        output.write_all(b"\n")?;
        for entry in &self.entries {
            serde_json::to_writer(&mut output, entry)?;
            output.write_all(b"\n")?;
        }
        output.flush()
    }

    /// What the client received.
    pub fn received(&self) -> Received {
        let mut frames = String::new();
        for entry in &self.entries {
            match &entry.what {
                What::Sent(sent) => frames.push_str(sent),
                What::Answer { status, body } => {
                    return Received::Whole { status: *status, body: body.clone() };
                }
                _ => {}
            }
        }
        if frames.is_empty() { Received::Nothing } else { Received::Stream(frames) }
    }

    /// What became of each choice; none if the record ends before that is known.
    pub fn reports(&self) -> &[Report] {
        let reports = self.entries.iter().rev().find_map(|entry| match &entry.what {
            What::End(reports) => Some(reports.as_slice()),
            _ => None,
        });
        reports.unwrap_or_default()
    }

    /// Whether it says that the client did not take the whole answer.
    pub(crate) fn client_left(&self) -> bool {
        // Also after its turns had ended.
        let left = |entry: &Entry| matches!(entry.what, What::Abandon(reason) if reason.is_left());
        self.reports().iter().any(|report| report.stop_reason.is_left())
            || self.entries.iter().any(left)
    }

    /// Whether more happened than it holds.
    pub fn is_cut(&self) -> bool {
        self.entries.iter().any(|entry| matches!(entry.what, What::Cut { .. }))
    }
}

// === impl Api ===

impl Api {
    /// Its path.
    pub fn path(&self) -> &'static str {
        match self {
            Self::Chat => chat::PATH,
            Self::Responses { .. } => responses::PATH,
        }
    }
}

// === impl Received ===

impl Received {
    /// The frames, or the body.
    pub fn text(&self) -> &str {
        match self {
            Self::Stream(text) | Self::Whole { body: text, .. } => text,
            Self::Nothing => "",
        }
    }
}

fn read_header(text: &str, line: usize) -> Result<Header, ReadError> {
    #[derive(Deserialize)]
    struct Version {
        capture: u64,
    }
    let wrong = |source| ReadError::Line { line, source };
    // Before anything that another version may write in another way.
    let Version { capture: found } = serde_json::from_str(text).map_err(wrong)?;
    if !(1..=u64::from(FORMAT)).contains(&found) {
        return Err(ReadError::Format { found });
    }
    let header: Header = serde_json::from_str(text).map_err(wrong)?;
    match header.choices {
        found if found > MOST_CHOICES => Err(ReadError::Choices { line, found }),
        _ => Ok(header),
    }
}

fn read_entry(text: &str, line: usize, header: &Header) -> Result<Entry, ReadError> {
    let entry: Entry =
        serde_json::from_str(text).map_err(|source| ReadError::Line { line, source })?;
    match entry.what {
        What::Event { choice, .. } | What::Clock { choice } if choice >= header.choices => {
            Err(ReadError::Choice { line, choice })
        }
        _ => Ok(entry),
    }
}
