//! What Obsidian Copilot 3.0 and 3.1 read from a block: its parser once more, in plain loops.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{VERBATIM, rendered, to_obsidian_xml};
use crate::obsidian::render_obsidian_xml;

/// White space that JavaScript's `trim` takes off.
fn is_space(letter: char) -> bool {
    (letter.is_whitespace() && letter != '\u{85}') || letter == '\u{feff}'
}

/// Every `<NAME>…</NAME>`, from left to right, none within another. A name is anything up to the first `>`.
fn elements(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let after = &rest[start + 1..];
        let element = after.split_once('>').filter(|(name, _)| !name.is_empty());
        let close = element.and_then(|(name, inside)| {
            let close = format!("</{name}>");
            inside.split_once(&close).map(|(value, behind)| (name, value, behind))
        });
        rest = match close {
            Some((name, value, behind)) => {
                found.push((name, value));
                behind
            }
            None => after,
        };
    }
    found
}

/// Whether there is a `<` with something up to the next `>`.
fn has_tags(text: &str) -> bool {
    text.match_indices('<').any(|(at, _)| text[at + 1..].find('>').is_some_and(|end| end > 0))
}

/// A parameter's value.
fn value(text: &str) -> Value {
    let text = text.trim_matches(is_space);
    if !has_tags(text) {
        let is_within = |open, close| text.starts_with(open) && text.ends_with(close);
        let looks_like_json = is_within('[', ']') || is_within('{', '}');
        let json = looks_like_json.then(|| serde_json::from_str(text).ok()).flatten();
        return json.unwrap_or_else(|| Value::from(text));
    }
    let elements = elements(text);
    if elements.is_empty() {
        return Value::from(text);
    }
    let items: Vec<_> = elements.iter().filter(|(name, _)| *name == "item").collect();
    if !items.is_empty() {
        return items.into_iter().map(|(_, text)| value(text)).collect();
    }
    Value::Object(elements.into_iter().map(|(name, text)| (name.to_owned(), value(text))).collect())
}

/// The parameters of a block, its name among them.
fn parameters(xml: &str) -> Vec<(&str, Value)> {
    let inside = xml.strip_prefix("<use_tool>").unwrap().split_once("</use_tool>").unwrap().0;
    elements(inside).into_iter().map(|(name, text)| (name, value(text))).collect()
}

/// What becomes of a string.
fn read(text: &str) -> Value {
    let arguments = json!({"v": text, "w": "w"}).to_string();
    let xml = to_obsidian_xml("t", &arguments, &VERBATIM);
    match &parameters(&xml)[..] {
        [("name", name), ("v", value), ("w", last)] if name == "t" && last == "w" => value.clone(),
        other => panic!("{other:?} from {xml}"),
    }
}

/// How many values of a call are altered.
fn altered(tool: &str, arguments: &Value) -> usize {
    render_obsidian_xml((tool, &*arguments.to_string()), &VERBATIM).altered
}

/// Text that comes near an element.
fn text() -> impl Strategy<Value = String> {
    let pieces = [
        "<b>",
        "</b>",
        "<item>",
        "</item>",
        "<a b>",
        "</a b>",
        "<",
        ">",
        "/",
        "</",
        "b",
        "&lt;",
        "&",
        "a<b",
        "<br>",
        "<br/>",
        "</v>",
        "<v>",
        "</w>",
        "<w>",
        "</use_tool>",
        "<use_tool>",
        "</name>",
        "[",
        "]",
        "{",
        "}",
        "\"",
        "1",
        " ",
        "\n",
        "é",
        "\u{feff}",
        "\u{85}",
    ];
    let piece = prop_oneof![
        9 => prop::sample::select(pieces.to_vec()).prop_map(str::to_owned),
        1 => any::<String>(),
        // Names that are compared in part.
        1 => prop::sample::select(vec![126, 127, 128, 129, 130]).prop_map(|length| "b".repeat(length)),
    ];
    prop::collection::vec(piece, 0..9).prop_map(|pieces| pieces.concat())
}

#[test]
fn a_string_with_balanced_tags_is_read_as_a_string() {
    for (text, expected) in [
        ("<b>bold</b>", "&lt;b>bold</b>"),
        ("a <b>x <i>y</i></b> <br> z", "a &lt;b>x &lt;i>y</i></b> <br> z"),
        ("<item>1</item><item>2</item>", "&lt;item>1</item>&lt;item>2</item>"),
        ("<a href=\"x\">y</a>", "<a href=\"x\">y</a>"),
        ("a < b > c </ b >", "a &lt; b > c </ b >"),
        ("</b>x<//b>", "&lt;/b>x<//b>"),
        // Escaping alone makes an element here.
        ("<x<b></x&lt;b></b>", "&lt;x&lt;b>&lt;/x&lt;b>&lt;/b>"),
        // Tags without their pair stay.
        ("a < b > c", "a < b > c"),
        ("</b> <b>", "</b> <b>"),
        ("<br> <>x</> <b", "<br> <>x</> <b"),
        ("<b>x</B></b", "<b>x</B></b"),
    ] {
        assert_eq!(rendered(&Value::from(text).to_string(), &VERBATIM), expected, "{text}");
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn the_values_that_are_altered_are_counted() {
    let arguments = json!({"a": "<b>x</b>", "b": "</b>", "c": "1 < 2", "d": ["<b>x</b>"], "e": 1});
    assert_eq!(altered("t", &arguments), 2);
    assert_eq!(altered("<use_tool>", &json!({"a": "x"})), 1);
    assert_eq!(altered("t", &json!("<b>x</b>")), 0);
    // A reader that decodes entities gets all of it.
    let entities = crate::obsidian::XmlOptions::default();
    assert_eq!(render_obsidian_xml(("t", &*arguments.to_string()), &entities).altered, 0);
}

/// So many that a reading which is not linear would not end in time.
#[test]
fn very_many_tags_are_written() {
    let count = 100_000;
    let numbered = |tag: &str| -> String {
        (0..count).flat_map(|number| [tag.to_owned(), number.to_string(), ">".to_owned()]).collect()
    };
    for text in [
        "<".repeat(count) + ">" + &"</".repeat(count) + ">",
        "<b>".repeat(count) + &"</b>".repeat(count),
        numbered("<b"),
        numbered("</b"),
        "<x<b></x&lt;b></b>".repeat(count),
    ] {
        let xml = rendered(&Value::from(text.as_str()).to_string(), &VERBATIM);
        assert!(xml.replace("&lt;", "<") == text.replace("&lt;", "<"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn a_string_is_read_as_a_string(text in text()) {
        let xml = rendered(&Value::from(text.as_str()).to_string(), &VERBATIM);
        match read(&text) {
            Value::String(read) => {
                let decoded = |text: &str| text.replace("&lt;", "<");
                prop_assert_eq!(decoded(&read), decoded(text.trim_matches(is_space)));
                if xml == text {
                    prop_assert_eq!(read, text.trim_matches(is_space));
                }
            }
            // Text without tags may be JSON by itself: no way to write it would tell.
            json => {
                prop_assert!(!has_tags(&xml), "{} from {}", json, xml);
                prop_assert_eq!(serde_json::from_str::<Value>(xml.trim_matches(is_space)).ok(), Some(json));
            }
        }
        prop_assert_eq!(altered("t", &json!({"v": &text})), usize::from(xml != text));
        // Nothing is altered that the reader would take for a string anyway.
        let is_early = ["<use_tool", "</use_tool", "</v"].iter().any(|end| text.contains(end));
        let is_long = text.contains(&"b".repeat(126));
        if elements(&text).is_empty() && !is_early && !is_long {
            prop_assert_eq!(xml, text);
        }
    }
}
