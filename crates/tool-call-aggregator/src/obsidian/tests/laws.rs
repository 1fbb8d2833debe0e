//! What holds for every call and every set of fields.

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{ENTITIES, ROWS, VERBATIM, rendered, to_obsidian_xml};
use crate::obsidian::{XmlOptions, canonical_json_from_fields};

/// Text with much of what is special to these blocks.
fn text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "<use_tool>",
        "</use_tool>",
        "</use_tool",
        "<use_tool",
        "<",
        ">",
        "/",
        "&",
        "&lt;",
        "</v>",
        "</name>",
        "</args>",
        "use_tool>",
        "{",
        "}",
        "\"",
        "\\",
        "[",
        " ",
        "1",
    ]);
    let piece = prop_oneof![4 => pieces.prop_map(str::to_owned), 1 => any::<String>()];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let key = prop_oneof![2 => "[a-z]{1,3}", 1 => text(), 1 => Just("query".to_owned())];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_arguments() -> impl Strategy<Value = String> {
    prop_oneof![text(), any_json().prop_map(|json| json.to_string())]
}

fn any_tool() -> impl Strategy<Value = String> {
    let known = prop::sample::select(ROWS).prop_map(|(tool, _)| tool.to_owned());
    prop_oneof![text(), known]
}

proptest! {
    #[test]
    fn entities_decode_to_the_text(text in text()) {
        let xml = rendered(&Value::from(text.as_str()).to_string(), &ENTITIES);
        prop_assert!(!xml.contains(['<', '>']));
        prop_assert_eq!(xml.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"), text);
    }

    #[test]
    fn verbatim_text_does_not_end_early(text in text()) {
        let xml = rendered(&Value::from(text.as_str()).to_string(), &VERBATIM);
        let ends = ["<use_tool", "</use_tool", "</v"];
        for tag in ends.map(|end| format!("{end}>")) {
            prop_assert!(!xml.contains(&tag));
        }
        let decoded = |text: &str| text.replace("&lt;", "<");
        prop_assert_eq!(decoded(&xml), decoded(&text));
    }

    #[test]
    fn json_in_a_tag_is_the_same_json(value in any_json()) {
        prop_assume!(!value.is_string());
        for options in [ENTITIES, VERBATIM] {
            let xml = rendered(&value.to_string(), &options);
            prop_assert!(!xml.contains(['<', '>', '&']));
            prop_assert_eq!(serde_json::from_str::<Value>(&xml).ok(), Some(value.clone()));
        }
    }

    #[test]
    fn a_block_is_one_block(tool in any_tool(), arguments in any_arguments(), all in any::<bool>()) {
        let members = serde_json::from_str::<Value>(&arguments).unwrap_or_default();
        let schema = json!({"properties": members});
        for options in [ENTITIES, VERBATIM] {
            let options = XmlOptions { schema: all.then_some(&schema), ..options };
            let xml = to_obsidian_xml(&tool, &arguments, &options);
            prop_assert!(xml.starts_with("<use_tool>\n  <name>"));
            prop_assert!(xml.ends_with(">\n</use_tool>"));
            let tags = ["<use_tool>", "</use_tool>"].map(|tag| xml.matches(tag).count());
            prop_assert_eq!(tags, [1, 1], "{}", xml);
        }
    }

    #[test]
    fn fields_make_an_object_that_has_them_all(
        tool in any_tool(),
        fields in prop::collection::vec((prop_oneof![text(), Just("query".to_owned())], any_arguments()), 0..6),
        properties in any_json(),
    ) {
        let schema = json!({"properties": properties});
        for schema in [None, Some(&schema)] {
            let json = canonical_json_from_fields(&tool, &fields, schema);
            let object: Value = serde_json::from_str(&json).expect(&json);
            let last: HashMap<&str, &str> =
                fields.iter().map(|(name, text)| (name.as_str(), text.trim())).collect();
            let expected = last.into_iter().map(|(name, text)| {
                let string = object[name] == text;
                let value = if string { text.into() } else { serde_json::from_str(text).expect(text) };
                (name.to_owned(), value)
            });
            let expected = expected.collect();
            prop_assert_eq!(object, Value::Object(expected));
        }
    }
}
