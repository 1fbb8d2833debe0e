//! Reads responses from the bytes of a connection. Pure, so that blocking and asynchronous clients share it.

#[cfg(test)]
mod tests;

/// Most headers that an answer may have.
const MOST_HEADERS: usize = 64;

/// Reads one response after the other. It keeps its buffers, so that reading many costs no allocations.
#[derive(Debug, Default)]
pub struct ResponseReader {
    /// Received and not yet read: a part of a head or a chunk's size, or bytes behind the response.
    pending: Vec<u8>,
    /// The head as it came.
    head: Vec<u8>,
    framing: Framing,
    /// The status, once the head is whole.
    pub status: u16,
    /// As much of the body as is there and was not taken.
    pub body: Vec<u8>,
    /// Bytes of this response on the wire.
    pub wire_bytes: usize,
}

/// The head of an answer.
#[derive(Debug, Clone)]
pub struct Head {
    /// 0 where there is none.
    pub status: u16,
    /// Names in small letters, and values.
    pub headers: Vec<(String, String)>,
}

/// Why there is no more to read.
#[derive(Debug, thiserror::Error)]
pub enum Gone {
    /// It was refused, reset, or closed in the middle of an answer.
    #[error("the connection was cut: {0}")]
    Cut(String),
    /// It is no answer.
    #[error("this is not HTTP: {0}")]
    Unreadable(String),
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Framing {
    #[default]
    Head,
    /// So many bytes of a body.
    Length(usize),
    /// A chunk's size.
    ChunkSize,
    /// So many bytes of a chunk.
    Chunk(usize),
    /// The line break behind a chunk, or behind the last one's size.
    LineBreak { is_last: bool },
    /// A body that ends with the connection.
    UntilClosed,
    /// Nothing of this response.
    Ended,
}

// === impl ResponseReader ===

impl ResponseReader {
    /// Forgets the response before; bytes that came behind it begin the next.
    pub fn begin(&mut self) {
        self.head.clear();
        self.body.clear();
        self.framing = Framing::Head;
        self.wire_bytes = 0;
    }

    /// Takes bytes, and returns whether the response is whole.
    pub fn push(&mut self, bytes: &[u8]) -> Result<bool, Gone> {
        if self.pending.is_empty() {
            let read = self.read(bytes)?;
            self.pending.extend_from_slice(&bytes[read..]);
        } else {
            let mut pending = std::mem::take(&mut self.pending);
            pending.extend_from_slice(bytes);
            let read = self.read(&pending)?;
            pending.drain(..read);
            self.pending = pending;
        }
        Ok(self.is_whole())
    }

    /// Notes the end of the connection.
    pub fn close(&mut self) -> Result<(), Gone> {
        match self.framing {
            Framing::UntilClosed | Framing::Ended => self.framing = Framing::Ended,
            _ => return Err(Gone::Cut("closed in the middle of an answer".to_owned())),
        }
        Ok(())
    }

    /// Whether the response is at its end.
    pub fn is_whole(&self) -> bool {
        self.framing == Framing::Ended
    }

    /// Whether the response is at its end, and nothing came behind it.
    pub fn is_clean(&self) -> bool {
        self.is_whole() && self.pending.is_empty()
    }

    /// The head, once it is whole.
    pub fn head(&self) -> Option<Head> {
        if self.framing == Framing::Head {
            return None;
        }
        Head::split(&self.head).ok().flatten().map(|(head, _)| head)
    }

    pub(super) fn into_pending(self) -> Vec<u8> {
        self.pending
    }

    /// Reads as much as can be read, and returns how much that is.
    fn read(&mut self, bytes: &[u8]) -> Result<usize, Gone> {
        let mut read = 0;
        while let Some(length) = self.step(&bytes[read..])? {
            read += length;
        }
        self.wire_bytes += read;
        Ok(read)
    }

    /// Reads the next part; `None` if more bytes must come first.
    fn step(&mut self, bytes: &[u8]) -> Result<Option<usize>, Gone> {
        let (length, next) = match self.framing {
            Framing::Ended => return Ok(None),
            Framing::Length(0) => (0, Framing::Ended),
            Framing::Chunk(0) => (0, Framing::LineBreak { is_last: false }),
            Framing::Length(_) | Framing::Chunk(_) | Framing::UntilClosed if bytes.is_empty() => {
                return Ok(None);
            }
            Framing::Length(left) => {
                let taken = self.take(bytes, left);
                (taken, Framing::Length(left - taken))
            }
            Framing::Chunk(left) => {
                let taken = self.take(bytes, left);
                (taken, Framing::Chunk(left - taken))
            }
            Framing::UntilClosed => (self.take(bytes, usize::MAX), Framing::UntilClosed),
            Framing::ChunkSize => match httparse::parse_chunk_size(bytes) {
                Ok(httparse::Status::Partial) => return Ok(None),
                Ok(httparse::Status::Complete((length, 0))) => {
                    (length, Framing::LineBreak { is_last: true })
                }
                Ok(httparse::Status::Complete((length, size))) => {
                    (length, Framing::Chunk(usize::try_from(size).unwrap_or(usize::MAX)))
                }
                Err(error) => return Err(unreadable(&error.to_string(), bytes)),
            },
            Framing::LineBreak { is_last } => match bytes {
                [b'\r', b'\n', ..] if is_last => (2, Framing::Ended),
                [b'\r', b'\n', ..] => (2, Framing::ChunkSize),
                [] | [b'\r'] => return Ok(None),
                _ => return Err(unreadable("a chunk without its end", bytes)),
            },
            Framing::Head => match self.read_head(bytes)? {
                Some(read) => read,
                None => return Ok(None),
            },
        };
        self.framing = next;
        Ok(Some(length))
    }

    /// The head's length, and how its body is framed. Allocates nothing.
    fn read_head(&mut self, bytes: &[u8]) -> Result<Option<(usize, Framing)>, Gone> {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let Some((length, response)) = parse(bytes, &mut headers)? else { return Ok(None) };
        self.status = response.code.unwrap_or(0);
        let framing = Framing::of(&response).ok_or_else(|| unreadable("no end", bytes))?;
        self.head.extend_from_slice(&bytes[..length]);
        Ok(Some((length, framing)))
    }

    fn take(&mut self, bytes: &[u8], most: usize) -> usize {
        let taken = bytes.len().min(most);
        self.body.extend_from_slice(&bytes[..taken]);
        taken
    }
}

// === impl Gone ===

impl From<std::io::Error> for Gone {
    fn from(error: std::io::Error) -> Self {
        Self::Cut(error.to_string())
    }
}

impl From<Gone> for String {
    fn from(gone: Gone) -> Self {
        gone.to_string()
    }
}

// === impl Framing ===

impl Framing {
    /// Of the body; `None` if it would never end.
    fn of(response: &httparse::Response<'_, '_>) -> Option<Self> {
        let value = |name: &str| {
            let header = response.headers.iter().find(|it| it.name.eq_ignore_ascii_case(name));
            header.and_then(|header| std::str::from_utf8(header.value).ok())
        };
        if matches!(response.code, Some(100..200 | 204 | 304)) {
            return Some(Self::Ended);
        }
        if value("transfer-encoding") == Some("chunked") {
            return Some(Self::ChunkSize);
        }
        match value("content-length") {
            Some(length) => length.parse().ok().map(Self::Length),
            None if response.version == Some(0) || value("connection") == Some("close") => {
                Some(Self::UntilClosed)
            }
            None => None,
        }
    }
}

// === impl Head ===

impl Head {
    /// The head and the bytes behind it; `None` if the head is not whole.
    pub fn split(bytes: &[u8]) -> Result<Option<(Self, &[u8])>, Gone> {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let Some((length, response)) = parse(bytes, &mut headers)? else { return Ok(None) };
        let headers = response.headers.iter().map(|header| {
            let value = String::from_utf8_lossy(header.value).into_owned();
            (header.name.to_ascii_lowercase(), value)
        });
        let head = Self { status: response.code.unwrap_or(0), headers: headers.collect() };
        Ok(Some((head, &bytes[length..])))
    }

    /// A header that may be there once.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// Whether the server closes the connection after this answer.
    pub fn closes(&self) -> bool {
        self.header("connection") == Some("close")
    }
}

/// A head and its length, if it is whole.
fn parse<'headers, 'bytes>(
    bytes: &'bytes [u8],
    headers: &'headers mut [httparse::Header<'bytes>],
) -> Result<Option<(usize, httparse::Response<'headers, 'bytes>)>, Gone> {
    let mut response = httparse::Response::new(headers);
    match response.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => Ok(Some((length, response))),
        Ok(httparse::Status::Partial) => Ok(None),
        Err(error) => Err(unreadable(&error.to_string(), bytes)),
    }
}

fn unreadable(why: &str, bytes: &[u8]) -> Gone {
    let start = &bytes[..bytes.len().min(80)];
    Gone::Unreadable(format!("{why}: {}", start.escape_ascii()))
}
