//! The report as one page, without anything from elsewhere.

use std::fmt::Write as _;

use super::Report;
use crate::verdict::{Outcome, Verdict};

const STYLE: &str = include_str!("page.css");

pub(super) fn page(report: &Report) -> String {
    let counts = report.counts();
    let mut page = String::new();
    let title = format!("Conformance of {}", escaped(&report.server));
    let state = if counts.failed == 0 { "passed" } else { "failed" };
    // Writing into a string cannot fail.
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>{title}</h1>\n<p class=\"sum {state}\">{counts}</p>\n\
         <p class=\"faint\">Model <code>{}</code>, {:.1} s. A rule is something that a real client \
         depends on; below each that failed stands what was seen, and who breaks.</p>\n",
        escaped(&report.model),
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
    let (class, word) = match &verdict.outcome {
        Outcome::Passed { .. } => ("passed", "passed"),
        Outcome::Failed { .. } => ("failed", "failed"),
        Outcome::NotTested { .. } => ("untested", "not tested"),
    };
    let open = if class == "failed" { " open" } else { "" };
    let _ = write!(
        page,
        "<li class=\"{class}\" id=\"{id}\"><details{open}><summary><span class=\"mark\">{word}</span> \
         <code>{id}</code> <span class=\"rule\">{sentence}</span></summary>",
        id = rule.id,
        sentence = escaped(&rule.rule),
    );
    match &verdict.outcome {
        Outcome::Passed { applied } => {
            let _ = write!(page, "<p>It applied {applied} times, and always held.</p>");
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
    let _ = writeln!(page, "<p class=\"breaks\">{}</p></details></li>", escaped(&rule.breaks));
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;")
}
