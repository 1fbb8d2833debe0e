//! What a run has shown: for a person, for a script, and as a page.

mod html;
mod terminal;

use std::time::Duration;

use serde_json::{Value, json};

use crate::verdict::{Outcome, Verdict};

/// The verdicts of a run.
#[derive(Debug)]
pub struct Report {
    /// The base URL that was asked.
    pub server: String,
    /// The model that was asked for.
    pub model: String,
    /// A verdict for each rule, in the order of the rules.
    pub verdicts: Vec<Verdict>,
    /// How long it took.
    pub duration: Duration,
}

/// How many rules have which outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) not_tested: usize,
}

/// How a report for a person looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// For a terminal.
    Coloured,
    /// For anything else.
    Plain,
}

// === impl Report ===

impl Report {
    /// Whether no rule was broken.
    pub fn has_passed(&self) -> bool {
        self.counts().failed == 0
    }

    /// Lines for a person.
    pub fn to_text(&self, look: Look) -> String {
        terminal::text(self, look)
    }

    /// One page that needs nothing else.
    pub fn to_html(&self) -> String {
        html::page(self)
    }

    /// Everything, for a script.
    pub fn to_json(&self) -> Value {
        let Counts { passed, failed, not_tested } = self.counts();
        json!({
            "server": self.server,
            "model": self.model,
            "ok": self.has_passed(),
            "passed": passed,
            "failed": failed,
            "not_tested": not_tested,
            "duration_ms": u64::try_from(self.duration.as_millis()).unwrap_or(u64::MAX),
            "rules": self.verdicts,
        })
    }

    pub(crate) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for verdict in &self.verdicts {
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

// === impl Counts ===

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { passed, failed, not_tested } = self;
        write!(f, "{passed} passed, {failed} failed, {not_tested} not tested")
    }
}

#[cfg(test)]
mod tests;
