//! What was seen of the rules while an exchange was read.

use std::collections::BTreeMap;

use crate::reading::{Mismatch, Sink};
use crate::rule::RuleId;
use crate::secrets::Secrets;

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
    secrets: Secrets,
}

/// What was seen of one rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// How often it applied.
    pub(crate) applied: usize,
    /// What broke it, in words.
    pub(crate) faults: Vec<String>,
}

// === impl Notes ===

impl Notes {
    /// In whose words these never stand.
    pub(crate) fn hiding(secrets: Secrets) -> Self {
        Self { secrets, ..Self::default() }
    }

    /// The rule applied, and was kept.
    pub(crate) fn kept(&mut self, rule: RuleId) {
        self.of_rules.entry(rule).or_default().applied += 1;
    }

    /// The rule applied, and was broken by this.
    pub(crate) fn broken(&mut self, rule: RuleId, by: impl AsRef<str>) {
        let seen = self.of_rules.entry(rule).or_default();
        seen.applied += 1;
        if seen.faults.len() < MOST_FAULTS {
            seen.faults.push(shown(by.as_ref(), &self.secrets));
        }
    }

    /// The rule applies, and is kept if it holds.
    pub(crate) fn check<T: ToString>(
        &mut self,
        rule: RuleId,
        holds: bool,
        otherwise: impl FnOnce() -> T,
    ) {
        if holds {
            self.kept(rule);
        } else {
            self.broken(rule, otherwise().to_string());
        }
    }

    pub(crate) fn is_broken(&self, rule: RuleId) -> bool {
        self.of_rules.get(&rule).is_some_and(|seen| !seen.faults.is_empty())
    }

    pub(crate) fn into_rules(self) -> BTreeMap<RuleId, Seen> {
        self.of_rules
    }
}

impl Sink for Notes {
    const OURS: bool = false;

    fn rule(&mut self, rule: RuleId, holds: bool, otherwise: impl FnOnce() -> Mismatch) {
        self.check(rule, holds, otherwise);
    }
}

/// A text of a server's, fit to be shown: without secrets, in one line, not too long, and without
/// anything that a terminal obeys.
pub(crate) fn shown(text: &str, secrets: &Secrets) -> String {
    // A secret that is cut would no longer be found.
    let mut line = String::new();
    for (count, character) in secrets.hide(text).chars().enumerate() {
        match character {
            _ if count == LONGEST => {
                line.push('…');
                break;
            }
            '\r' => {}
            '\n' => line.push('⏎'),
            _ if is_obeyed(character) => line.extend(character.escape_unicode()),
            _ => line.push(character),
        }
    }
    line
}

/// Control characters, those that change the direction of a text, and invisible letters.
fn is_obeyed(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}')
        || matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{206f}')
        || matches!(character, '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests;
