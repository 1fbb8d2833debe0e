//! The report as one page, without anything from elsewhere.

use std::fmt::Write as _;

use super::{Report, Standing};
use crate::rule::Level;
use crate::verdict::{Outcome, Verdict};

const STYLE: &str = include_str!("page.css");

pub(super) fn page(report: &Report) -> String {
    let mut page = String::new();
    let title = format!("Conformance of {}", escaped(&report.server));
    let state = match report.standing() {
        Standing::Passed => "passed",
        Standing::Failed => "failed",
        Standing::NotTested => "untested",
    };
    // Writing into a string cannot fail.
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>{title}</h1>\n<p class=\"sum {state}\">{}</p>\n\
         <p class=\"faint\">{}, {:.1} s. A rule is something that real clients depend on; advice \
         spares some of them trouble. Below each that was not kept stands what was seen, and who \
         breaks.</p>\n",
        report.sum(),
        escaped(&report.about()),
        report.duration.as_secs_f64(),
    );
    for (group, verdicts) in report.groups() {
        let _ = writeln!(page, "<section>\n<h2>{}</h2>\n<ul>", escaped(group));
        for verdict in verdicts {
            item(&mut page, verdict);
        }
        page.push_str("</ul>\n</section>\n");
    }
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

fn item(page: &mut String, verdict: &Verdict) {
    let rule = &verdict.rule;
    let (class, word) = match (&verdict.outcome, rule.level) {
        (Outcome::Passed { .. }, Level::Contract) => ("passed", "passed"),
        (Outcome::Passed { .. }, Level::Advice) => ("passed", "followed"),
        (Outcome::Failed { .. }, Level::Contract) => ("failed", "failed"),
        (Outcome::Failed { .. }, Level::Advice) => ("advice", "advice not followed"),
        (Outcome::NotTested { .. }, _) => ("untested", "not tested"),
    };
    let open = if matches!(verdict.outcome, Outcome::Failed { .. }) { " open" } else { "" };
    let _ = write!(
        page,
        "<li class=\"{class}\" id=\"{id}\"><details{open}><summary><span class=\"mark\">{word}</span> \
         <code>{id}</code> <span class=\"rule\">{sentence}</span></summary>",
        id = rule.id,
        sentence = prose(&rule.rule),
    );
    match &verdict.outcome {
        Outcome::Passed { applied } => {
            let often = match applied {
                1 => "once, and held".to_owned(),
                more => format!("{more} times, and always held"),
            };
            let _ = write!(page, "<p>It applied {often}.</p>");
        }
        Outcome::Failed { faults } => {
            for fault in faults {
                let (scenario, seen) = (escaped(&fault.scenario), escaped(&fault.seen));
                let _ = write!(page, "<p><b>{scenario}</b> <samp>{seen}</samp></p>");
            }
        }
        Outcome::NotTested { why } => {
            let _ = write!(page, "<p>{}</p>", escaped(why));
        }
    }
    let _ = writeln!(page, "<p class=\"breaks\">{}</p></details></li>", prose(&rule.breaks));
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;")
}

/// Our own sentences, with code between backticks.
fn prose(text: &str) -> String {
    let parts = text.split('`').map(escaped).enumerate();
    let tagged = parts.map(|(number, part)| match number % 2 {
        0 => part,
        _ => format!("<code>{part}</code>"),
    });
    tagged.collect()
}
