//! The report as lines of text.

use super::{Look, Report};
use crate::verdict::{Outcome, Verdict};

const GREEN: &str = "\x1b[32m";
const RED: &str = "\x1b[31m";
const FAINT: &str = "\x1b[2m";
const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";

pub(super) fn text(report: &Report, look: Look) -> String {
    let mut lines = Vec::new();
    let width = report.verdicts.iter().map(|verdict| verdict.rule.id.to_string().len()).max();
    for (group, verdicts) in report.groups() {
        lines.push(look.paint(BOLD, group));
        for verdict in verdicts {
            lines.extend(verdict_lines(verdict, width.unwrap_or(0), look));
        }
        lines.push(String::new());
    }
    let seconds = report.duration.as_secs_f64();
    let counts = report.counts();
    let colour = if counts.failed == 0 { GREEN } else { RED };
    let counts = look.paint(colour, &counts.to_string());
    let (server, model) = (&report.server, &report.model);
    lines.push(format!("{counts} in {seconds:.1} s ({server}, model {model})"));
    lines.join("\n") + "\n"
}

fn verdict_lines(verdict: &Verdict, width: usize, look: Look) -> Vec<String> {
    let rule = &verdict.rule;
    let id = rule.id.to_string();
    match &verdict.outcome {
        Outcome::Passed { .. } => {
            let ok = look.paint(GREEN, "ok  ");
            vec![format!("  {ok}  {id:width$}  {}", look.paint(FAINT, &rule.rule))]
        }
        Outcome::Failed { faults } => {
            let mut lines =
                vec![format!("  {}  {id:width$}  {}", look.paint(RED, "FAIL"), rule.rule)];
            for fault in faults {
                lines.push(format!("          seen    {}: {}", fault.scenario, fault.seen));
            }
            lines.push(format!("          breaks  {}", rule.breaks));
            lines
        }
        Outcome::NotTested { why } => {
            let words = format!("  -     {id:width$}  not tested: {why}");
            vec![look.paint(FAINT, &words)]
        }
    }
}

// === impl Look ===

impl Look {
    fn paint(self, colour: &str, text: &str) -> String {
        match self {
            Self::Coloured => format!("{colour}{text}{PLAIN}"),
            Self::Plain => text.to_owned(),
        }
    }
}
