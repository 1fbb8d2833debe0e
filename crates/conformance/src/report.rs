//! What a run has shown: for a person, for a script, and as a page.

mod html;
mod terminal;

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::rule::{Level, RuleId};
use crate::verdict::{Outcome, Verdict};

/// The version of the kit: rules come and go with it.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The verdicts of a run.
#[derive(Debug)]
pub struct Report {
    /// The base URL that was asked.
    pub server: String,
    /// The model that was asked for.
    pub model: String,
    /// Whether that model is the scripted one, whose exact words are known.
    pub is_scripted: bool,
    /// When the run began.
    pub time: Timestamp,
    /// A verdict for each rule, in the order of the rules.
    pub verdicts: Vec<Verdict>,
    /// The rules that were asked for by their names.
    pub named: Vec<RuleId>,
    /// How long it took.
    pub duration: Duration,
}

/// What a run says in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// No rule was broken; advice may not have been followed.
    Passed,
    /// A rule was broken.
    Failed,
    /// No rule was tested, or not one that was asked for by its name.
    NotTested,
}

/// How many rules have which outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) not_tested: usize,
}

/// The style of a part of a report, where there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// As everything else.
    Plain,
    /// A heading.
    Bold,
    /// Less important.
    Faint,
    /// Passed.
    Green,
    /// Not followed, or not tested.
    Yellow,
    /// Failed.
    Red,
}

// === impl Report ===

impl Report {
    /// What the run says, all in all.
    pub fn standing(&self) -> Standing {
        let is_untested = |verdict: &&Verdict| matches!(verdict.outcome, Outcome::NotTested { .. });
        let untested = || self.verdicts.iter().filter(is_untested);
        if self.counts(Level::Contract).failed > 0 {
            Standing::Failed
        } else if untested().count() == self.verdicts.len()
            || untested().any(|verdict| self.named.contains(&verdict.rule.id))
        {
            Standing::NotTested
        } else {
            Standing::Passed
        }
    }

    /// Lines for a person.
    pub fn to_text(&self) -> String {
        self.to_styled_text().into_iter().map(|(_, text)| text).collect()
    }

    /// The same in parts, so that colours stay apart from what a server has sent.
    pub fn to_styled_text(&self) -> Vec<(Ink, String)> {
        terminal::text(self)
    }

    /// One page that needs nothing else.
    pub fn to_html(&self) -> String {
        html::page(self)
    }

    /// Everything, for a script.
    pub fn to_json(&self) -> Value {
        let Counts { passed, failed, not_tested } = self.counts(Level::Contract);
        let advice = self.counts(Level::Advice);
        json!({
            "kit": VERSION,
            "time": self.when(),
            "server": self.server,
            "model": self.model,
            "scripted": self.is_scripted,
            "ok": self.standing() == Standing::Passed,
            "passed": passed,
            "failed": failed,
            "not_tested": not_tested,
            "advice": {
                "followed": advice.passed,
                "not_followed": advice.failed,
                "not_tested": advice.not_tested,
            },
            "duration_ms": u64::try_from(self.duration.as_millis()).unwrap_or(u64::MAX),
            "rules": self.verdicts,
        })
    }

    /// To the second, in UTC.
    fn when(&self) -> String {
        format!("{:.0}", self.time)
    }

    /// The counts in words; advice apart.
    fn sum(&self) -> String {
        let Counts { passed, failed, not_tested } = self.counts(Level::Contract);
        let advice = self.counts(Level::Advice);
        let words = format!("{passed} passed, {failed} failed, {not_tested} not tested");
        if advice == Counts::default() {
            return words;
        }
        let Counts { passed, failed, not_tested } = advice;
        format!(
            "{words}; advice: {passed} followed, {failed} not followed, {not_tested} not tested"
        )
    }

    /// Who was asked, with what, and when.
    fn about(&self) -> String {
        let scripted = if self.is_scripted { ", scripted" } else { "" };
        format!("{}, model {}{scripted}, {}, kit {VERSION}", self.server, self.model, self.when())
    }

    pub(crate) fn counts(&self, level: Level) -> Counts {
        let mut counts = Counts::default();
        for verdict in self.verdicts.iter().filter(|verdict| verdict.rule.level == level) {
            match verdict.outcome {
                Outcome::Passed { .. } => counts.passed += 1,
                Outcome::Failed { .. } => counts.failed += 1,
                Outcome::NotTested { .. } => counts.not_tested += 1,
            }
        }
        counts
    }

    /// The verdicts under their headings, in order.
    fn groups(&self) -> Vec<(&str, Vec<&Verdict>)> {
        let mut groups: Vec<(&str, Vec<&Verdict>)> = Vec::new();
        for verdict in &self.verdicts {
            match groups.last_mut() {
                Some((name, verdicts)) if *name == verdict.rule.group => verdicts.push(verdict),
                _ => groups.push((&verdict.rule.group, vec![verdict])),
            }
        }
        groups
    }
}

#[cfg(test)]
mod tests;
