//! Marks: `[[name]]` or `[[name:argument]]` inside a user's text.

use std::ops::Range;

/// A mark, and where in its text it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark<'a> {
    pub(crate) name: &'a str,
    pub(crate) argument: Option<&'a str>,
    text: &'a str,
    place: Range<usize>,
}

impl<'a> Mark<'a> {
    /// The last mark of a text.
    pub(crate) fn last_in(text: &'a str) -> Option<Self> {
        let mut last = None;
        let mut from = 0;
        while let Some(start) = text[from..].find("[[").map(|found| from + found) {
            from = match Self::at(text, start) {
                Some(mark) => last.insert(mark).place.end,
                None => start + 1,
            };
        }
        last
    }

    /// The whole text that the mark stands in.
    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// The text without the mark, and otherwise untouched.
    pub(crate) fn rest(&self) -> String {
        [&self.text[..self.place.start], &self.text[self.place.end..]].concat()
    }

    /// The mark that this one's argument writes, in the same text.
    pub(crate) fn inner(&self) -> Option<Self> {
        let (name, argument) = match self.argument?.split_once(':') {
            Some((name, argument)) => (name, Some(argument)),
            None => (self.argument?, None),
        };
        Some(Self { name, argument, text: self.text, place: self.place.clone() })
    }

    /// Only lower-case names are marks: people write `[[Links]]` to their notes.
    fn at(text: &'a str, start: usize) -> Option<Self> {
        let inner = &text[start + 2..];
        let is_name = |letter: char| {
            letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, '-' | '_')
        };
        let length = inner.find(|letter| !is_name(letter))?;
        let (name, tail) = inner.split_at(length);
        if !name.starts_with(|letter: char| letter.is_ascii_lowercase()) {
            return None;
        }
        let (argument, consumed) = match tail.strip_prefix(':') {
            Some(argument) => {
                let end = end_of_argument(argument)?;
                (Some(&argument[..end]), length + 1 + end)
            }
            None => tail.starts_with("]]").then_some((None, length))?,
        };
        Some(Self { name, argument, text, place: start..start + 2 + consumed + 2 })
    }
}

/// The closing `]]` that does not belong to a bracket of the argument, which may be JSON; where the
/// brackets of the argument do not balance, the first `]]`.
fn end_of_argument(argument: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (position, letter) in argument.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' if depth > 0 => depth -= 1,
            ']' if argument[position..].starts_with("]]") => return Some(position),
            _ => {}
        }
    }
    argument.find("]]")
}

#[cfg(test)]
mod tests;
