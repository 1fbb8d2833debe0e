//! An answer, compared with what the scripted model has said.

use serde_json::Value;

use crate::notes::Notes;
use crate::reading::{Answer, Call, CallKind};
use crate::rule::RuleId;
use crate::scenario::{Expected, ExpectedCall};

/// The rules about what was said, which both endpoints have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnswerRules {
    pub(crate) text: RuleId,
    pub(crate) calls: RuleId,
    pub(crate) arguments: RuleId,
    pub(crate) no_arguments: RuleId,
    /// The form of a call of a custom tool.
    pub(crate) custom_form: RuleId,
}

// === impl AnswerRules ===

impl AnswerRules {
    /// One rule for everything that was said.
    pub(crate) fn all(rule: RuleId) -> Self {
        Self { text: rule, calls: rule, arguments: rule, no_arguments: rule, custom_form: rule }
    }
}

// === impl Call ===

impl Call {
    fn compare(&self, expected: &ExpectedCall, rules: AnswerRules, notes: &mut Notes) {
        let Self { name, arguments: found, .. } = self;
        match expected {
            ExpectedCall::Function { arguments, .. } => {
                let is_empty = arguments.as_object().is_some_and(serde_json::Map::is_empty);
                let rule = if is_empty { rules.no_arguments } else { rules.arguments };
                let value: Option<Value> = serde_json::from_str(found).ok();
                notes.check(rule, value.as_ref() == Some(arguments), || {
                    format!("{name} was called with {arguments}, the client has {found:?}")
                });
            }
            ExpectedCall::Custom { input, .. } => {
                notes.check(rules.arguments, found == input, || {
                    format!("{name} was called with {input:?}, the client has {found:?}")
                });
                notes.check(rules.custom_form, self.kind == CallKind::Custom, || {
                    format!("{name} is a custom tool, and was called as a function")
                });
            }
        }
    }
}

// === impl Answer ===

impl Answer {
    /// Compares it with what the scripted model has said.
    pub(crate) fn compare(&self, expected: &Expected, rules: AnswerRules, notes: &mut Notes) {
        if let Some(text) = &expected.text {
            notes.check(rules.text, self.text == *text, || {
                format!("the model said {text:?}, the client has {:?}", self.text)
            });
        }
        let Some(calls) = &expected.calls else { return };
        let wanted: Vec<&str> = calls.iter().map(ExpectedCall::name).collect();
        let names: Vec<&str> = self.calls.iter().map(|call| call.name.as_str()).collect();
        if !(names.is_empty() && wanted.is_empty()) {
            notes.check(rules.calls, names == wanted, || {
                format!("the model called {wanted:?}, the client has {names:?}")
            });
        }
        for (call, expected) in self.calls.iter().zip(calls) {
            call.compare(expected, rules, notes);
        }
    }

    /// What must be the same whichever way it came: ids differ.
    pub(crate) fn said(&self) -> (&str, Vec<(&str, &str)>, &str) {
        let calls = self.calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str()));
        (&self.text, calls.collect(), self.end_in_words())
    }
}
