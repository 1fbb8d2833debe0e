//! The lines of the input.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use super::Fault;

/// A piece of the input that is read on its own.
pub(super) struct Record {
    /// The number of the line where it begins.
    pub(super) line: u64,
    pub(super) text: Result<String, Fault>,
}

/// Lines without their ends, as soon as each is there.
pub(super) struct Lines {
    input: Box<dyn BufRead>,
    /// Where they come from.
    name: String,
    /// How many lines have been read.
    count: u64,
}

/// The input cannot be read, or not to its end.
#[derive(Debug, thiserror::Error)]
#[error("{name} cannot be {done}: {source}")]
pub(super) struct ReadError {
    name: String,
    done: &'static str,
    source: io::Error,
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

// === impl Lines ===

impl Lines {
    /// The lines of a file; without one, or for `-`, those of standard input.
    pub(super) fn open(path: Option<&Path>) -> Result<Self, ReadError> {
        let Some(path) = path.filter(|path| path.as_os_str() != "-") else {
            let input = Box::new(io::stdin().lock());
            return Ok(Self { input, name: "standard input".to_owned(), count: 0 });
        };
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => Ok(Self { input: Box::new(BufReader::new(file)), name, count: 0 }),
            Err(source) => Err(ReadError { name, done: "opened", source }),
        }
    }

    fn read(&mut self) -> io::Result<Option<Record>> {
        let mut line = Vec::new();
        if self.input.read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        self.count += 1;
        if line.pop_if(|last| *last == b'\n').is_some() {
            line.pop_if(|last| *last == b'\r');
        }
        if self.count == 1 && line.starts_with(BYTE_ORDER_MARK) {
            line.drain(..BYTE_ORDER_MARK.len());
        }
        let text = String::from_utf8(line)
            .map_err(|error| Fault::NotUtf8(error.utf8_error().valid_up_to() + 1));
        Ok(Some(Record { line: self.count, text }))
    }
}

impl Iterator for Lines {
    type Item = Result<Record, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read()
            .map_err(|source| ReadError { name: self.name.clone(), done: "read", source })
            .transpose()
    }
}
