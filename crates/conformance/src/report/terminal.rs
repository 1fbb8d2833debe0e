//! The report as lines of text.

use super::{Look, Report, Standing};
use crate::rule::Level;
use crate::verdict::{Outcome, Verdict};

const GREEN: &str = "\x1b[32m";
const RED: &str = "\x1b[31m";
const YELLOW: &str = "\x1b[33m";
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
    let colour = match report.standing() {
        Standing::Passed => GREEN,
        Standing::Failed => RED,
        Standing::NotTested => YELLOW,
    };
    lines.push(format!("{} in {seconds:.1} s", look.paint(colour, &report.sum())));
    lines.push(report.about());
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
            let (mark, words) = match rule.level {
                Level::Contract => (look.paint(RED, "FAIL"), ""),
                Level::Advice => (look.paint(YELLOW, "hint"), "Advice not followed: "),
            };
            let mut lines = vec![format!("  {mark}  {id:width$}  {words}{}", rule.rule)];
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
