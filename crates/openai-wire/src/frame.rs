//! What the frames of every stream are made of.

use std::io;

use bytes::{BufMut as _, BytesMut};
use serde::Serialize;

/// The end of a frame.
pub(crate) const END: &str = "\n\n";

/// A comment, which clients do not read. `text` has no line break.
pub fn comment(text: &str, buffer: &mut BytesMut) {
    buffer.put_slice(b": ");
    buffer.put_slice(text.as_bytes());
    buffer.put_slice(END.as_bytes());
}

pub(crate) fn put_json<T: Serialize + ?Sized>(value: &T, buffer: &mut BytesMut) {
    let before = buffer.len();
    let written: io::Result<()> =
        serde_json::to_writer((&mut *buffer).writer(), value).map_err(io::Error::from);
    if written.is_err() {
        // Memory takes everything; only a value that refuses to be written leads here.
        buffer.truncate(before);
        buffer.put_slice(b"null");
    }
}
