//! One HTTP response, as its bytes come in.

/// Reads one response after the other.
#[derive(Default)]
pub(crate) struct ResponseReader {
    received: Vec<u8>,
    head: Option<Head>,
    body: Vec<u8>,
}

struct Head {
    status: u16,
    framing: Framing,
}

/// How the end of a body is known.
enum Framing {
    Length {
        start: usize,
        end: usize,
    },
    /// By its last chunk; what stands before `at` was taken.
    Chunked {
        at: usize,
    },
}

/// A whole response.
pub(crate) struct Response<'a> {
    pub(crate) status: u16,
    pub(crate) body: &'a [u8],
    /// Bytes on the wire.
    pub(crate) wire_bytes: usize,
}

// === impl ResponseReader ===

impl ResponseReader {
    /// Forgets the response before.
    pub(crate) fn begin(&mut self) {
        self.received.clear();
        self.head = None;
        self.body.clear();
    }

    /// Takes bytes, and says whether the response is whole.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> bool {
        self.received.extend_from_slice(bytes);
        if self.head.is_none() {
            let Some(at) = find(&self.received, b"\r\n\r\n") else { return false };
            self.head = Some(Head::read(&self.received[..at], at + 4));
        }
        match &mut self.head {
            None => false,
            Some(Head { framing: Framing::Length { end, .. }, .. }) => self.received.len() >= *end,
            Some(Head { framing: Framing::Chunked { at }, .. }) => {
                while let Some((data, rest)) = next_chunk(&self.received[*at..]) {
                    *at = self.received.len() - rest;
                    if data.is_empty() {
                        return true;
                    }
                    self.body.extend_from_slice(data);
                }
                false
            }
        }
    }

    /// As much of the body as is there.
    pub(crate) fn body_so_far(&self) -> &[u8] {
        match &self.head {
            None => &[],
            Some(Head { framing: Framing::Length { start, .. }, .. }) => &self.received[*start..],
            Some(Head { framing: Framing::Chunked { .. }, .. }) => &self.body,
        }
    }

    /// The response, once it is whole.
    pub(crate) fn response(&self) -> Response<'_> {
        let head = self.head.as_ref().expect("a whole response");
        let body = match head.framing {
            Framing::Length { start, end } => &self.received[start..end],
            Framing::Chunked { .. } => &self.body,
        };
        Response { status: head.status, body, wire_bytes: self.received.len() }
    }
}

// === impl Head ===

impl Head {
    fn read(head: &[u8], start: usize) -> Self {
        let head = std::str::from_utf8(head).expect("a head that is not text");
        let status = head.get(9..12).and_then(|status| status.parse().ok()).expect("a status");
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            let length: usize = value.trim().parse().ok()?;
            name.eq_ignore_ascii_case("content-length").then_some(length)
        });
        let framing = match length {
            Some(length) => Framing::Length { start, end: start + length },
            None => Framing::Chunked { at: start },
        };
        Self { status, framing }
    }
}

/// The first chunk, if it is whole, and how many bytes follow it.
fn next_chunk(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let line = find(bytes, b"\r\n")?;
    let digits = std::str::from_utf8(&bytes[..line]).expect("a size that is not text");
    let size = usize::from_str_radix(digits, 16).expect("a size that is no number");
    let (start, end) = (line + 2, line + 2 + size);
    let rest = bytes.len().checked_sub(end + 2)?;
    Some((&bytes[start..end], rest))
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}
