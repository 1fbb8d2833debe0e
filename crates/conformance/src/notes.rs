//! What was seen of the rules while an exchange was read.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::rule::RuleId;

/// As much as is shown of an answer.
const LONGEST: usize = 300;

/// More breaches of one rule in one exchange say nothing new.
const MOST_FAULTS: usize = 3;

/// Rules that were kept, and those that were not.
///
/// A rule with neither had nothing to apply to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Notes {
    of_rules: BTreeMap<RuleId, Seen>,
}

/// What was seen of one rule.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Seen {
    /// How often it applied.
    pub(crate) applied: usize,
    /// What broke it, in words.
    pub(crate) faults: Vec<String>,
}

// === impl Notes ===

impl Notes {
    /// The rule applied, and was kept.
    pub(crate) fn kept(&mut self, rule: RuleId) {
        self.of_rules.entry(rule).or_default().applied += 1;
    }

    /// The rule applied, and was broken by this.
    pub(crate) fn broken(&mut self, rule: RuleId, by: impl AsRef<str>) {
        let seen = self.of_rules.entry(rule).or_default();
        seen.applied += 1;
        if seen.faults.len() < MOST_FAULTS {
            seen.faults.push(shortened(by.as_ref()));
        }
    }

    /// The rule applies, and is kept if it holds.
    pub(crate) fn check(&mut self, rule: RuleId, holds: bool, otherwise: impl FnOnce() -> String) {
        if holds {
            self.kept(rule);
        } else {
            self.broken(rule, otherwise());
        }
    }

    pub(crate) fn is_broken(&self, rule: RuleId) -> bool {
        self.of_rules.get(&rule).is_some_and(|seen| !seen.faults.is_empty())
    }

    pub(crate) fn into_rules(self) -> BTreeMap<RuleId, Seen> {
        self.of_rules
    }
}

/// A text in one line, and not too long.
pub(crate) fn shortened(text: &str) -> String {
    let line = text.replace('\n', "⏎").replace('\r', "");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
