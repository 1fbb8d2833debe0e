use serde_json::Value;

use super::*;

/// What a terminal must not get, written out once more.
const NEVER: &[(u32, u32)] = &[
    (0x00, 0x08),
    (0x0b, 0x1f),
    (0x7f, 0x9f),
    (0x61c, 0x61c),
    (0x200e, 0x200f),
    (0x2028, 0x202e),
    (0x2066, 0x206f),
    (0xe0000, 0xe0fff),
];

fn is_forbidden(character: char) -> bool {
    NEVER.iter().any(|(first, last)| (*first..=*last).contains(&u32::from(character)))
}

#[test]
fn row_23_each_character_is_itself_or_an_escape_without_any_forbidden_one() {
    for character in ('\0'..=char::MAX).map(String::from) {
        let shown = visible(&character);
        let is_same = shown == character.as_str();
        assert_eq!(is_same, !character.contains(is_forbidden), "{character:?}");
        assert!(!shown.contains(is_forbidden), "{character:?}");
        let line = visible_line(&character);
        assert!(!line.contains(is_forbidden) && !line.contains(['\n', '\t']), "{character:?}");
    }
    assert_eq!(
        visible("a\u{1b}]52;c;aGk=\u{7}\t\u{9b}2J\n"),
        "a\\u001b]52;c;aGk=\\u0007\t\\u009b2J\n"
    );
    assert_eq!(visible_line("a\r\nb\u{e0041}"), "a\\u000d\\u000ab\\udb40\\udc41");
}

/// A stream may be cut anywhere.
#[test]
fn row_23_text_in_pieces_is_shown_like_the_whole() {
    let clean = "Grüße, 字, \u{1f468}\u{200d}\u{1f469}, ελληνικά, עברית\n";
    let mut dice = fastrand::Rng::with_seed(23);
    let hostile: Vec<_> = ('\0'..=char::MAX).filter(|character| is_obeyed(*character)).collect();
    for _ in 0..500 {
        let mut text = String::new();
        for _ in 0..40 {
            let from = if dice.bool() { &hostile } else { &clean.chars().collect() };
            text.extend(dice.choice(from));
        }
        let whole = visible(&text);
        let letters: Vec<_> = text.chars().collect();
        let pieces = letters.chunks(dice.usize(1..=5)).map(String::from_iter);
        let pieces: String = pieces.map(|piece| visible(&piece).into_owned()).collect();
        assert_eq!(pieces, whole, "{text:?}");
        assert_eq!(visible(&whole), whole, "{text:?}");
    }
    assert!(matches!(visible(clean), Cow::Borrowed(_)));
}

#[test]
fn row_23_json_remains_the_same_json() {
    let text: String = ('\0'..=char::MAX).collect();
    let value = Value::from(text);
    for json in [value.to_string(), format!("{:#}", serde_json::json!({"a": [value]}))] {
        let shown = visible(&json);
        assert!(!shown.contains(is_forbidden));
        let read: Value = serde_json::from_str(&shown).unwrap();
        assert!(read == value || read["a"][0] == value);
    }
}
