//! How a text is cut into deltas.

use std::sync::Arc;

/// Sizes of the pieces that a text is sent in. The pieces always add up to the text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Chunking {
    /// One delta.
    Whole,
    /// Pieces of this many characters.
    Chars(usize),
    /// Pieces of this many bytes (or fewer, where a character spans the cut).
    Bytes(usize),
    /// Pieces of 1 to 17 characters, every size in turn.
    Varying,
    /// A word with the white space behind it.
    Words,
    /// Pieces of at least and at most so many bytes, cut where a word begins or ends if one does.
    AtWords { least: usize, most: usize },
    /// Two pieces, cut after this many bytes (or before, where a character spans them).
    AfterByte(usize),
}

/// Words up to this length are not cut in two.
const SHORT_WORD: usize = 12;

impl Chunking {
    /// So many pieces, as equal as characters allow.
    pub(crate) fn pieces(text: &str, count: usize) -> Self {
        Self::Chars(text.chars().count().div_ceil(count.max(1)).max(1))
    }

    /// Four to eight pieces, fewer of a text of a few letters.
    pub(crate) fn few(text: &str) -> Self {
        let least = text.len().div_ceil(8);
        Self::AtWords { least, most: (2 * least).max(SHORT_WORD) }
    }

    /// Cuts lazily: a text of a hundred megabytes is not held twice.
    pub(crate) fn cut(self, text: &Arc<str>) -> impl Iterator<Item = String> + Send + use<> {
        let text = Arc::clone(text);
        let mut from = 0;
        (0..).map_while(move |index| {
            let rest = text.get(from..).filter(|rest| !rest.is_empty())?;
            let piece = &rest[..self.length_of_next(rest, index)];
            from += piece.len();
            Some(piece.to_owned())
        })
    }

    /// At least one character of a `rest` that has one, else cutting would never end.
    fn length_of_next(self, rest: &str, index: usize) -> usize {
        match self {
            Self::Chars(count) => bytes_of_chars(rest, count),
            Self::Bytes(count) => rest.floor_char_boundary(count).max(bytes_of_chars(rest, 1)),
            Self::Varying => bytes_of_chars(rest, index * 7 % 17 + 1),
            Self::Words => end_of_word(rest),
            Self::AtWords { least, most } => end_at_word(rest, least, most),
            Self::AfterByte(position) if index == 0 => match rest.floor_char_boundary(position) {
                0 => rest.len(),
                length => length,
            },
            Self::Whole | Self::AfterByte(_) => rest.len(),
        }
    }
}

fn bytes_of_chars(text: &str, count: usize) -> usize {
    text.char_indices().nth(count.max(1)).map_or(text.len(), |(position, _)| position)
}

fn end_of_word(text: &str) -> usize {
    let letters = text.trim_start();
    let word = letters.find(char::is_whitespace).unwrap_or(letters.len());
    let after = letters[word..].trim_start().len();
    text.len() - after
}

fn end_at_word(text: &str, least: usize, most: usize) -> usize {
    let mut word = None;
    let is_edge = |letter: char| {
        let in_word = letter.is_alphanumeric();
        word.replace(in_word).is_some_and(|before| before != in_word)
    };
    let mut edges = text.match_indices(is_edge).map(|(edge, _)| edge);
    let edge = edges.find(|edge| *edge >= least.max(1)).unwrap_or(text.len());
    if edge <= most { edge } else { text.floor_char_boundary(most).max(bytes_of_chars(text, 1)) }
}

#[cfg(test)]
mod tests;
