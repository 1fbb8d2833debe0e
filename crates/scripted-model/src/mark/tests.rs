use super::Mark;

fn parts(text: &str) -> Option<(&str, Option<&str>, String)> {
    Mark::last_in(text).map(|mark| (mark.name, mark.argument, mark.rest()))
}

#[test]
fn a_mark_has_a_name_and_perhaps_an_argument() {
    assert_eq!(parts("say [[echo]] this"), Some(("echo", None, "say  this".into())));
    assert_eq!(parts("[[big:10]]"), Some(("big", Some("10"), String::new())));
    assert_eq!(parts("[[text:]]"), Some(("text", Some(""), String::new())));
    assert_eq!(parts("[[text:a: b]]"), Some(("text", Some("a: b"), String::new())));
}

#[test]
fn the_last_mark_counts_and_only_it_is_removed() {
    assert_eq!(
        parts("[[cut]] [[echo]] [[echo]]é"),
        Some(("echo", None, "[[cut]] [[echo]] é".into()))
    );
}

#[test]
fn brackets_of_a_json_argument_do_not_end_it() {
    let json = r#"f,{"a": [[1], [2]], "b": "]"}"#;
    assert_eq!(parts(&format!("[[tool:{json}]]!")), Some(("tool", Some(json), "!".into())));
    assert_eq!(parts("[[text:a[b]] c"), Some(("text", Some("a[b"), " c".into())));
}

#[test]
fn other_double_brackets_are_no_marks() {
    for text in
        ["", "[[", "[[]]", "[[ -f x ]]", "[[My Note]]", "[[Note]]", "[[-x]]", "[[a", "[[a:b"]
    {
        assert_eq!(parts(text), None, "{text}");
    }
    assert_eq!(parts("[[[echo]]]"), Some(("echo", None, "[]".into())));
}
