//! The letters that may stand for a letter.

/// Letters in a row, all of the same length in UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Alphabet {
    first: char,
    size: u32,
}

// === impl Alphabet ===

impl Alphabet {
    /// What cannot be another.
    fn only(letter: char) -> Self {
        Self { first: letter, size: 1 }
    }

    /// Letters of the same kind and length: Latin ones of two bytes, and ideographs. For signs there
    /// are marks, mathematics and pictures: none of them is a letter.
    fn of(letter: char) -> Self {
        match (letter, letter.len_utf8()) {
            ('a'..='z', _) => Self { first: 'a', size: 26 },
            ('A'..='Z', _) => Self { first: 'A', size: 26 },
            ('0'..='9', _) => Self { first: '0', size: 10 },
            (_, 1) => Self::only(letter),
            (sign, 2) if !sign.is_alphanumeric() => Self { first: '\u{300}', size: 0x45 },
            (sign, 3) if !sign.is_alphanumeric() => Self { first: '\u{2200}', size: 0x100 },
            (sign, 4) if !sign.is_alphanumeric() => Self { first: '\u{1f300}', size: 0x300 },
            (_, 2) => Self { first: '\u{100}', size: 0x150 },
            (_, 3) => Self { first: '\u{4e00}', size: 0x2000 },
            (_, _) => Self { first: '\u{20000}', size: 0x2000 },
        }
    }

    pub(super) fn size(self) -> u32 {
        self.size
    }

    /// A place in it, by chance.
    pub(super) fn place(self, drawn: u64) -> u32 {
        // The remainder is smaller than the size.
        u32::try_from(drawn % u64::from(self.size)).unwrap_or_default()
    }

    pub(super) fn letter(self, place: u32) -> char {
        char::from_u32(u32::from(self.first) + place).unwrap_or(self.first)
    }

    pub(super) fn find(self, letter: char) -> Option<u32> {
        u32::from(letter).checked_sub(u32::from(self.first)).filter(|place| *place < self.size)
    }
}

/// An alphabet for each letter of a word. What is a number stays one, and of the same sort: it keeps
/// its leading zero and the sign of its exponent, and zero stays zero.
pub(super) fn alphabets(word: &[char]) -> impl Iterator<Item = Alphabet> {
    let zero = word.iter().all(|letter| *letter == '0');
    let digits = word.iter().take_while(|letter| letter.is_ascii_digit()).count();
    word.iter().enumerate().map(move |(place, letter)| {
        let next_is_digit = word.get(place + 1).is_none_or(char::is_ascii_digit);
        match letter {
            '0' if zero || place == 0 => Alphabet::only('0'),
            '1'..='9' if place == 0 => Alphabet { first: '1', size: 9 },
            'e' | 'E' if place == digits && place > 0 && next_is_digit => Alphabet::only(*letter),
            _ => Alphabet::of(*letter),
        }
    })
}
