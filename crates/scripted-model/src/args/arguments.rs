//! The argument text of a call: a JSON object whose size is chosen.

use std::borrow::Cow;
use std::iter;

use serde_json::Value;

/// What a careless reader of JSON, of UTF-8 or of event streams fails at, as it is written inside a
/// JSON string. No unit ends within an escape.
const UNITS: [&str; 14] = [
    r#"\""#,
    r"\\",
    r"\n",
    "é",
    "漢",
    "😀",
    "}}",
    "aaaaaaaaaaaa",
    r#"\\\""#,
    r"\u00e9",
    r"\ud83d\ude00",
    r"\n\ndata: [DONE]\n\n",
    "\u{2028}",
    "{[,:]",
];

const END: &str = r#""}"#;

/// The arguments of call `index` of an `args` scenario: exactly `bytes` bytes, or as few as hold the
/// city, the mark and an empty text. `mark` is the user's text without the mark, trimmed.
pub fn long_arguments(index: usize, mark: &str, bytes: usize) -> String {
    let mark = Value::from(mark);
    let mut arguments = format!(r#"{{"city": "C{index}", "mark": {mark}, "text": ""#);
    fill(&mut arguments, index, bytes.saturating_sub(END.len()));
    arguments.push_str(END);
    arguments
}

/// Each round has the numbers of its call and of itself, so that one that is lost, repeated or in the
/// wrong call shows.
fn fill(text: &mut String, index: usize, length: usize) {
    text.reserve((length + END.len()).saturating_sub(text.len()));
    let number = |round| Cow::from(format!("#{index}.{round} "));
    let rounds = (0_u64..).flat_map(|round| iter::once(number(round)).chain(UNITS.map(Cow::from)));
    for unit in rounds {
        if text.len() + unit.len() > length {
            break;
        }
        text.push_str(&unit);
    }
    text.extend(iter::repeat_n('x', length.saturating_sub(text.len())));
}
