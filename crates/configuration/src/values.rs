//! What every setting holds, and why.

use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

use crate::source::Source;
use crate::table::VARIABLES;
use crate::value::Value;
use crate::variable::{DefaultValue, Reload, Variable};

/// What every setting holds, and why.
#[derive(Debug, Clone)]
pub struct Values {
    /// In the order of the table.
    entries: Vec<Entry>,
}

#[derive(Debug, Clone)]
struct Entry {
    variable: &'static Variable,
    value: Value,
    source: Source,
}

/// One setting as it counts.
#[derive(Debug, Clone)]
pub struct Effective {
    /// The setting.
    pub variable: &'static Variable,
    /// What it holds, as it would be written; `(hidden)` for a secret.
    pub value: Option<String>,
    /// Where that comes from.
    pub source: Source,
}

// === impl Values ===

impl Values {
    /// Nobody has said anything yet.
    pub(crate) fn defaults() -> Self {
        let entry = |variable: &&'static Variable| Entry {
            variable,
            value: default_of(variable),
            source: Source::Default,
        };
        Self { entries: VARIABLES.iter().map(entry).collect() }
    }

    pub(crate) fn set(&mut self, variable: &Variable, value: Value, source: Source) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.is_of(variable)) {
            (entry.value, entry.source) = (value, source);
        }
    }

    /// Every setting, in the order of the documentation.
    pub fn iter(&self) -> impl Iterator<Item = Effective> {
        self.entries.iter().map(|Entry { variable, value, source }| Effective {
            variable,
            value: value.shown(),
            source: source.clone(),
        })
    }

    /// Takes over from `running` what does not change while we run; names what would have changed.
    pub(crate) fn keep_until_start(&mut self, running: &Self) -> Vec<&'static str> {
        let mut kept = Vec::new();
        for (entry, running) in self.entries.iter_mut().zip(&running.entries) {
            if entry.variable.reload == Reload::AtStart {
                if entry.value != running.value {
                    kept.push(entry.variable.name);
                }
                entry.clone_from(running);
            }
        }
        kept
    }

    /// `NAME=value` of what is another than in `earlier`; secrets are hidden.
    pub(crate) fn differing(&self, earlier: &Self) -> Vec<String> {
        let pairs = self.entries.iter().zip(&earlier.entries);
        pairs
            .filter(|(entry, earlier)| entry.value != earlier.value)
            .map(|(entry, _)| entry.assignment())
            .collect()
    }

    /// `NAME=value` of the settings that are not as by default; secrets are hidden.
    pub fn changed(&self) -> Vec<String> {
        let changed = self.entries.iter().filter(|entry| {
            entry.source != Source::Default && entry.value != default_of(entry.variable)
        });
        changed.map(Entry::assignment).collect()
    }

    /// Source of the value.
    pub fn source(&self, variable: &Variable) -> &Source {
        self.entry(variable).map_or(&Source::Default, |entry| &entry.source)
    }

    /// Whether it is on.
    pub fn flag(&self, variable: &Variable) -> bool {
        self.flag_if_set(variable).unwrap_or_default()
    }

    pub(crate) fn flag_if_set(&self, variable: &Variable) -> Option<bool> {
        match self.value(variable) {
            Value::Flag(flag) => Some(*flag),
            _ => None,
        }
    }

    /// A whole number. The table's limits fit the types that are asked for.
    pub fn number<T: TryFrom<u64> + Default>(&self, variable: &Variable) -> T {
        let number = self.number_if_set(variable).and_then(|number| T::try_from(number).ok());
        number.unwrap_or_default()
    }

    /// A time in milliseconds.
    pub fn millis(&self, variable: &Variable) -> Duration {
        Duration::from_millis(self.number(variable))
    }

    /// A time in days.
    pub fn days(&self, variable: &Variable) -> Duration {
        Duration::from_hours(24) * self.number::<u32>(variable)
    }

    pub(crate) fn millis_if_set(&self, variable: &Variable) -> Option<Duration> {
        self.number_if_set(variable).map(Duration::from_millis)
    }

    /// A time in milliseconds whose zero switches something off.
    pub fn millis_unless_zero(&self, variable: &Variable) -> Option<Duration> {
        self.millis_if_set(variable).filter(|time| !time.is_zero())
    }

    /// A text, if it is set.
    pub fn text(&self, variable: &Variable) -> Option<&str> {
        match self.value(variable) {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn path(&self, variable: &Variable) -> Option<PathBuf> {
        self.text(variable).map(PathBuf::from)
    }

    pub(crate) fn list(&self, variable: &Variable) -> Vec<String> {
        match self.value(variable) {
            Value::List(entries) => entries.clone(),
            _ => Vec::new(),
        }
    }

    pub(crate) fn secret(&self, variable: &Variable) -> Option<SecretString> {
        match self.value(variable) {
            Value::Secret(secret) => Some(secret.clone()),
            _ => None,
        }
    }

    fn number_if_set(&self, variable: &Variable) -> Option<u64> {
        match self.value(variable) {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    fn value(&self, variable: &Variable) -> &Value {
        self.entry(variable).map_or(&Value::Unset, |entry| &entry.value)
    }

    fn entry(&self, variable: &Variable) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.is_of(variable))
    }
}

// === impl Entry ===

impl Entry {
    /// `NAME=value`; a secret is hidden.
    fn assignment(&self) -> String {
        format!("{}={}", self.variable.name, self.value.shown().unwrap_or_default())
    }

    fn is_of(&self, variable: &Variable) -> bool {
        self.variable.name == variable.name
    }
}

fn default_of(variable: &Variable) -> Value {
    match variable.default {
        // That every default can be read is tested.
        DefaultValue::Is(text) => variable.kind.read(text).unwrap_or(Value::Unset),
        DefaultValue::Unset(_) => Value::Unset,
    }
}
