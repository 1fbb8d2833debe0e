use std::borrow::Cow;

use proptest::prelude::*;
use serde_json::Value;

use super::{decoded_string, json_string, json_value, object_members, object_text};

fn members<'a>(expected: &[(&'a str, &'a str)]) -> Vec<(Cow<'a, str>, &'a str)> {
    expected.iter().map(|&(key, value)| (Cow::Borrowed(key), value)).collect()
}

#[test]
fn members_come_in_their_order_with_values_as_they_stand() {
    let text =
        "\n { \"z\" : 1e5 , \"a\":[ 1,\t2 ],\"m\":\"\\u0041\\n\", \"n\":12345678901234567890 }\t";
    assert_eq!(
        object_members(text),
        Some(members(&[
            ("z", "1e5"),
            ("a", "[ 1,\t2 ]"),
            ("m", r#""\u0041\n""#),
            ("n", "12345678901234567890"),
        ]))
    );
    assert_eq!(object_members("{}"), Some(members(&[])));
}

#[test]
fn the_last_of_equal_keys_counts_in_the_place_of_the_first() {
    let text = r#"{"a":1,"b":2,"\u0061":3,"c":4,"b":null}"#;
    assert_eq!(object_members(text), Some(members(&[("a", "3"), ("b", "null"), ("c", "4")])));
}

#[test]
fn keys_are_decoded() {
    let text = r#"{"a\"\\\n":1,"\ud83d\ude00":2,"é":3,"x\ud83dy":4,"":5}"#;
    assert_eq!(
        object_members(text),
        Some(members(&[("a\"\\\n", "1"), ("😀", "2"), ("é", "3"), ("x\u{FFFD}y", "4"), ("", "5")]))
    );
}

#[test]
fn only_one_valid_object_has_members() {
    for text in [
        "",
        " ",
        "[]",
        "null",
        "1",
        r#""{}""#,
        "{",
        r#"{"a":}"#,
        r#"{"a":1,}"#,
        "{a:1}",
        r#"{"a":1}{}"#,
        "{\"a\n\":1}",
        r#"{"a":01}"#,
        r#"{"a":"\x"}"#,
        r#"{"a":1} x"#,
        "{1:2}",
        "\u{a0}{}",
    ] {
        assert_eq!(object_members(text), None, "{text:?}");
    }
}

#[test]
fn a_deep_value_is_read() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(object_members(&format!(r#"{{"a":{deep}}}"#)), Some(members(&[("a", &deep)])));
    assert_eq!(json_value(&deep), Some(deep.as_str()));
}

#[test]
fn strings_are_decoded_and_half_pairs_replaced() {
    let decoded = |text| decoded_string(text).map(Cow::into_owned);
    assert_eq!(decoded(r#""a<b""#).as_deref(), Some("a<b"));
    assert_eq!(decoded(r#""\u00e9\t\/\ud83d\ude00""#).as_deref(), Some("é\t/😀"));
    assert_eq!(decoded(r#""\ud83d \ude00\ud83d""#).as_deref(), Some("\u{FFFD} \u{FFFD}\u{FFFD}"));
    for text in
        ["1", "a", "\"", "\"a\nb\"", r#""\u12""#, r#"["a"]"#, r#""a" "b""#, r#" "a""#, r#""a\""#]
    {
        assert_eq!(decoded(text), None, "{text:?}");
    }
}

#[test]
fn an_object_is_written_compactly() {
    let members = [("a\"", "1e5"), ("b", "[ 1 ]"), ("", r#""x""#)];
    assert_eq!(object_text(members), r#"{"a\"":1e5,"b":[ 1 ],"":"x"}"#);
    assert_eq!(object_text::<&str>([]), "{}");
}

proptest! {
    #[test]
    fn a_string_survives_writing_and_reading(text in any::<String>()) {
        let written = json_string(&text);
        prop_assert_eq!(decoded_string(&written).map(Cow::into_owned), Some(text));
    }

    #[test]
    fn the_reader_agrees_with_serde_json(text in r#"[ ]?\{[ ]?"[ab]":[ ]?(1|null|"x"|\[\]|\{"c":2\}|,)(,"[ab]":[12]){0,2}[ ]?\}?"#) {
        let expected: Option<Value> = serde_json::from_str(&text).ok();
        let read = object_members(&text).map(|members| {
            let value = |text| serde_json::from_str::<Value>(text).expect("a value");
            members.into_iter().map(|(key, text)| (key.into_owned(), value(text))).collect()
        });
        prop_assert_eq!(read, expected);
    }
}
