//! Images for tests.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// A grey JPEG as a data URL. It has two bits for each block of 64 pixels, and is decoded like any
/// other.
pub fn gray_jpeg(width: u16, height: u16) -> String {
    let blocks = usize::from(width.div_ceil(8)) * usize::from(height.div_ceil(8));
    let ([h0, h1], [w0, w1]) = (height.to_be_bytes(), width.to_be_bytes());
    // A table of one code, which is one bit long and means zero.
    let code = |class: u8| {
        let mut table = vec![0xff, 0xc4, 0, 20, class << 4, 1];
        table.resize(22, 0);
        table
    };
    let bytes = [
        &[0xff, 0xd8, 0xff, 0xdb, 0, 67, 0],
        &[1; 64][..],
        &[0xff, 0xc0, 0, 11, 8, h0, h1, w0, w1, 1, 1, 0x11, 0],
        &code(0),
        &code(1),
        &[0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0],
        &vec![0; blocks.div_ceil(4)],
        &[0xff, 0xd9],
    ];
    format!("data:image/jpeg;base64,{}", STANDARD.encode(bytes.concat()))
}
