//! What a client has of an answer when it has read it, whichever way it came.

use serde_json::Value;

use crate::notes::Notes;
use crate::rule::RuleId;
use crate::scenario::Expected;

/// What was said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) calls: Vec<Call>,
    pub(crate) end: End,
}

/// A whole call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: String,
}

/// Why an answer ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum End {
    /// It says so in these words: `stop`, `tool_calls`, `length` or others.
    Finished(String),
    /// It says what went wrong.
    Failed,
    /// It does not say.
    #[default]
    Untold,
}

/// The rules about what was said, which both endpoints have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnswerRules {
    pub(crate) text: RuleId,
    pub(crate) calls: RuleId,
    pub(crate) arguments: RuleId,
    pub(crate) no_arguments: RuleId,
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
        let wanted: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
        let names: Vec<&str> = self.calls.iter().map(|call| call.name.as_str()).collect();
        notes.check(rules.calls, names == wanted, || {
            format!("the model called {wanted:?}, the client has {names:?}")
        });
        for (call, expected) in self.calls.iter().zip(calls) {
            let is_empty = expected.arguments.as_object().is_some_and(serde_json::Map::is_empty);
            let rule = if is_empty { rules.no_arguments } else { rules.arguments };
            let value: Option<Value> = serde_json::from_str(&call.arguments).ok();
            notes.check(rule, value.as_ref() == Some(&expected.arguments), || {
                format!(
                    "{} was called with {}, the client has {:?}",
                    call.name, expected.arguments, call.arguments
                )
            });
        }
    }

    /// What must be the same whichever way it came: ids differ.
    pub(crate) fn said(&self) -> (&str, Vec<(&str, &str)>, &End) {
        let calls = self.calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str()));
        (&self.text, calls.collect(), &self.end)
    }
}
