//! How large an image is, as its file says.
//!
//! A small file must never pass for a small image, because Codex decodes it whole. Crates that read
//! sizes trust a file more than that: they read the screen of a GIF and not its frame, the canvas of
//! a WebP and not the picture on it, and lose their way in a JPEG where decoders do not. Here counts
//! the largest size that a decoder could find.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use memchr::{memchr3_iter, memmem};

/// How large an image is once it is decoded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Size {
    /// In pixels.
    pub(super) width: u32,
    /// In pixels.
    pub(super) height: u32,
    /// Bytes of a PNG's colour profile, which is packed and decoded too.
    pub(super) profile: u32,
}

/// What a file says about its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measured {
    /// It is at most so large.
    Size(Size),
    /// It is none of the images that Codex decodes, or ends too early to be one. Codex puts a remark
    /// in its place.
    NoImage,
    /// Decoders disagree about where the size stands.
    Unclear,
}

/// Takes whatever any decoder takes.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Bytes that tell every kind of image.
const HEAD: usize = 12;

/// What a byte of a packed profile counts as: it becomes 1032 bytes at most, and a pixel has four.
const PIXELS_OF_A_PROFILE_BYTE: u64 = 258;

// === impl Size ===

impl Size {
    fn new(width: impl Into<u32>, height: impl Into<u32>) -> Self {
        Self { width: width.into(), height: height.into(), profile: 0 }
    }

    /// The pixels, and as many more as a profile may cost.
    pub(super) fn pixels(self) -> u64 {
        let pixels = u64::from(self.width) * u64::from(self.height);
        pixels.saturating_add(u64::from(self.profile) * PIXELS_OF_A_PROFILE_BYTE)
    }

    fn larger(self, other: Self) -> Self {
        if other.pixels() > self.pixels() { other } else { self }
    }
}

// === impl Measured ===

impl Measured {
    fn largest(sizes: impl IntoIterator<Item = Size>) -> Self {
        sizes.into_iter().reduce(Size::larger).map_or(Self::NoImage, Self::Size)
    }
}

/// Measures a file by its bytes, whatever it is called.
pub(super) fn measure(base64: &str) -> Measured {
    let base64 = base64.as_bytes();
    let Some(head) = decode_part(base64, 0, HEAD) else { return Measured::NoImage };
    let measure: fn(&[u8]) -> Measured = match head.as_slice() {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => return png(base64),
        [0xff, 0xd8, 0xff, ..] => jpeg,
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => gif,
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => webp,
        _ => return Measured::NoImage,
    };
    BASE64.decode(base64).map_or(Measured::NoImage, |bytes| measure(&bytes))
}

/// So many bytes from `start` on, and nothing else of the file.
fn decode_part(base64: &[u8], start: usize, length: usize) -> Option<Vec<u8>> {
    // Four letters are three bytes.
    let end = (start.checked_add(length)?.div_ceil(3) * 4).min(base64.len());
    let bytes = BASE64.decode(base64.get(start / 3 * 4..end)?).ok()?;
    bytes.get(start % 3..start % 3 + length).map(<[u8]>::to_vec)
}

/// The size is in the first chunk, and a profile in one of those before the picture's.
fn png(base64: &[u8]) -> Measured {
    let number = |start: usize| {
        let bytes = decode_part(base64, start, 4)?;
        bytes.try_into().ok().map(u32::from_be_bytes)
    };
    let (Some(width), Some(height)) = (number(16), number(20)) else { return Measured::NoImage };
    let mut size = Size::new(width, height);
    let mut at = 8;
    while let (Some(length), Some(name)) = (number(at), decode_part(base64, at + 4, 4)) {
        match name.as_slice() {
            b"iCCP" => size.profile = size.profile.saturating_add(length),
            b"IDAT" => break,
            _ => {}
        }
        at = at.saturating_add(length as usize).saturating_add(12);
    }
    Measured::Size(size)
}

/// Decoders pass over what is damaged, each in its own way. So everything counts that looks like a
/// frame header, wherever it is; previews inside are smaller than the image.
fn jpeg(bytes: &[u8]) -> Measured {
    let frame = |at: usize| {
        // Between the two bytes of a marker some decoders take fill bytes of both kinds.
        let is_marker = matches!(bytes.get(at.checked_sub(2)?..at)?, [_, 0xff] | [0xff | 0, 0]);
        let &[l0, l1, precision, h0, h1, w0, w1, components] = bytes.get(at + 1..at + 9)? else {
            return None;
        };
        let is_frame = is_marker
            && matches!(precision, 8 | 12)
            && u16::from_be_bytes([l0, l1]) == 8 + 3 * u16::from(components);
        let (width, height) = (u16::from_be_bytes([w0, w1]), u16::from_be_bytes([h0, h1]));
        is_frame.then_some(Size::new(width, height))
    };
    Measured::largest(memchr3_iter(0xc0, 0xc1, 0xc2, bytes).filter_map(frame))
}

/// The screen, or the first frame, which may be larger.
fn gif(bytes: &[u8]) -> Measured {
    let word = |at: usize| Some(u16::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
    let size = |at: usize| Some(Size::new(word(at)?, word(at + 2)?));
    let (Some(screen), Some(&flags)) = (size(6), bytes.get(10)) else {
        return Measured::NoImage;
    };
    let colors = if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) };
    let mut at = 13 + colors;
    while bytes.get(at) == Some(&0x21) {
        at += 2;
        // Some decoders read on behind an extension without any data.
        if bytes.get(at) == Some(&0) {
            return Measured::Unclear;
        }
        while let Some(&length) = bytes.get(at).filter(|length| **length > 0) {
            at += 1 + usize::from(length);
        }
        at += 1;
    }
    let frame = size(at + 5).filter(|_| bytes.get(at) == Some(&0x2c));
    Measured::largest(frame.map(|frame| screen.larger(frame)))
}

/// The canvas, or a picture on it, of which some are decoded before they are compared with it.
fn webp(bytes: &[u8]) -> Measured {
    let number = |start: usize, length: usize| {
        let bytes = bytes.get(start..start + length)?.iter().rev();
        Some(bytes.fold(0, |number, byte| number << 8 | u32::from(*byte)))
    };
    let canvas = match bytes.get(12..16) {
        Some(b"VP8X") => {
            number(24, 3).zip(number(27, 3)).map(|(width, height)| Size::new(width + 1, height + 1))
        }
        Some(b"VP8L") => {
            number(21, 4).map(|bits| Size::new((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        _ => None,
    };
    let lossy = memmem::find_iter(bytes, b"VP8 ").filter_map(|start| {
        let start_code = bytes.get(start + 11..start + 14)?;
        let (width, height) = (number(start + 14, 2)? & 0x3fff, number(start + 16, 2)? & 0x3fff);
        (start_code == [0x9d, 0x01, 0x2a]).then_some(Size::new(width, height))
    });
    Measured::largest(canvas.into_iter().chain(lossy))
}

#[cfg(test)]
mod tests;
