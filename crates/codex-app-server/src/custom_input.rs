//! The input of a custom tool, out of the arguments of the function that stands for it. Pure.
//!
//! The function has one parameter, so that its arguments are `{"input":"…"}`. What the model writes may
//! be something else, and none of it is lost: see [`InputDeviation`].

use model_turn::InputDeviation;

/// How the arguments begin. JSON allows white space before some of these bytes.
const HEAD: &[u8] = br#"{"input":""#;
const SPACE_BEFORE: [usize; 4] = [0, 1, 8, 9];

/// Reads arguments in pieces; the input does not depend on how they are cut.
#[derive(Debug, Default)]
pub(crate) struct InputDecoder {
    state: State,
    deviation: Option<InputDeviation>,
    /// What was read and is not decided yet: the head, or an escape.
    held: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// So many bytes of the head were read.
    Head(usize),
    Text,
    /// In an escape; [`InputDecoder::held`] has it.
    Escape,
    /// Behind the text: the brace is still to come, or not.
    Tail {
        closed: bool,
    },
    /// All of it is the input.
    Raw,
}

/// What an escape is, as far as it was read.
enum Escape {
    /// More of it has to come.
    Open,
    /// A character.
    Is(char),
    /// Not one of JSON's. So many of its bytes stand for themselves; what follows is read again.
    Literal(usize),
}

/// The input of a whole call.
pub(crate) fn decode(arguments: &str) -> (String, Option<InputDeviation>) {
    let mut decoder = InputDecoder::default();
    let mut input = decoder.push(arguments);
    let deviation = decoder.finish(&mut input);
    (input, deviation)
}

// === impl State ===

impl Default for State {
    fn default() -> Self {
        Self::Head(0)
    }
}

// === impl InputDecoder ===

impl InputDecoder {
    /// Takes more of the arguments; gives what is certain of the input.
    pub(crate) fn push(&mut self, mut arguments: &str) -> String {
        let mut input = String::new();
        while let Some(next) = arguments.chars().next() {
            let taken = match self.state {
                State::Raw => self.take_raw(arguments, &mut input),
                State::Text => self.take_text(arguments, &mut input),
                State::Head(_) | State::Escape | State::Tail { .. } => {
                    self.step(next, &mut input);
                    next.len_utf8()
                }
            };
            arguments = &arguments[taken..];
        }
        input
    }

    /// There are no more arguments. Adds what was held back, and says how they deviate.
    pub(crate) fn finish(self, input: &mut String) -> Option<InputDeviation> {
        input.push_str(&self.held);
        match self.state {
            State::Head(_) | State::Raw => Some(InputDeviation::Raw),
            State::Text | State::Escape | State::Tail { closed: false } => {
                Some(InputDeviation::Malformed)
            }
            State::Tail { closed: true } => self.deviation,
        }
    }

    fn step(&mut self, next: char, input: &mut String) {
        match self.state {
            State::Head(read) => self.step_in_head(read, next, input),
            State::Text => {
                let mut buffer = [0; 4];
                self.take_text(next.encode_utf8(&mut buffer), input);
            }
            State::Escape => {
                self.held.push(next);
                self.end_escape(input);
            }
            State::Tail { closed } => match next {
                '}' if !closed => self.state = State::Tail { closed: true },
                ' ' | '\t' | '\n' | '\r' => {}
                _ => self.deviation = Some(InputDeviation::Malformed),
            },
            State::Raw => input.push(next),
        }
    }

    fn step_in_head(&mut self, read: usize, next: char, input: &mut String) {
        self.held.push(next);
        if u32::from(HEAD[read]) == u32::from(next) {
            self.state = State::Head(read + 1);
            if read + 1 == HEAD.len() {
                self.state = State::Text;
                self.held.clear();
            }
        } else if !(SPACE_BEFORE.contains(&read) && matches!(next, ' ' | '\t' | '\n' | '\r')) {
            self.state = State::Raw;
            input.push_str(&std::mem::take(&mut self.held));
        }
    }

    fn take_raw(&self, text: &str, input: &mut String) -> usize {
        debug_assert!(self.held.is_empty(), "the head was given out");
        input.push_str(text);
        text.len()
    }

    /// Takes text up to the end of the string, or to an escape; gives how many bytes that is.
    fn take_text(&mut self, text: &str, input: &mut String) -> usize {
        let end = memchr::memchr2(b'"', b'\\', text.as_bytes()).unwrap_or(text.len());
        let plain = &text[..end];
        if plain.bytes().any(|byte| byte < b' ') {
            self.deviation = Some(InputDeviation::Malformed);
        }
        input.push_str(plain);
        match text.as_bytes().get(end) {
            None => return end,
            Some(b'"') => self.state = State::Tail { closed: false },
            Some(_) => {
                self.state = State::Escape;
                self.held.push('\\');
            }
        }
        end + 1
    }

    /// Gives out the escape if it is complete, or none.
    fn end_escape(&mut self, input: &mut String) {
        let literal = match read_escape(&self.held) {
            Escape::Open => return,
            Escape::Is(character) => {
                input.push(character);
                self.held.len()
            }
            Escape::Literal(length) => {
                self.deviation = Some(InputDeviation::Malformed);
                input.push_str(&self.held[..length]);
                length
            }
        };
        let again = self.held.split_off(literal);
        self.held.clear();
        self.state = State::Text;
        for next in again.chars() {
            self.step(next, input);
        }
    }
}

/// Reads an escape, or the two of a character outside the basic plane.
fn read_escape(escape: &str) -> Escape {
    let first = match read_unit(escape) {
        Ok(Unit::Code(code)) => code,
        Ok(Unit::Simple(character)) => return Escape::Is(character),
        Err(other) => return other,
    };
    if let Some(character) = char::from_u32(first) {
        return Escape::Is(character);
    }
    if first >= LOW_SURROGATES {
        return Escape::Literal(UNIT);
    }
    match read_unit(&escape[UNIT..]) {
        Ok(Unit::Code(second)) if (LOW_SURROGATES..=LAST_SURROGATE).contains(&second) => {
            let code = 0x10000 + ((first - HIGH_SURROGATES) << 10) + (second - LOW_SURROGATES);
            char::from_u32(code).map_or(Escape::Literal(UNIT), Escape::Is)
        }
        Err(Escape::Open) => Escape::Open,
        Ok(_) | Err(_) => Escape::Literal(UNIT),
    }
}

/// Length of `\uXXXX`.
const UNIT: usize = 6;

const HIGH_SURROGATES: u32 = 0xD800;
const LOW_SURROGATES: u32 = 0xDC00;
const LAST_SURROGATE: u32 = 0xDFFF;

enum Unit {
    Simple(char),
    Code(u32),
}

/// Reads one escape from its backslash on.
fn read_unit(escape: &str) -> Result<Unit, Escape> {
    let mut characters = escape.chars();
    if characters.next().is_some_and(|first| first != '\\') {
        return Err(Escape::Literal(0));
    }
    let Some(kind) = characters.next() else { return Err(Escape::Open) };
    let simple = match kind {
        '"' | '\\' | '/' => kind,
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'u' => {
            let digits = characters.as_str();
            let right = digits.bytes().take(UNIT - 2).take_while(u8::is_ascii_hexdigit).count();
            return match u32::from_str_radix(&digits[..right], 16) {
                Ok(code) if right == UNIT - 2 => Ok(Unit::Code(code)),
                _ if right == digits.len() => Err(Escape::Open),
                _ => Err(Escape::Literal(2 + right)),
            };
        }
        _ => return Err(Escape::Literal(1)),
    };
    Ok(Unit::Simple(simple))
}

#[cfg(test)]
mod tests;
