//! What all scenarios together have shown of each rule.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::notes::{Notes, shown};
use crate::rule::{Rule, RuleId};
use crate::secrets::Secrets;

/// A rule, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The rule.
    #[serde(flatten)]
    pub rule: Rule,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// What became of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Outcome {
    /// It applied this often, and always held.
    Passed {
        /// How often.
        applied: usize,
    },
    /// It did not always hold.
    Failed {
        /// What was seen.
        faults: Vec<Fault>,
    },
    /// It never applied.
    NotTested {
        /// Why not.
        why: String,
    },
}

/// What broke a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// In which scenario.
    pub scenario: String,
    /// What it was.
    pub seen: String,
}

/// The verdicts so far.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    applied: BTreeMap<RuleId, usize>,
    faults: BTreeMap<RuleId, Vec<Fault>>,
    /// Why scenarios could say nothing of a rule.
    passed_over: BTreeMap<RuleId, String>,
    secrets: Secrets,
}

// === impl Tally ===

impl Tally {
    /// In whose words these never stand.
    pub(crate) fn hiding(secrets: Secrets) -> Self {
        Self { secrets, ..Self::default() }
    }

    /// Takes what a scenario has shown.
    pub(crate) fn add(&mut self, scenario: &str, notes: Notes) {
        for (rule, seen) in notes.into_rules() {
            *self.applied.entry(rule).or_default() += seen.applied;
            let faults = seen.faults.into_iter();
            let faults = faults.map(|seen| Fault { scenario: scenario.to_owned(), seen });
            self.faults.entry(rule).or_default().extend(faults);
        }
    }

    /// A scenario could say nothing of these rules; the last reason is told.
    pub(crate) fn pass_over(&mut self, rules: &[RuleId], why: &str) {
        let why = shown(why, &self.secrets);
        for rule in rules {
            self.passed_over.insert(*rule, why.clone());
        }
    }

    /// The sum of it, for these rules.
    pub(crate) fn verdicts(mut self, rules: Vec<Rule>) -> Vec<Verdict> {
        let mut verdict = |rule: Rule| {
            let faults = self.faults.remove(&rule.id).unwrap_or_default();
            let applied = self.applied.get(&rule.id).copied().unwrap_or(0);
            let outcome = if !faults.is_empty() {
                Outcome::Failed { faults }
            } else if applied > 0 {
                Outcome::Passed { applied }
            } else {
                let why = self.passed_over.remove(&rule.id);
                let why = why.unwrap_or_else(|| "nothing came that it applies to".to_owned());
                Outcome::NotTested { why }
            };
            Verdict { rule, outcome }
        };
        rules.into_iter().map(&mut verdict).collect()
    }
}
