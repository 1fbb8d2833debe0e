//! JSON text that arrives in pieces: where its strings are, and the first byte that makes it no JSON.

use Expects::{
    Colon, Escape, Exponent, ExponentDigits, ExponentSign, FirstItem, FirstKey, Fraction,
    FractionDigits, Hex, Integer, Key, Literal, Minus, Rest, Text, Value, Zero,
};

/// Follows JSON text byte by byte, as far as the text can still become one JSON value. Raw control
/// characters are allowed in strings: models write them.
#[derive(Debug, Clone, Default)]
pub(super) struct JsonText {
    expects: Expects,
    /// The objects and arrays that are open, the outermost first.
    open: Vec<Container>,
    /// Whether the string that is being read is a key.
    in_key: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Container {
    Object,
    Array,
}

/// What may come next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Expects {
    #[default]
    Value,
    /// A value, or the end of an empty array.
    FirstItem,
    /// A key, or the end of an empty object.
    FirstKey,
    Key,
    Colon,
    /// What follows a value.
    Rest,
    /// More of a string.
    Text,
    /// The byte after a backslash.
    Escape,
    /// So many digits of `\u`.
    Hex(u8),
    /// The rest of `true`, `false` or `null`.
    Literal(&'static [u8]),
    /// The parts of a number, each named by what was read last.
    Minus,
    Zero,
    Integer,
    Fraction,
    FractionDigits,
    Exponent,
    ExponentSign,
    ExponentDigits,
}

/// Where reading has stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JsonStop {
    /// At the end of what has arrived.
    End,
    /// At a byte that follows the whole value, and is not white space.
    After(usize),
    /// At a byte that cannot stand there.
    Broken(usize),
}

// === impl JsonText ===

impl JsonText {
    /// Reads on from `at`.
    pub(super) fn read(&mut self, bytes: &[u8], mut at: usize) -> JsonStop {
        while let Some(byte) = bytes.get(at) {
            if self.expects == Text {
                let Some(found) = memchr::memchr2(b'"', b'\\', &bytes[at..]) else {
                    return JsonStop::End;
                };
                at += found;
                self.expects = match bytes[at] {
                    b'\\' => Escape,
                    _ if self.in_key => Colon,
                    _ => Rest,
                };
            } else if let Some(next) = self.step(*byte) {
                self.expects = next;
            } else if self.is_whole() {
                return JsonStop::After(at);
            } else {
                return JsonStop::Broken(at);
            }
            at += 1;
        }
        JsonStop::End
    }

    fn is_whole(&self) -> bool {
        self.open.is_empty() && self.expects == Rest
    }

    /// What may follow a byte outside a string; `None` if the byte cannot stand there.
    fn step(&mut self, byte: u8) -> Option<Expects> {
        let is_space = matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        Some(match (self.expects, byte) {
            (Value | FirstItem | FirstKey | Key | Colon | Rest, _) if is_space => self.expects,
            (FirstKey | Key, b'"') => self.begin_string(true),
            (Colon, b':') => Value,
            (FirstKey, b'}') | (FirstItem, b']') => self.end_container(byte)?,
            (Value | FirstItem, _) => self.begin_value(byte)?,
            (Escape, b'u') => Hex(4),
            (Escape, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Text,
            (Hex(left), _) if byte.is_ascii_hexdigit() => match left {
                1 => Text,
                _ => Hex(left - 1),
            },
            (Literal([next]), _) if byte == *next => Rest,
            (Literal([next, rest @ ..]), _) if byte == *next => Literal(rest),
            (Minus, b'0') => Zero,
            (Minus, b'1'..=b'9') | (Integer, b'0'..=b'9') => Integer,
            (Zero | Integer, b'.') => Fraction,
            (Fraction | FractionDigits, b'0'..=b'9') => FractionDigits,
            (Zero | Integer | FractionDigits, b'e' | b'E') => Exponent,
            (Exponent, b'+' | b'-') => ExponentSign,
            (Exponent | ExponentSign | ExponentDigits, b'0'..=b'9') => ExponentDigits,
            // A number ends where something else begins.
            (Zero | Integer | FractionDigits | ExponentDigits, _) if is_space => Rest,
            (Rest | Zero | Integer | FractionDigits | ExponentDigits, b',') => {
                match self.open.last()? {
                    Container::Object => Key,
                    Container::Array => Value,
                }
            }
            (Rest | Zero | Integer | FractionDigits | ExponentDigits, b'}' | b']') => {
                self.end_container(byte)?
            }
            _ => return None,
        })
    }

    fn begin_value(&mut self, byte: u8) -> Option<Expects> {
        Some(match byte {
            b'"' => self.begin_string(false),
            b'{' => {
                self.open.push(Container::Object);
                FirstKey
            }
            b'[' => {
                self.open.push(Container::Array);
                FirstItem
            }
            b't' => Literal(b"rue"),
            b'f' => Literal(b"alse"),
            b'n' => Literal(b"ull"),
            b'-' => Minus,
            b'0' => Zero,
            b'1'..=b'9' => Integer,
            _ => return None,
        })
    }

    fn begin_string(&mut self, is_key: bool) -> Expects {
        self.in_key = is_key;
        Text
    }

    fn end_container(&mut self, byte: u8) -> Option<Expects> {
        let ended = if byte == b'}' { Container::Object } else { Container::Array };
        self.open.pop_if(|open| *open == ended).map(|_| Rest)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::{JsonStop, JsonText};

    /// Where a text stops to be JSON, if it does; byte by byte where `cut`.
    fn stop(text: &str, cut: bool) -> JsonStop {
        let (mut json, bytes) = (JsonText::default(), text.as_bytes());
        if !cut {
            return json.read(bytes, 0);
        }
        let stops = (0..bytes.len()).map(|at| json.read(&bytes[..=at], at));
        let mut stops = stops.skip_while(|stop| *stop == JsonStop::End);
        stops.next().unwrap_or(JsonStop::End)
    }

    #[test]
    fn the_first_byte_that_cannot_stand_there_is_found() {
        for (text, at) in [
            (r#"{"q":"5" tall"}"#, 9),
            ("{a", 1),
            ("{]", 1),
            ("[}", 1),
            ("[1}", 2),
            ("[,", 1),
            ("[1,]", 3),
            ("{,", 1),
            (r#"{"a" 1"#, 5),
            (r#"{"a":}"#, 5),
            (r#"{"a":1,}"#, 7),
            (r#"{"a":1 "b""#, 7),
            ("[01", 2),
            ("[-a", 2),
            ("[1.]", 3),
            ("[1e]", 3),
            ("[1e+,", 4),
            ("[1.2.3", 4),
            ("[trux", 4),
            ("[nulL", 4),
            (r#"["\x"#, 3),
            (r#"["\u12g"#, 6),
            ("[<", 1),
            (r#"{"a":"b"<"#, 8),
        ] {
            assert_eq!(stop(text, false), JsonStop::Broken(at), "{text}");
            assert_eq!(stop(text, true), JsonStop::Broken(at), "{text}");
        }
    }

    #[test]
    fn what_follows_the_whole_value_is_found() {
        for text in ["{}", "[]", "\"\"", r#"[{"a":[1.5e-3,-0,true,false,null,"\u00e9\n"]}]"#] {
            assert_eq!(stop(&format!("{text} \n"), true), JsonStop::End, "{text}");
            assert_eq!(stop(&format!("{text} x"), true), JsonStop::After(text.len() + 1));
        }
        assert_eq!(stop("\"a\tb\n\"<", false), JsonStop::After(6), "raw control characters");
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map(any::<String>(), inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn all_json_is_read_to_its_end(value in any_json(), pretty in any::<bool>()) {
            let text = if pretty { format!("{value:#}") } else { value.to_string() };
            // In an array also a number has an end.
            let text = format!("[{text}]");
            prop_assert_eq!(stop(&format!("{text}<"), true), JsonStop::After(text.len()));
        }

        /// What is not broken is the beginning of JSON: some end makes it whole.
        #[test]
        fn what_is_not_json_is_not_read_to_its_end(text in r#"[\[{]([\[\]{},:"\\ntu10.e<-]| ){0,12}"#) {
            let whole = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
            let found = stop(&format!("{text}<"), true);
            prop_assert_eq!(found == JsonStop::After(text.len()), whole, "{}", text);
        }
    }
}
