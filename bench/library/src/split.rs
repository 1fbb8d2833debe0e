//! Where a text is cut: seeded, so that a failure can be played again.

/// `SplitMix64`: small, and the same everywhere.
#[derive(Debug, Clone)]
pub struct Random(u64);

/// The longest chunk of each density: tokens, words, lines.
pub const LONGEST: [usize; 3] = [4, 16, 64];

// === impl Random ===

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From 1 to `longest`. The bias of the remainder is far below what is measured.
    fn length(&mut self, longest: usize) -> usize {
        1 + usize::try_from(self.draw() % longest as u64).unwrap_or(0)
    }
}

/// Cuts at any byte, also inside a character.
pub fn bytes<'a>(
    text: &'a [u8],
    longest: usize,
    random: &mut Random,
) -> impl Iterator<Item = &'a [u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (chunk, after) = rest.split_at(random.length(longest).min(rest.len()));
        rest = after;
        (!chunk.is_empty()).then_some(chunk)
    })
}

/// Cuts between characters, for parsers that take `&str`.
pub fn strs<'a>(text: &'a str, longest: usize, random: &mut Random, chunks: &mut Vec<&'a str>) {
    chunks.clear();
    let mut rest = text;
    while !rest.is_empty() {
        let mut at = random.length(longest).min(rest.len());
        while !rest.is_char_boundary(at) {
            at += 1;
        }
        let (chunk, after) = rest.split_at(at);
        chunks.push(chunk);
        rest = after;
    }
}
