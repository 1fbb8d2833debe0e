use super::*;

#[test]
fn what_a_terminal_obeys_is_shown_and_not_done() {
    let nothing = Secrets::default();
    let shown = |text: &str| shown(text, &nothing);
    assert_eq!(shown("a\r\nb\tc"), "a⏎b\\u{9}c");
    assert_eq!(shown("\x1b[2J\x07\u{9b}31m\u{202e}x"), "\\u{1b}[2J\\u{7}\\u{9b}31m\\u{202e}x");
    assert_eq!(shown("Grüße 東京 🗼"), "Grüße 東京 🗼");
    assert_eq!(shown(&"x".repeat(LONGEST + 1)), "x".repeat(LONGEST) + "…");
}

#[test]
fn secrets_are_hidden_wherever_they_stand_even_where_they_would_be_cut() {
    let secrets = Secrets::new(["sk-secret", "Bearer other-secret", "on"].into_iter());
    let mut notes = Notes::hiding(secrets);
    let long = format!("{} sk-secret", "x".repeat(LONGEST - 5));
    for said in ["wrong key sk-secret", "Bearer other-secret", "no other-secret", &long] {
        notes.broken(RuleId::KeyRefused, said);
    }
    let faults = notes.into_rules().remove(&RuleId::KeyRefused).unwrap().faults;
    assert_eq!(faults, ["wrong key …", "…", "no …"], "and a value of two letters hides nothing");
    let hidden = shown(&long, &Secrets::new(["sk-secret"].into_iter()));
    assert!(hidden.ends_with("x …"), "{hidden}");
}
