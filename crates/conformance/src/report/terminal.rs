//! The report as lines of text.

use super::{Ink, Report, Standing};
use crate::rule::Level;
use crate::verdict::{Outcome, Verdict};

pub(super) fn text(report: &Report) -> Vec<(Ink, String)> {
    let mut parts = Vec::new();
    let width = report.verdicts.iter().map(|verdict| verdict.rule.id.to_string().len()).max();
    for (group, verdicts) in report.groups() {
        parts.extend([(Ink::Bold, group.to_owned()), plain("\n")]);
        for verdict in verdicts {
            parts.extend(verdict_parts(verdict, width.unwrap_or(0)));
        }
        parts.push(plain("\n"));
    }
    let seconds = report.duration.as_secs_f64();
    let ink = match report.standing() {
        Standing::Passed => Ink::Green,
        Standing::Failed => Ink::Red,
        Standing::NotTested => Ink::Yellow,
    };
    parts.push((ink, report.sum()));
    parts.push(plain(format!(" in {seconds:.1} s\n{}\n", report.about())));
    parts
}

fn verdict_parts(verdict: &Verdict, width: usize) -> Vec<(Ink, String)> {
    let rule = &verdict.rule;
    let id = rule.id.to_string();
    match &verdict.outcome {
        Outcome::Passed { .. } => vec![
            plain("  "),
            (Ink::Green, "ok  ".to_owned()),
            plain(format!("  {id:width$}  ")),
            (Ink::Faint, rule.rule.clone()),
            plain("\n"),
        ],
        Outcome::Failed { faults } => {
            let (ink, mark, words) = match rule.level {
                Level::Contract => (Ink::Red, "FAIL", ""),
                Level::Advice => (Ink::Yellow, "hint", "Advice not followed: "),
            };
            let mut parts = vec![
                plain("  "),
                (ink, mark.to_owned()),
                plain(format!("  {id:width$}  {words}{}\n", rule.rule)),
            ];
            for fault in faults {
                let seen = format!("          seen    {}: {}\n", fault.scenario, fault.seen);
                parts.push(plain(seen));
            }
            parts.push(plain(format!("          breaks  {}\n", rule.breaks)));
            parts
        }
        Outcome::NotTested { why } => {
            let words = format!("  -     {id:width$}  not tested: {why}");
            vec![(Ink::Faint, words), plain("\n")]
        }
    }
}

fn plain(text: impl Into<String>) -> (Ink, String) {
    (Ink::Plain, text.into())
}
