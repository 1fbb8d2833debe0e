//! The data of server-sent events.

use std::iter::Fuse;
use std::mem;

use super::{ReadError, Record};

/// The data of each event. A capture may be cut off, so the last event needs no blank line after it.
pub(super) struct SseData<L> {
    lines: Fuse<L>,
    /// The data of the event that is being read, and the line where it began.
    data: Option<(u64, String)>,
}

/// What OpenAI's chat streams end with, in the place of JSON.
const DONE: &str = "[DONE]";

// === impl SseData ===

impl<L: Iterator<Item = Result<Record, ReadError>>> SseData<L> {
    pub(super) fn new(lines: L) -> Self {
        // Fused, because a terminal would be asked for more after its end.
        Self { lines: lines.fuse(), data: None }
    }

    fn take_line(&mut self, number: u64, line: &str) {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        if field != "data" {
            return;
        }
        let value = value.strip_prefix(' ').unwrap_or(value);
        match &mut self.data {
            Some((_, data)) => {
                data.push('\n');
                data.push_str(value);
            }
            None => self.data = Some((number, value.to_owned())),
        }
    }

    fn end_event(&mut self) -> Option<Record> {
        let (line, data) = mem::take(&mut self.data)?;
        (data.trim_ascii() != DONE).then_some(Record { line, text: Ok(data) })
    }
}

impl<L: Iterator<Item = Result<Record, ReadError>>> Iterator for SseData<L> {
    type Item = Result<Record, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some(line) = self.lines.next() else {
                return self.end_event().map(Ok);
            };
            match line {
                Ok(Record { text: Ok(line), .. }) if line.is_empty() => {
                    if let Some(event) = self.end_event() {
                        return Some(Ok(event));
                    }
                }
                Ok(Record { line: number, text: Ok(line) }) => self.take_line(number, &line),
                other => return Some(other),
            }
        }
    }
}
