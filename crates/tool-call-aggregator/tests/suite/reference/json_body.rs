//! A value that begins like JSON: read as JSON if it is, and otherwise as text.

/// What stands at a place.
pub(super) enum Mark<T> {
    /// A tag that ends the value.
    Close(T),
    /// Another block's beginning.
    Open,
    Nothing,
    /// The end of the text broke it off.
    Unfinished,
}

/// What ends a value, and where.
pub(super) enum End<T> {
    Close(usize, T),
    Open(usize),
    Unfinished,
}

/// Why a text is not a whole JSON value.
enum Stop {
    At(usize),
    Unfinished,
}

/// The end of the value that begins at `start`; `mark` says what a `<` begins.
pub(super) fn end<T>(
    text: &str,
    start: usize,
    ended: bool,
    mark: impl Fn(usize) -> Mark<T>,
) -> End<T> {
    let bytes = text.as_bytes();
    let not_json = match value(bytes, super::skip_ws(text, start)) {
        Err(Stop::At(at)) => at,
        Err(Stop::Unfinished) if ended => usize::MAX,
        Err(Stop::Unfinished) => return End::Unfinished,
        Ok(end) => {
            let after = space(bytes, end);
            let mark = if bytes.get(after) == Some(&b'<') { mark(after) } else { Mark::Nothing };
            match mark {
                Mark::Close(close) => return End::Close(after, close),
                _ if !ended && after == bytes.len() => return End::Unfinished,
                Mark::Unfinished if !ended && may_close(&text[after..]) => return End::Unfinished,
                _ => after,
            }
        }
    };
    for here in text[start..].match_indices('<').map(|(at, _)| start + at) {
        match mark(here) {
            Mark::Close(close) => return End::Close(here, close),
            Mark::Open if here >= not_json => return End::Open(here),
            Mark::Unfinished if here >= not_json => return End::Unfinished,
            Mark::Open | Mark::Unfinished | Mark::Nothing => {}
        }
    }
    End::Unfinished
}

/// Whether what the end broke off began like a close tag.
fn may_close(rest: &str) -> bool {
    rest == "<" || rest.starts_with("</")
}

fn space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// Where the JSON value ends that begins at `at`.
fn value(bytes: &[u8], at: usize) -> Result<usize, Stop> {
    let at = space(bytes, at);
    match bytes.get(at) {
        None => Err(Stop::Unfinished),
        Some(b'"') => string(bytes, at + 1),
        Some(b'[') => items(bytes, at + 1, b']', value),
        Some(b'{') => items(bytes, at + 1, b'}', member),
        Some(b't') => word(bytes, at, b"true"),
        Some(b'f') => word(bytes, at, b"false"),
        Some(b'n') => word(bytes, at, b"null"),
        Some(_) => number(bytes, at),
    }
}

fn items(
    bytes: &[u8],
    at: usize,
    close: u8,
    item: fn(&[u8], usize) -> Result<usize, Stop>,
) -> Result<usize, Stop> {
    let mut at = space(bytes, at);
    if bytes.get(at) == Some(&close) {
        return Ok(at + 1);
    }
    loop {
        at = space(bytes, item(bytes, at)?);
        match bytes.get(at) {
            Some(b',') => at += 1,
            Some(byte) if *byte == close => return Ok(at + 1),
            Some(_) => return Err(Stop::At(at)),
            None => return Err(Stop::Unfinished),
        }
    }
}

fn member(bytes: &[u8], at: usize) -> Result<usize, Stop> {
    let key = space(bytes, at);
    let key_end = string(bytes, word(bytes, key, b"\"")?)?;
    let colon = word(bytes, space(bytes, key_end), b":")?;
    value(bytes, colon)
}

fn string(bytes: &[u8], mut at: usize) -> Result<usize, Stop> {
    loop {
        match bytes.get(at) {
            None => return Err(Stop::Unfinished),
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => {
                at += 1;
                match bytes.get(at) {
                    None => return Err(Stop::Unfinished),
                    Some(b'u') => at = some(bytes, at + 1, 4, 4, u8::is_ascii_hexdigit)?,
                    Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => at += 1,
                    Some(_) => return Err(Stop::At(at)),
                }
            }
            Some(_) => at += 1,
        }
    }
}

fn number(bytes: &[u8], at: usize) -> Result<usize, Stop> {
    let digits = |at: usize| some(bytes, at, 1, usize::MAX, u8::is_ascii_digit);
    let at = at + usize::from(bytes[at] == b'-');
    let mut at = if bytes.get(at) == Some(&b'0') { at + 1 } else { digits(at)? };
    if bytes.get(at) == Some(&b'.') {
        at = digits(at + 1)?;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1;
        at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
        at = digits(at)?;
    }
    // It may go on.
    if at < bytes.len() { Ok(at) } else { Err(Stop::Unfinished) }
}

/// From `least` to `most` bytes of a kind.
fn some(
    bytes: &[u8],
    mut at: usize,
    least: usize,
    most: usize,
    kind: fn(&u8) -> bool,
) -> Result<usize, Stop> {
    let start = at;
    while at - start < most && bytes.get(at).is_some_and(kind) {
        at += 1;
    }
    match bytes.get(at) {
        _ if at - start >= least => Ok(at),
        Some(_) => Err(Stop::At(at)),
        None => Err(Stop::Unfinished),
    }
}

fn word(bytes: &[u8], at: usize, word: &[u8]) -> Result<usize, Stop> {
    for (place, byte) in (at..).zip(word) {
        match bytes.get(place) {
            None => return Err(Stop::Unfinished),
            Some(there) if there == byte => {}
            Some(_) => return Err(Stop::At(place)),
        }
    }
    Ok(at + word.len())
}
