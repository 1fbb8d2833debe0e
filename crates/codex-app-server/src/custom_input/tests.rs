use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// The input when the arguments come in these pieces: what was given out early, and all of it.
fn in_pieces<'a>(pieces: impl IntoIterator<Item = &'a str>) -> (String, Option<InputDeviation>) {
    let mut decoder = InputDecoder::default();
    let mut input: String = pieces.into_iter().map(|piece| decoder.push(piece)).collect();
    let deviation = decoder.finish(&mut input);
    (input, deviation)
}

fn in_characters(arguments: &str) -> (String, Option<InputDeviation>) {
    in_pieces(arguments.split_inclusive(|_: char| true))
}

/// Every character as an escape, as some models write them.
fn escaped(text: &str) -> String {
    let units: Vec<_> = text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
    format!("{{\"input\": \"{}\"}}", units.concat())
}

#[test]
fn arguments_of_the_declared_form_give_their_text() {
    for (arguments, input) in [
        (r#"{"input":""}"#, ""),
        (r#"{"input":"*** Begin Patch\n+a\t\"b\"\\\/"}"#, "*** Begin Patch\n+a\t\"b\"\\/"),
        ("\n { \t\"input\" :\r \"a\" }\n ", "a"),
        (r#"{"input":"\b\f\r\u00e9\ud83d\ude00é😀"}"#, "\u{8}\u{c}\ré😀é😀"),
        (r#"{"input":"{\"input\":\"x\"}"}"#, r#"{"input":"x"}"#),
    ] {
        assert_eq!(decode(arguments), (input.to_owned(), None), "{arguments}");
        assert_eq!(in_characters(arguments), (input.to_owned(), None), "{arguments}");
    }
}

#[test]
fn what_does_not_begin_like_it_is_the_input_as_it_is() {
    for arguments in [
        "",
        "*** Begin Patch\n",
        "{",
        r#"{"input""#,
        r#"{"input":1}"#,
        r#"{"other":"a","input":"b"}"#,
        r#"{"inputs":"a"}"#,
        r#"{"in put":"a"}"#,
        "{}",
        "é{\"input\":\"",
    ] {
        let expected = (arguments.to_owned(), Some(InputDeviation::Raw));
        assert_eq!(decode(arguments), expected);
        assert_eq!(in_characters(arguments), expected);
    }
}

#[test]
fn a_deviation_after_the_beginning_keeps_the_text() {
    for (arguments, input) in [
        (r#"{"input":"abc"#, "abc"),
        (r#"{"input":"abc""#, "abc"),
        (r#"{"input":"abc","more":1}"#, "abc"),
        (r#"{"input":"abc"}}"#, "abc"),
        (r#"{"input":"a\qb"}"#, r"a\qb"),
        (r#"{"input":"a\u12x"}"#, r"a\u12x"),
        (r#"{"input":"a\u123é"}"#, r"a\u123é"),
        (r#"{"input":"a\u12""#, r"a\u12"),
        (r#"{"input":"\ud83d"}"#, r"\ud83d"),
        (r#"{"input":"\ud83d€"}"#, r"\ud83d€"),
        (r#"{"input":"\ud83d\n"}"#, "\\ud83d\n"),
        (r#"{"input":"\ud83d\u0041"}"#, r"\ud83dA"),
        (r#"{"input":"\ud83d\ud83d\ude00"}"#, r"\ud83d😀"),
        (r#"{"input":"\ude00"}"#, r"\ude00"),
        ("{\"input\":\"a\nb\"}", "a\nb"),
        (r#"{"input":"a\"#, r"a\"),
    ] {
        let expected = (input.to_owned(), Some(InputDeviation::Malformed));
        assert_eq!(decode(arguments), expected, "{arguments}");
        assert_eq!(in_characters(arguments), expected, "{arguments}");
    }
}

/// Anything that is nearly JSON.
fn arguments() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just(r#"{"input":""#),
        Just(r#""}"#),
        Just("\\"),
        Just("\\u"),
        Just("\\ud83d"),
        Just("\\ude00"),
        Just("\""),
        Just("é"),
        Just("12"),
        Just(" \n"),
        Just("x😀"),
    ];
    (any::<bool>(), proptest::collection::vec(piece, 0..12)).prop_map(|(begins, pieces)| {
        format!("{}{}", if begins { r#"{"input":""# } else { "" }, pieces.concat())
    })
}

proptest! {
    #[test]
    fn any_text_survives_byte_for_byte(text in any::<String>()) {
        for arguments in [json!({"input": text}).to_string(), escaped(&text)] {
            prop_assert_eq!(decode(&arguments), (text.clone(), None));
            prop_assert_eq!(in_characters(&arguments), (text.clone(), None));
        }
    }

    #[test]
    fn no_split_changes_the_input(arguments in arguments(), cuts in any::<[prop::sample::Index; 2]>()) {
        let mut ends: Vec<_> = arguments.char_indices().map(|(at, _)| at).collect();
        ends.push(arguments.len());
        let mut cuts = cuts.map(|cut| *cut.get(&ends));
        cuts.sort_unstable();
        let [first, second] = cuts;
        let pieces = [&arguments[..first], &arguments[first..second], &arguments[second..]];
        prop_assert_eq!(in_pieces(pieces), decode(&arguments));
        prop_assert_eq!(in_characters(&arguments), decode(&arguments));
    }

    #[test]
    fn only_json_of_the_declared_form_is_no_deviation(arguments in arguments()) {
        let (input, deviation) = decode(&arguments);
        let declared = serde_json::from_str(&arguments).is_ok_and(|value: Value| value == json!({"input": input}));
        prop_assert_eq!(deviation.is_none(), declared, "{}", arguments);
        if deviation == Some(InputDeviation::Raw) {
            prop_assert_eq!(input, arguments);
        }
    }
}
