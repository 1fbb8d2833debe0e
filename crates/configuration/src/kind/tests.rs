use super::*;
use crate::table::VARIABLES;
use crate::variable::DefaultValue;

const RANGE: Kind = Kind::Integer { min: 1, max: 64 };
const CHOICE: Kind = Kind::Choice(&["auto", "on", "off"]);

#[test]
fn what_is_allowed_is_read() {
    for (kind, text, read) in [
        (Kind::Boolean, "1", "true"),
        (Kind::Boolean, " Yes ", "true"),
        (Kind::Boolean, "ON", "true"),
        (Kind::Boolean, "0", "false"),
        (Kind::Boolean, "no", "false"),
        (Kind::Boolean, "Off", "false"),
        (RANGE, "1", "1"),
        (RANGE, " 64 ", "64"),
        (CHOICE, "AUTO", "auto"),
        (Kind::Url, "http://127.0.0.1:1/v1/", "http://127.0.0.1:1/v1"),
        (Kind::Host, "localhost", "localhost"),
        (Kind::Host, "[::1]", "::1"),
        (Kind::Host, "0.0.0.0", "0.0.0.0"),
        (Kind::Hosts, "Proxy.Example.org:80, [::1]:80,", "proxy.example.org:80,[::1]:80"),
        (
            Kind::Origins,
            "https://a.example, app://obsidian.md",
            "https://a.example,app://obsidian.md",
        ),
        (Kind::Aliases, "fast = gpt-5.5:low", "fast = gpt-5.5:low"),
        (Kind::LogFilter, "info,codex=debug", "info,codex=debug"),
        (Kind::Text, "  gpt-5.5 ", "gpt-5.5"),
        (Kind::Verbatim, " \n", " \\n"),
        (Kind::Secret, "sk-x", "(hidden)"),
    ] {
        let value = kind.read(text).unwrap_or_else(|_| panic!("{kind:?} {text:?}"));
        assert_eq!(value.shown().as_deref(), Some(read), "{kind:?} {text:?}");
    }
}

#[test]
fn an_empty_text_is_no_value() {
    for (kind, text) in
        [(Kind::Boolean, ""), (RANGE, "  "), (Kind::Text, "\t"), (Kind::Verbatim, "")]
    {
        assert_eq!(kind.read(text).unwrap().shown(), None, "{kind:?} {text:?}");
    }
}

#[test]
fn anything_else_is_refused() {
    for (kind, text, entry) in [
        (Kind::Boolean, "2", None),
        (Kind::Boolean, "maybe", None),
        (RANGE, "0", None),
        (RANGE, "65", None),
        (RANGE, "-1", None),
        (RANGE, "1.5", None),
        (RANGE, "99999999999999999999", None),
        (CHOICE, "maybe", None),
        (Kind::Url, "localhost:1", None),
        (Kind::Url, "http://", None),
        (Kind::Url, "http:///x", None),
        (Kind::Url, "http://a b", None),
        (Kind::Url, "http://me:secret@example.org", None),
        (Kind::Host, "example.org", None),
        (Kind::Host, "127.0.0.1:80", None),
        (Kind::Hosts, "a.example,http://b.example", Some("http://b.example")),
        (Kind::Origins, "*", Some("*")),
        (Kind::Origins, "https://*.example.org", Some("https://*.example.org")),
        (Kind::Origins, "https://a.example, https://b.example/", Some("https://b.example/")),
        (Kind::Origins, "a.example", Some("a.example")),
        (Kind::Aliases, "a=b,fast", Some("fast")),
        (Kind::LogFilter, "info=loud", None),
        (Kind::Secret, "two words", None),
        (Kind::Secret, "schlüssel", None),
    ] {
        let entry = entry.map(str::to_owned);
        assert_eq!(kind.read(text).map(|_| ()), Err(Invalid { entry }), "{kind:?} {text:?}");
    }
}

#[test]
fn what_may_be_secret_is_not_quoted() {
    assert_eq!(Kind::Secret.quote("two words"), "(hidden)");
    assert_eq!(Kind::Url.quote("http://me:secret@example.org"), "(hidden)");
    assert_eq!(Kind::Url.quote("example.org"), "\"example.org\"");
}

#[test]
fn every_default_of_the_table_is_allowed() {
    for variable in VARIABLES {
        if let DefaultValue::Is(text) = variable.default {
            let value = variable.kind.read(text);
            assert!(value.is_ok_and(|value| value.shown().is_some()), "{}", variable.name);
        }
        assert!(!variable.meaning.is_empty(), "{}", variable.name);
    }
}

#[test]
fn names_and_keys_are_unique() {
    let mut names: Vec<_> = VARIABLES.iter().map(|variable| variable.name.to_owned()).collect();
    names.extend(VARIABLES.iter().map(|variable| variable.key()));
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
}
