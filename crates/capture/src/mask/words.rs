//! A text in words and what is between them.

use super::names::Names;

/// Part of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    /// Left as it is.
    Kept(&'t str),
    /// To be masked.
    Word(Vec<Unit>),
}

/// A letter of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) letter: char,
    form: Form,
}

/// How a letter is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// As it is.
    Plain,
    /// As JSON's `\u00e9`, or `\u00E9`.
    Escape { upper: bool },
}

/// Entities of XML: one character each.
const ENTITIES: [&str; 5] = ["&lt;", "&gt;", "&amp;", "&quot;", "&apos;"];

/// `\u00e9`
const ESCAPE_BYTES: usize = 6;

// === impl Unit ===

impl Unit {
    /// The letter that stands here, and its length.
    fn at(text: &str) -> Option<(Self, usize)> {
        let letter = text.chars().next()?;
        if is_masked(letter) {
            return Some((Self { letter, form: Form::Plain }, letter.len_utf8()));
        }
        let (letter, length) = escaped(text)?;
        let upper = text[..length].bytes().any(|byte| byte.is_ascii_uppercase());
        let unit = Self { letter, form: Form::Escape { upper } };
        is_masked(letter).then_some((unit, length))
    }

    /// Writes another letter in its form.
    pub(super) fn write(self, letter: char, text: &mut String) {
        let Form::Escape { upper } = self.form else { return text.push(letter) };
        for code in letter.encode_utf16(&mut [0; 2]) {
            let code = if upper { format!("\\u{code:04X}") } else { format!("\\u{code:04x}") };
            text.push_str(&code);
        }
    }
}

/// Splits a text.
pub(super) fn pieces<'t>(text: &'t str, names: &Names) -> impl Iterator<Item = Piece<'t>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, length) = first_piece(rest, names)?;
        rest = &rest[length..];
        Some(piece)
    })
}

/// The first piece of a text, and its length.
fn first_piece<'t>(text: &'t str, names: &Names) -> Option<(Piece<'t>, usize)> {
    let kept = |length: usize| Some((Piece::Kept(&text[..length]), length));
    if text.is_empty() {
        return None;
    }
    if let Some(length) = names.phrase_at(text) {
        return kept(length);
    }
    let mut units = Vec::new();
    let mut length = 0;
    while let Some((unit, more)) = Unit::at(&text[length..]) {
        // Signs are words of their own: a word is the same with and without a flag behind it.
        if units
            .first()
            .is_some_and(|first: &Unit| is_of_word(first.letter) != is_of_word(unit.letter))
        {
            break;
        }
        units.push(unit);
        length += more;
    }
    if units.is_empty() {
        kept(between(text))
    } else if names.contains(&text[..length]) {
        kept(length)
    } else {
        Some((Piece::Word(units), length))
    }
}

/// Letters, digits, and what joins the parts of a name.
pub(super) fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Signs outside ASCII speak as well as letters do: emoji, flags, Braille, tags that nobody sees.
fn is_masked(letter: char) -> bool {
    is_of_word(letter) || !(letter.is_ascii() || letter.is_whitespace())
}

/// How much stands here that is one thing and no word.
fn between(text: &str) -> usize {
    let entity = ENTITIES.iter().find(|entity| text.starts_with(**entity));
    let pair = || {
        let escape = text.strip_prefix('\\')?.bytes().next()?;
        b"\"\\/bfnrt".contains(&escape).then_some(2)
    };
    entity
        .map(|entity| entity.len())
        .or_else(|| escaped(text).map(|(_, length)| length))
        .or_else(pair)
        .or_else(|| text.chars().next().map(char::len_utf8))
        .unwrap_or(text.len())
}

/// The character of an escape, which has two parts outside the basic plane, and its length.
fn escaped(text: &str) -> Option<(char, usize)> {
    let first = escaped_code(text)?;
    if let Some(Ok(letter)) = char::decode_utf16([first]).next() {
        return Some((letter, ESCAPE_BYTES));
    }
    let second = escaped_code(&text[ESCAPE_BYTES..])?;
    let letter = char::decode_utf16([first, second]).next()?.ok()?;
    Some((letter, 2 * ESCAPE_BYTES))
}

fn escaped_code(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| u16::from_str_radix(digits, 16).ok())?
}
