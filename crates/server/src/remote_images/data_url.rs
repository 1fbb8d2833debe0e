//! An image as a data URL, written as it comes.

use std::io::Write as _;

use base64::engine::general_purpose::{GeneralPurpose, STANDARD};
use base64::write::EncoderStringWriter;

/// How many bytes tell every kind of image.
const HEAD: usize = 12;

/// The bytes of a file, on their way into a data URL. They are encoded piece by piece, because a
/// large image at once would keep everybody waiting.
pub(super) enum DataUrlWriter {
    /// Too few bytes to tell what it is.
    Head(Vec<u8>),
    /// An image.
    Image(Box<Encoder>),
}

type Encoder = EncoderStringWriter<'static, GeneralPurpose, String>;

/// The file is none of the images that Codex takes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotAnImage;

// === impl DataUrlWriter ===

impl DataUrlWriter {
    pub(super) fn new() -> Self {
        Self::Head(Vec::new())
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), NotAnImage> {
        match self {
            Self::Head(head) => {
                head.extend_from_slice(bytes);
                if head.len() >= HEAD {
                    *self = Self::Image(Box::new(begin(head)?));
                }
                Ok(())
            }
            Self::Image(writer) => write(writer, bytes),
        }
    }

    pub(super) fn finish(self) -> Result<String, NotAnImage> {
        match self {
            Self::Head(_) => Err(NotAnImage),
            Self::Image(writer) => Ok(writer.into_inner()),
        }
    }
}

fn begin(head: &[u8]) -> Result<Encoder, NotAnImage> {
    let kind = kind(head).ok_or(NotAnImage)?;
    let start = format!("data:{kind};base64,");
    let mut writer = EncoderStringWriter::from_consumer(start, &STANDARD);
    write(&mut writer, head)?;
    Ok(writer)
}

fn write(writer: &mut Encoder, bytes: &[u8]) -> Result<(), NotAnImage> {
    // Writing into a text does not fail.
    writer.write_all(bytes).map_err(|_| NotAnImage)
}

/// What it is by its first bytes; what a server calls it is often wrong.
fn kind(head: &[u8]) -> Option<&'static str> {
    match head {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;

    use super::*;

    fn written<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Result<String, NotAnImage> {
        let mut writer = DataUrlWriter::new();
        for piece in pieces {
            writer.push(piece)?;
        }
        writer.finish()
    }

    #[test]
    fn an_image_is_the_same_however_it_comes() {
        let image: Vec<u8> = b"\x89PNG\r\n\x1a\n".iter().copied().chain(0..100).collect();
        let expected = format!("data:image/png;base64,{}", STANDARD.encode(&image));
        for size in 1..=image.len() {
            assert_eq!(written(image.chunks(size)), Ok(expected.clone()), "pieces of {size}");
        }
    }

    #[test]
    fn images_are_told_by_their_bytes() {
        for (head, kind) in [
            (&b"\x89PNG\r\n\x1a\n...."[..], Some("image/png")),
            (b"\xff\xd8\xff\xe0........", Some("image/jpeg")),
            (b"GIF87a......", Some("image/gif")),
            (b"GIF89a......", Some("image/gif")),
            (b"RIFF....WEBP", Some("image/webp")),
            (b"RIFF....WAVE", None),
            (b"GIF88a......", None),
            (b"<svg xmlns=\"", None),
            (b"<!doctype ht", None),
            (b"%PDF-1.7....", None),
            (b"BM..........", None),
        ] {
            let encoded = |kind| format!("data:{kind};base64,{}", STANDARD.encode(head));
            assert_eq!(written([head]), kind.map(encoded).ok_or(NotAnImage));
        }
        // Not even a whole head.
        assert_eq!(written([]), Err(NotAnImage));
        assert_eq!(written([&b"\x89PNG\r\n\x1a\n"[..]]), Err(NotAnImage));
    }
}
