//! Cutting the child's output into lines, with a limit that costs one line, not the connection.

use bytes::{Buf as _, BytesMut};
use memchr::memchr;
use memchr::memmem::{find, rfind};

/// How much of both ends of an oversize line is kept, to find out whose it was.
///
/// Codex puts the thread id either at the front of `params` or right behind the item, so both
/// ends together always hold it.
const KEPT_END: usize = 1024;

/// An empty buffer with more room than this has held a long line, and is not kept: its memory would
/// never be free again.
const KEPT_ROOM: usize = 1024 * 1024;

/// One line of the child's output, without its line feed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Whole(BytesMut),
    Oversize(LineEnds),
}

/// The two ends of a line that cannot be read as a whole: too long, or damaged.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LineEnds {
    pub(crate) bytes: usize,
    pub(crate) head: Vec<u8>,
    pub(crate) tail: Vec<u8>,
}

/// Splits a stream of bytes into lines of at most `limit` bytes.
///
/// Each byte is looked at once: `scanned` remembers how far the search for a line feed has come.
#[derive(Debug)]
pub(crate) struct LineSplitter {
    buffer: BytesMut,
    scanned: usize,
    limit: usize,
    skipping: Option<LineEnds>,
}

// === impl LineSplitter ===

impl LineSplitter {
    pub(crate) fn new(limit: usize) -> Self {
        Self { buffer: BytesMut::new(), scanned: 0, limit, skipping: None }
    }

    /// The place to read into; call [`Self::next_line`] until it is empty afterwards.
    pub(crate) fn space(&mut self) -> &mut BytesMut {
        if self.buffer.is_empty() && self.buffer.capacity() > KEPT_ROOM {
            self.buffer = BytesMut::new();
        }
        self.buffer.reserve(64 * 1024);
        &mut self.buffer
    }

    pub(crate) fn next_line(&mut self) -> Option<Line> {
        let Some(at) = memchr(b'\n', &self.buffer[self.scanned..]) else {
            self.scanned = self.buffer.len();
            if self.skipping.is_some() || self.buffer.len() > self.limit {
                self.skip(self.buffer.len());
            }
            return None;
        };
        let end = self.scanned + at;
        self.scanned = 0;
        if self.skipping.is_some() || end > self.limit {
            self.skip(end);
            self.buffer.advance(1);
            return self.skipping.take().map(Line::Oversize);
        }
        let mut line = self.buffer.split_to(end + 1);
        line.truncate(end);
        Some(Line::Whole(line))
    }

    /// Drops `count` bytes of an oversize line, keeping its two ends.
    fn skip(&mut self, count: usize) {
        let part = &self.buffer[..count];
        match &mut self.skipping {
            Some(line) => line.extend(part),
            None => self.skipping = Some(LineEnds::of(part)),
        }
        self.buffer.advance(count);
        self.scanned = 0;
    }
}

// === impl LineEnds ===

impl LineEnds {
    pub(crate) fn of(line: &[u8]) -> Self {
        let head = line[..line.len().min(KEPT_END)].to_vec();
        let mut ends = Self { bytes: 0, head, tail: Vec::new() };
        ends.extend(line);
        ends
    }

    fn extend(&mut self, part: &[u8]) {
        self.bytes += part.len();
        self.tail.extend_from_slice(&part[part.len().saturating_sub(KEPT_END)..]);
        let surplus = self.tail.len().saturating_sub(KEPT_END);
        self.tail.drain(..surplus);
    }

    /// The thread that a notification belongs to.
    ///
    /// An unescaped `"threadId":"` cannot stand inside a JSON string. It could be a key of some
    /// nested object, so only two places count: the first member of `params`, and the last
    /// occurrence, which stands behind the item.
    pub(crate) fn thread_id(&self) -> Option<&str> {
        const KEY: &[u8] = br#""threadId":""#;
        const FIRST: &[u8] = br#""params":{"threadId":""#;
        let start = find(&self.head, FIRST)
            .map(|at| &self.head[at + FIRST.len()..])
            .or_else(|| rfind(&self.tail, KEY).map(|at| &self.tail[at + KEY.len()..]))?;
        let end = memchr(b'"', start)?;
        std::str::from_utf8(&start[..end]).ok()
    }

    /// The request that a response answers.
    pub(crate) fn response_id(&self) -> Option<u64> {
        let rest = self.head.strip_prefix(br#"{"id":"#)?;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (id, rest) = rest.split_at(digits);
        let is_response = rest.starts_with(br#","result":"#);
        std::str::from_utf8(id).ok().filter(|_| is_response)?.parse().ok()
    }
}

#[cfg(test)]
mod tests;
