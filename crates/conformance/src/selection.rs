//! Which rules are to be tested.

use std::str::FromStr;

use crate::rule::{Rule, RuleId, rules};

/// A rule by its name, or all whose names begin alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// This one.
    Rule(RuleId),
    /// Those that begin so: `chat-*`.
    Prefix(String),
}

/// No rule is called so.
#[derive(Debug, thiserror::Error)]
#[error("no rule is called so, and none begins so: conformance/rules.json has their names")]
pub struct NoSuchRule;

// === impl Selection ===

impl Selection {
    /// Whether the rule is one of them.
    pub(crate) fn has(&self, rule: &Rule) -> bool {
        match self {
            Self::Rule(id) => rule.id == *id,
            Self::Prefix(prefix) => rule.id.to_string().starts_with(prefix),
        }
    }
}

impl FromStr for Selection {
    type Err = NoSuchRule;

    fn from_str(text: &str) -> Result<Self, NoSuchRule> {
        let Some(prefix) = text.strip_suffix('*') else {
            return text.parse().map(Self::Rule).map_err(|_| NoSuchRule);
        };
        let selection = Self::Prefix(prefix.to_owned());
        let all = rules().map_err(|_| NoSuchRule)?;
        if all.iter().any(|rule| selection.has(rule)) { Ok(selection) } else { Err(NoSuchRule) }
    }
}
