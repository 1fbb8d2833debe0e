use super::*;
use crate::rule::rules;
use crate::verdict::Fault;

fn report() -> Report {
    let outcomes = [
        Outcome::Passed { applied: 3 },
        Outcome::Failed {
            faults: vec![Fault { scenario: "chat-text".to_owned(), seen: "<b>&\"".to_owned() }],
        },
        Outcome::NotTested { why: "no key".to_owned() },
    ];
    let rules = rules().unwrap().into_iter();
    let verdicts = rules.zip(outcomes).map(|(rule, outcome)| Verdict { rule, outcome });
    Report {
        server: "http://a/v1".to_owned(),
        model: "m".to_owned(),
        verdicts: verdicts.collect(),
        duration: Duration::from_millis(1500),
    }
}

#[test]
fn a_person_is_told_what_was_seen_and_who_breaks() {
    let report = report();
    let text = report.to_text(Look::Plain);
    let breaks = &report.verdicts[1].rule.breaks;
    for line in [
        "Every server\n".to_owned(),
        "  ok    key-refused   A wrong key".to_owned(),
        "  FAIL  unknown-path  A path".to_owned(),
        "          seen    chat-text: <b>&\"\n".to_owned(),
        format!("          breaks  {breaks}\n"),
        "  -     models-list   not tested: no key\n".to_owned(),
        "\n1 passed, 1 failed, 1 not tested in 1.5 s (http://a/v1, model m)\n".to_owned(),
    ] {
        assert!(text.contains(&line), "{line:?} is not in {text}");
    }
    assert!(!text.contains('\x1b'));
    assert!(report.to_text(Look::Coloured).contains("\x1b[31mFAIL\x1b[0m"));
    assert!(!report.has_passed());
}

#[test]
fn a_script_is_told_everything() {
    let json = report().to_json();
    assert_eq!(json["ok"], false);
    assert_eq!(
        (&json["passed"], &json["failed"], &json["not_tested"]),
        (&json!(1), &json!(1), &json!(1))
    );
    assert_eq!(json["rules"][0]["id"], "key-refused");
    assert_eq!(json["rules"][0]["outcome"], "passed");
    assert_eq!(json["rules"][1]["faults"], json!([{"scenario": "chat-text", "seen": "<b>&\""}]));
    assert_eq!(json["rules"][2]["why"], "no key");
    assert!(json["rules"][1]["breaks"].as_str().is_some_and(|words| !words.is_empty()));
}

#[test]
fn the_page_needs_nothing_else_and_shows_what_came_as_text() {
    let page = report().to_html();
    assert!(page.contains("<samp>&lt;b&gt;&amp;&quot;</samp>"), "{page}");
    assert!(page.contains("1 passed, 1 failed, 1 not tested"));
    assert!(page.contains("prefers-color-scheme: dark"));
    for outside in ["src=", "href=", "url(", "@import", "<script"] {
        assert!(!page.contains(outside), "{outside}");
    }
}
