use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn are_equal(one: &str, other: &str) -> bool {
    ArgumentsValue::of(one) == ArgumentsValue::of(other)
}

#[test]
fn numbers_are_compared_as_they_are_written() {
    for numbers in [
        &["12345678901234567890123", "12345678901234567890124"][..],
        &["1", "1.0", "1e0", "1E0", "10e-1", "1e+0"],
        &["0", "-0", "0.0", "\"0\""],
        &["0.1", "0.10"],
        &["1e999", "1e1000", "-1e999"],
    ] {
        for (at, one) in numbers.iter().enumerate() {
            for (place, other) in numbers.iter().enumerate() {
                let (one, other) = (format!("{{\"a\":{one}}}"), format!("{{ \"a\" : {other} }}"));
                assert_eq!(are_equal(&one, &other), at == place, "{one} {other}");
            }
        }
    }
}

#[test]
fn what_does_not_matter() {
    for (one, other) in [
        ("", "{}"),
        (" \n", "{ }"),
        ("\u{a0}", "{}"),
        (r#"{"a":1,"b":[2,{"c":3,"d":4}]}"#, r#" { "b" : [ 2 , {"d":4,"c":3} ] , "a":1 } "#),
        (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
        (r#"{"\u0061":1,"a":2}"#, r#"{"a":2}"#),
        (r#"["é\n\/🙂\""]"#, r#"["\u00e9\u000a/\ud83d\ude42\u0022"]"#),
        (" true", "true\n"),
        ("not JSON", "not JSON"),
    ] {
        assert!(are_equal(one, other), "{one} {other}");
    }
}

#[test]
fn what_matters() {
    for (one, other) in [
        ("{}", "[]"),
        ("{}", "null"),
        ("[1,2]", "[2,1]"),
        ("[[1],2]", "[[1,2]]"),
        ("[\"1\"]", "[1]"),
        ("[\"true\"]", "[true]"),
        (r#"["a","b"]"#, r#"["a1\"b"]"#),
        (r#"{"a":"b"}"#, r#"["a","b"]"#),
        (r#"{"a":{"b":1}}"#, r#"{"a":{"b":1},"b":1}"#),
        (r#"{"a":1,"a":2}"#, r#"{"a":1}"#),
        (r#"{"a":1}"#, r#"{"A":1}"#),
    ] {
        assert!(!are_equal(one, other), "{one} {other}");
    }
}

#[test]
fn what_is_no_json_is_compared_as_text() {
    for text in [
        "{",
        "}",
        "[1",
        "[1,]",
        "[,1]",
        "{\"a\":1,}",
        "{\"a\"1}",
        "{a:1}",
        "{1:1}",
        "01",
        "1.",
        ".5",
        "+1",
        "1e",
        "-",
        "NaN",
        "True",
        "truefalse",
        "true false",
        "[1 2]",
        "'a'",
        "\"a",
        "\"\\",
        "\"\\x\"",
        "\"\n\"",
        "\"\\ud83d\"",
        "{\"\\ude42\":1}",
        "[1]]",
        "\u{feff}[]",
        "[é]",
        "\u{a0}[]",
    ] {
        assert!(are_equal(text, text));
        assert!(!are_equal(text, &format!("{text} ")), "{text}");
        assert_eq!(ArgumentsValue::of(text).0, Form::Text(text.to_owned()));
    }
}

#[test]
fn depth_is_limited() {
    let nested = |depth: usize, inner: &str| {
        let (open, close) = ("[{\"a\":".repeat(depth / 2), "}]".repeat(depth / 2));
        format!("{open}{inner}{close}")
    };
    assert!(are_equal(&nested(128, "1"), &nested(128, " 1")));
    assert!(are_equal(&nested(126, "[]"), &nested(126, "[ ]")));
    assert!(!are_equal(&nested(130, "1"), &nested(130, " 1")));
    assert!(!are_equal(&nested(128, "[]"), &nested(128, "[ ]")));
    let deep = nested(1_000_000, "1");
    assert!(are_equal(&deep, &deep));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(Value::from),
        "[a\"\\\\é\n🙂]{0,3}".prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[ab\"]{0,2}", inner, 0..4).prop_map(Value::from_iter),
        ]
    })
}

proptest! {
    #[test]
    fn values_are_equal_if_they_are_for_serde_json(one in any_json(), other in any_json()) {
        let texts = [one.to_string(), format!("{one:#}"), other.to_string()];
        prop_assert!(are_equal(&texts[0], &texts[1]));
        prop_assert_eq!(are_equal(&texts[1], &texts[2]), one == other);
    }

    #[test]
    fn json_is_what_serde_json_reads(text in "[\\[\\]{}\",:0-3.E+\\- \\\\adeflnrstué]{0,9}") {
        let is_json = serde_json::from_str::<Value>(&text).is_ok() || text.trim().is_empty();
        let is_huge = serde_json::from_str::<&RawValue>(&text).is_ok() && text.contains(['e', 'E']);
        let is_read = matches!(ArgumentsValue::of(&text).0, Form::Json(_));
        prop_assert!(is_read == is_json || is_huge, "{text}");
    }
}
