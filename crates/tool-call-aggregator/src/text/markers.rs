//! Finding the next place where a block may begin.

use super::whole::Format;

/// The open markers of all formats, in order of precedence.
#[derive(Debug, Clone)]
pub(super) struct Markers {
    all: Vec<Marker>,
    first_bytes: FirstBytes,
    longest: usize,
}

#[derive(Debug, Clone)]
struct Marker {
    pattern: usize,
    bytes: Box<[u8]>,
}

/// The bytes that a marker can begin with.
#[derive(Debug, Clone)]
enum FirstBytes {
    None,
    One(u8),
    Two(u8, u8),
    Three(u8, u8, u8),
    Many(Box<[bool; 256]>),
}

/// The first thing of interest in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finding {
    /// No marker begins here.
    Nothing,
    /// The text ends in what could become a marker.
    Perhaps {
        /// Where that begins.
        at: usize,
    },
    /// A marker.
    Marker {
        /// Where it begins.
        at: usize,
        /// The format that it belongs to.
        pattern: usize,
    },
}

/// Whether more of the text may follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    MayCome,
    Ended,
}

/// What stands at one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// No marker.
    Nothing,
    /// What could become one.
    Perhaps,
    /// A marker of this format.
    Marker(usize),
}

// === impl Finding ===

impl Finding {
    /// The same in a text that begins so many bytes earlier.
    pub(super) fn shifted(self, by: usize) -> Self {
        match self {
            Self::Nothing => Self::Nothing,
            Self::Perhaps { at } => Self::Perhaps { at: at + by },
            Self::Marker { at, pattern } => Self::Marker { at: at + by, pattern },
        }
    }
}

// === impl Markers ===

impl Markers {
    pub(super) fn new(formats: &[Format]) -> Self {
        let all: Vec<Marker> = formats
            .iter()
            .enumerate()
            .flat_map(|(pattern, format)| {
                format
                    .open_markers()
                    .iter()
                    .map(move |marker| Marker { pattern, bytes: marker.as_bytes().into() })
            })
            .collect();
        let first_bytes = FirstBytes::of(&all);
        let longest = all.iter().map(|marker| marker.bytes.len()).max().unwrap_or(0);
        Self { all, first_bytes, longest }
    }

    /// The length of the longest marker.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    /// The first marker in `text`.
    #[inline]
    pub(super) fn find(&self, text: &[u8], rest: Rest) -> Finding {
        let mut from = 0;
        while let Some(step) = self.first_bytes.find(&text[from..]) {
            let at = from + step;
            match self.at(&text[at..], 0, rest) {
                Place::Marker(pattern) => return Finding::Marker { at, pattern },
                Place::Perhaps => return Finding::Perhaps { at },
                Place::Nothing => from = at + 1,
            }
        }
        Finding::Nothing
    }

    /// Whether `text` may hold the beginning of a marker, or of another line.
    #[inline]
    pub(super) fn or_line_may_begin(&self, text: &[u8]) -> bool {
        match self.first_bytes {
            FirstBytes::One(first) => memchr::memchr3(first, b'\n', b'\r', text).is_some(),
            _ => true,
        }
    }

    /// The first format from `first_pattern` on whose marker stands at the beginning of `text`, or
    /// could.
    pub(super) fn at(&self, text: &[u8], first_pattern: usize, rest: Rest) -> Place {
        for marker in self.all.iter().filter(|marker| marker.pattern >= first_pattern) {
            if text.starts_with(&marker.bytes) {
                return Place::Marker(marker.pattern);
            }
            if rest == Rest::MayCome && marker.bytes.starts_with(text) {
                return Place::Perhaps;
            }
        }
        Place::Nothing
    }
}

// === impl FirstBytes ===

impl FirstBytes {
    fn of(markers: &[Marker]) -> Self {
        let mut bytes: Vec<u8> =
            markers.iter().filter_map(|marker| marker.bytes.first().copied()).collect();
        bytes.sort_unstable();
        bytes.dedup();
        match bytes[..] {
            [] => Self::None,
            [a] => Self::One(a),
            [a, b] => Self::Two(a, b),
            [a, b, c] => Self::Three(a, b, c),
            _ => {
                let mut table = Box::new([false; 256]);
                for byte in bytes {
                    table[usize::from(byte)] = true;
                }
                Self::Many(table)
            }
        }
    }

    #[inline]
    fn find(&self, text: &[u8]) -> Option<usize> {
        match self {
            Self::None => None,
            Self::One(a) => memchr::memchr(*a, text),
            Self::Two(a, b) => memchr::memchr2(*a, *b, text),
            Self::Three(a, b, c) => memchr::memchr3(*a, *b, *c, text),
            Self::Many(table) => text.iter().position(|byte| table[usize::from(*byte)]),
        }
    }
}
