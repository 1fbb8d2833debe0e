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
        is_scripted: true,
        time: "2026-01-02T03:04:05.678Z".parse().unwrap(),
        verdicts: verdicts.collect(),
        named: Vec::new(),
        duration: Duration::from_millis(1500),
    }
}

/// A rule that was not kept, and nothing else.
fn alone(level: Level, outcome: Outcome) -> Report {
    let rule = rules().unwrap().into_iter().find(|rule| rule.level == level).unwrap();
    let named = vec![rule.id];
    Report { verdicts: vec![Verdict { rule, outcome }], named, ..report() }
}

fn failed() -> Outcome {
    let fault = Fault { scenario: "chat-text".to_owned(), seen: "this".to_owned() };
    Outcome::Failed { faults: vec![fault] }
}

#[test]
fn a_person_is_told_what_was_seen_and_who_breaks() {
    let report = report();
    let text = report.to_text();
    let breaks = &report.verdicts[1].rule.breaks;
    for line in [
        "Every server\n".to_owned(),
        "  ok    key-refused   A wrong key".to_owned(),
        "  FAIL  unknown-path  A path".to_owned(),
        "          seen    chat-text: <b>&\"\n".to_owned(),
        format!("          breaks  {breaks}\n"),
        "  -     models-list   not tested: no key\n".to_owned(),
        "\n1 passed, 1 failed, 1 not tested in 1.5 s\n".to_owned(),
        format!("\nhttp://a/v1, model m, scripted, 2026-01-02T03:04:05Z, kit {VERSION}\n"),
    ] {
        assert!(text.contains(&line), "{line:?} is not in {text}");
    }
    assert!(!text.contains('\x1b'));
    assert!(report.to_styled_text().contains(&(Ink::Red, "FAIL".to_owned())));
    assert_eq!(report.standing(), Standing::Failed);
}

#[test]
fn advice_is_shown_apart_and_decides_nothing() {
    let report = alone(Level::Advice, failed());
    assert_eq!(report.standing(), Standing::Passed);
    let text = report.to_text();
    assert!(text.contains("  hint  chat-lenient  Advice not followed: Unknown fields"), "{text}");
    let sum = "0 passed, 0 failed, 0 not tested; advice: 0 followed, 1 not followed, 0 not tested";
    assert!(text.contains(sum), "{text}");
    assert!(report.to_html().contains("<li class=\"advice\" id=\"chat-lenient\">"));
    let json = report.to_json();
    assert_eq!(json["advice"], json!({"followed": 0, "not_followed": 1, "not_tested": 0}));
    assert_eq!((&json["ok"], &json["rules"][0]["level"]), (&json!(true), &json!("advice")));
    assert_eq!(alone(Level::Contract, failed()).standing(), Standing::Failed);
}

#[test]
fn what_was_asked_for_and_not_tested_is_not_passed() {
    let untested = || Outcome::NotTested { why: "no key".to_owned() };
    let mut report = alone(Level::Contract, untested());
    assert_eq!(report.standing(), Standing::NotTested);
    report.named.clear();
    assert_eq!(report.standing(), Standing::NotTested, "nothing was tested at all");
    report.verdicts.extend(alone(Level::Advice, Outcome::Passed { applied: 1 }).verdicts);
    assert_eq!(report.standing(), Standing::Passed);
    report.named = vec![report.verdicts[0].rule.id];
    assert_eq!(report.standing(), Standing::NotTested);
}

#[test]
fn a_script_is_told_everything() {
    let json = report().to_json();
    assert_eq!(json["ok"], false);
    assert_eq!((&json["kit"], &json["scripted"]), (&json!(VERSION), &json!(true)));
    assert_eq!(json["time"], "2026-01-02T03:04:05Z");
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
    assert!(page.contains("<code>GET /models</code> gives"), "{page}");
    assert!(page.contains("It applied 3 times, and always held."));
    let once = alone(Level::Contract, Outcome::Passed { applied: 1 }).to_html();
    assert!(once.contains("It applied once, and held."));
    assert!(page.contains("prefers-color-scheme: dark"));
    for outside in ["src=", "href=", "url(", "@import", "<script"] {
        assert!(!page.contains(outside), "{outside}");
    }
}
