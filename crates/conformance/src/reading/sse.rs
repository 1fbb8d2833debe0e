//! Server-sent events, as the standard has them, from bytes as they come.

use std::{fmt, mem};

use serde_json::Value;

/// What a stream consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// A line that clients skip.
    Comment(String),
    /// An event.
    Event {
        /// Its name, if it has one.
        name: Option<String>,
        /// Its data.
        data: String,
    },
    /// The beginning of an event whose end never came.
    Unfinished(String),
}

/// A frame, and how it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The frame.
    pub frame: Frame,
    /// The offset of its end in the stream.
    pub end: usize,
    /// Whether it is written in the shortest way, as our own server does.
    pub is_plain: bool,
}

/// Puts frames together from whatever pieces come.
#[derive(Debug, Default)]
pub struct SseReader {
    offset: usize,
    /// What has come of a line that has not ended.
    line: Vec<u8>,
    block: Block,
}

/// Lines up to an empty one.
#[derive(Debug, Default)]
struct Block {
    /// All of it as it came, with empty lines before it.
    raw: Vec<u8>,
    comments: Vec<String>,
    has_fields: bool,
    name: Option<String>,
    data: Vec<String>,
}

// === impl SseReader ===

impl SseReader {
    /// The frames of a whole stream.
    pub fn read(body: &str) -> Vec<Received> {
        let mut reader = Self::default();
        let mut received = reader.take(body.as_bytes());
        received.extend(reader.end());
        received
    }

    /// The data of the events so far; null where they are not JSON.
    pub fn json(so_far: &str) -> Vec<Value> {
        let json = |received: Received| match received.frame {
            Frame::Event { data, .. } => Some(serde_json::from_str(&data).unwrap_or_default()),
            Frame::Comment(_) | Frame::Unfinished(_) => None,
        };
        Self::default().take(so_far.as_bytes()).into_iter().filter_map(json).collect()
    }

    /// The frames that these bytes complete.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<Received> {
        let mut received = Vec::new();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.offset += part.len();
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let line = mem::take(&mut self.line);
                if self.block.take(&line) {
                    received.extend(self.block.close(self.offset));
                }
            }
        }
        received
    }

    /// What is left at the end of the stream.
    pub fn end(&mut self) -> Vec<Received> {
        let rest = mem::take(&mut self.line);
        let is_begun = self.block.has_fields || !rest.is_empty();
        self.block.raw.extend_from_slice(&rest);
        let unfinished = String::from_utf8_lossy(&self.block.raw).into_owned();
        self.block.has_fields = false;
        let mut received = self.block.close(self.offset);
        if is_begun {
            let frame = Frame::Unfinished(unfinished);
            received.push(Received { frame, end: self.offset, is_plain: false });
        }
        received
    }

    /// Whether nothing has come after the last frame, not even an empty line.
    pub fn is_clean(&self) -> bool {
        self.line.is_empty() && self.block.raw.is_empty()
    }
}

// === impl Block ===

impl Block {
    /// Adds a line, and says whether it ends the block.
    fn take(&mut self, line: &[u8]) -> bool {
        self.raw.extend_from_slice(line);
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end_matches(['\n', '\r']);
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value).to_owned();
        match field {
            _ if line.is_empty() => return true,
            "" => self.comments.push(value),
            _ => {
                self.has_fields = true;
                match field {
                    "event" => self.name = Some(value),
                    "data" => self.data.push(value),
                    _ => {}
                }
            }
        }
        false
    }

    fn close(&mut self, end: usize) -> Vec<Received> {
        if self.comments.is_empty() && !self.has_fields {
            return Vec::new();
        }
        let Self { raw, comments, has_fields, name, data } = mem::take(self);
        let mut frames: Vec<Frame> = comments.into_iter().map(Frame::Comment).collect();
        frames.extend(has_fields.then(|| Frame::Event { name, data: data.join("\n") }));
        let written: String = frames.iter().map(Frame::to_string).collect();
        let is_plain = frames.len() == 1 && written.as_bytes() == raw;
        frames.into_iter().map(|frame| Received { frame, end, is_plain }).collect()
    }
}

// === impl Frame ===

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Comment(text) => write!(f, ": {text}\n\n"),
            Self::Event { name, data } => {
                if let Some(name) = name {
                    writeln!(f, "event: {name}")?;
                }
                write!(f, "data: {data}\n\n")
            }
            Self::Unfinished(text) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests;
