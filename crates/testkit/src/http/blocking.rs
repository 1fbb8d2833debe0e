//! The same where nothing else is to be done meanwhile: in benchmarks, and in tests beside a process.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs};

use super::{Gone, READ, ResponseReader};

/// A connection to a server.
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    reader: ResponseReader,
}

// === impl Connection ===

impl Connection {
    /// Connects.
    pub fn open(address: impl ToSocketAddrs) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: vec![0; READ], reader: ResponseReader::default() })
    }

    /// Sends a request whose response is read next.
    pub fn begin(&mut self, request: &[u8]) -> Result<(), Gone> {
        self.reader.begin();
        self.reader.push(b"")?;
        Ok(self.stream.write_all(request)?)
    }

    /// Receives once, and returns whether the response is whole.
    pub fn receive(&mut self) -> Result<bool, Gone> {
        match self.stream.read(&mut self.buffer)? {
            0 => self.reader.close().map(|()| true),
            read => self.reader.push(&self.buffer[..read]),
        }
    }

    /// Sends a request, and receives its whole response.
    pub fn ask(&mut self, request: &[u8]) -> Result<&ResponseReader, Gone> {
        self.begin(request)?;
        while !self.reader.is_whole() {
            self.receive()?;
        }
        Ok(&self.reader)
    }

    /// The response so far.
    pub fn response(&self) -> &ResponseReader {
        &self.reader
    }

    /// Everything up to the end of the connection, as it comes.
    pub fn rest(mut self) -> io::Result<String> {
        let mut text = String::new();
        self.stream.read_to_string(&mut text)?;
        Ok(text)
    }
}
