use base64::engine::general_purpose::STANDARD;

use super::*;

fn measured(bytes: &[u8]) -> Measured {
    measure(&STANDARD.encode(bytes))
}

fn size(width: u32, height: u32) -> Measured {
    Measured::Size(Size::new(width, height))
}

fn png(width: u32, height: u32) -> Vec<u8> {
    let header = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR";
    [&header[..], &width.to_be_bytes(), &height.to_be_bytes(), &[8, 6, 0, 0, 0]].concat()
}

/// A frame header of a JPEG, behind these bytes of its marker.
fn frame(marker: &[u8], width: u16, height: u16) -> Vec<u8> {
    let components = [3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1];
    [marker, &[0, 17, 8], &height.to_be_bytes(), &width.to_be_bytes(), &components].concat()
}

fn jpeg(segments: &[&[u8]]) -> Vec<u8> {
    [&b"\xff\xd8\xff\xfe\0\x02"[..], &segments.concat(), b"\xff\xda"].concat()
}

/// A GIF without colours of its own, up to its first frame.
fn gif(screen: (u16, u16), colors: &[u8], extensions: &[u8], frame: (u16, u16)) -> Vec<u8> {
    let size = |(width, height): (u16, u16)| [width.to_le_bytes(), height.to_le_bytes()].concat();
    let flags = if colors.is_empty() { 0 } else { 0x80 };
    let screen = [&size(screen)[..], &[flags, 0, 0], colors, extensions].concat();
    [b"GIF89a", &screen[..], b"\x2c\0\0\0\0", &size(frame), b"\0"].concat()
}

fn webp(chunks: &[Vec<u8>]) -> Vec<u8> {
    [&b"RIFF\0\0\0\0WEBP"[..], &chunks.concat()].concat()
}

fn canvas(width: u32, height: u32) -> Vec<u8> {
    let [width, height] = [width - 1, height - 1].map(u32::to_le_bytes);
    [b"VP8X\x0a\0\0\0\0\0\0\0", &width[..3], &height[..3]].concat()
}

fn lossy(width: u16, height: u16) -> Vec<u8> {
    let size = [width.to_le_bytes(), height.to_le_bytes()].concat();
    [&b"VP8 \x0a\0\0\0\x10\0\0\x9d\x01\x2a"[..], &size].concat()
}

fn lossless(width: u32, height: u32) -> Vec<u8> {
    let bits = (width - 1) | (height - 1) << 14;
    [&b"VP8L\x05\0\0\0\x2f"[..], &bits.to_le_bytes()].concat()
}

#[test]
fn every_kind_is_measured() {
    assert_eq!(measured(&png(20_000, 65_537)), size(20_000, 65_537));
    for marker in [0xc0, 0xc1, 0xc2] {
        let image = jpeg(&[&frame(&[0xff, marker], 640, 480)]);
        assert_eq!(measured(&image), size(640, 480));
    }
    assert_eq!(measured(&gif((300, 200), &[], &[], (300, 200))), size(300, 200));
    assert_eq!(measured(&webp(&[lossy(16_383, 9)])), size(16_383, 9));
    // Two bits of each side say how to scale it, and are no pixels.
    assert_eq!(measured(&webp(&[lossy(0x4000 | 7, 0x8000 | 9)])), size(7, 9));
    assert_eq!(measured(&webp(&[lossless(16_384, 5)])), size(16_384, 5));
    assert_eq!(measured(&webp(&[canvas(1 << 24, 70_000)])), size(1 << 24, 70_000));
}

#[test]
fn a_frame_is_found_wherever_it_is() {
    let comment = [&[0xff, 0xfe, 0xff, 0xff][..], &vec![b' '; 65_533]].concat();
    let far = jpeg(&[&comment, &comment, &frame(b"\xff\xc0", 8, 9)]);
    assert_eq!(measured(&far), size(8, 9));
    let comment = [&b"\x21\xfe\xff"[..], &[b' '; 255], &[2, 0x2c, 0x2c, 0]].concat();
    assert_eq!(measured(&gif((4, 4), &[0x2c; 6], &comment, (3, 3))), size(4, 4));
    assert_eq!(measured(&gif((4, 4), &[0x2c; 6], &comment, (5, 3))), size(4, 4));
    assert_eq!(measured(&gif((4, 4), &[0x2c; 6], &comment, (5, 4))), size(5, 4));
}

#[test]
fn nothing_passes_for_smaller_than_it_is() {
    // A frame larger than its screen.
    assert_eq!(measured(&gif((1, 1), &[], &[], (9000, 9000))), size(9000, 9000));
    // A picture larger than its canvas.
    let frame_chunk = [&b"ANMF\x2a\0\0\0"[..], &[0; 16], &lossy(9000, 9000)].concat();
    for picture in [lossy(9000, 9000), frame_chunk] {
        assert_eq!(measured(&webp(&[canvas(1, 1), picture])), size(9000, 9000));
    }
    // A frame behind fill bytes, behind what is no segment, or behind a smaller one.
    let small = frame(b"\xff\xc0", 1, 1);
    for marker in [&b"\xff\xff\xff\xc2"[..], b"\xff\0\xc0", b"\xff\0\0\xc0", b"nonsense\xff\xc1"] {
        let large = frame(marker, 9000, 9000);
        assert_eq!(measured(&jpeg(&[&large])), size(9000, 9000), "{marker:?}");
        assert_eq!(measured(&jpeg(&[&small, &large])), size(9000, 9000), "{marker:?}");
        assert_eq!(measured(&jpeg(&[&large, &small])), size(9000, 9000), "{marker:?}");
    }
    // Decoders differ about what follows an extension without data.
    assert_eq!(measured(&gif((1, 1), &[], b"\x21\xfe\0", (1, 1))), Measured::Unclear);
}

#[test]
fn a_packed_profile_counts() {
    let chunk = |name: &[u8], length: usize| {
        let head = u32::try_from(length).unwrap().to_be_bytes();
        [&head, name, &vec![b'.'; length + 4]].concat()
    };
    let (header, checksum) = (png(2, 3), [0; 4]);
    // However its bytes fall into letters.
    for before in 0..4 {
        let chunks = [
            chunk(b"tEXt", before),
            chunk(b"iCCP", 1000),
            chunk(b"iCCP", 234),
            chunk(b"IDAT", 5),
            chunk(b"iCCP", 5000),
        ];
        let image = [&header[..], &checksum, &chunks.concat()].concat();
        let size = Size { width: 2, height: 3, profile: 1234 };
        assert_eq!(measured(&image), Measured::Size(size));
        assert_eq!(size.pixels(), 6 + 1234 * 258);
    }
    let endless = [&header[..], &checksum, &[0xff; 4], b"iCCP"].concat();
    let size = Size { width: 2, height: 3, profile: u32::MAX };
    assert_eq!(measured(&endless), Measured::Size(size));
}

#[test]
fn what_looks_like_a_frame_of_a_jpeg_is_not_always_one() {
    let real = frame(b"\xff\xc0", 2, 3);
    let mut other_length = frame(b"\xff\xc0", 9000, 9000);
    other_length[3] = 18;
    let mut other_precision = frame(b"\xff\xc0", 9000, 9000);
    other_precision[4] = 7;
    for other in [
        &other_length,
        &other_precision,
        &frame(b"\xff\xc4", 9000, 9000),
        &frame(b"..\xc0", 9000, 9000),
        &frame(b".\0\xc0", 9000, 9000),
    ] {
        assert_eq!(measured(&jpeg(&[other, &real])), size(2, 3), "{other:x?}");
    }
}

/// Codex cannot decode these either.
#[test]
fn what_has_no_size_is_no_image() {
    let whole = [
        png(1, 1)[..24].to_vec(),
        jpeg(&[&frame(b"\xff\xc0", 1, 1)[..10]]),
        gif((1, 1), &[], &[], (1, 1)),
        webp(&[lossy(1, 1)]),
        webp(&[lossless(1, 1)]),
        webp(&[canvas(1, 1)]),
    ];
    for image in whole {
        let needed = if image.starts_with(b"GIF") { image.len() - 1 } else { image.len() };
        let needed = if image.starts_with(b"\xff\xd8") { needed - 2 } else { needed };
        assert_ne!(measured(&image[..needed]), Measured::NoImage, "{image:x?}");
        for length in 0..needed {
            assert_eq!(measured(&image[..length]), Measured::NoImage, "{length} of {image:x?}");
        }
    }
    for other in [&b"BM......"[..], b"II*\0....", b"<svg/>", b"RIFF....WAVEVP8X"] {
        assert_eq!(measured(other), Measured::NoImage);
    }
    for not_base64 in ["", "=", "iVBORw0KGgo*", "R0lGODlh\u{20ac}AQABAAAAACwAAAAA"] {
        assert_eq!(measure(not_base64), Measured::NoImage, "{not_base64}");
    }
}
