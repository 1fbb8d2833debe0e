//! What is known of a setting before anybody sets it.

use crate::kind::Kind;

/// A setting.
#[derive(Debug, Clone, Copy)]
pub struct Variable {
    /// Its name in the environment.
    pub name: &'static str,
    /// What it belongs to, a heading of the documentation.
    pub group: &'static str,
    /// What it may hold.
    pub kind: Kind,
    /// What it is if nobody says.
    pub default: DefaultValue,
    /// What it does, in Markdown.
    pub meaning: &'static str,
    /// Whether it is meant to change while we run.
    pub reload: Reload,
}

/// What a setting is if nobody says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultValue {
    /// This, as it would be written.
    Is(&'static str),
    /// None, and what happens then.
    Unset(&'static str),
}

/// When a new value counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reload {
    /// At the next start.
    AtStart,
    /// Once its source has changed.
    Live,
}

// === impl Variable ===

/// The table is written with these.
impl Variable {
    pub(crate) const fn new(kind: Kind) -> Self {
        Self {
            name: "",
            group: "",
            kind,
            default: DefaultValue::Unset("none"),
            meaning: "",
            reload: Reload::AtStart,
        }
    }

    pub(crate) const fn default(mut self, text: &'static str) -> Self {
        self.default = DefaultValue::Is(text);
        self
    }

    pub(crate) const fn unset(mut self, words: &'static str) -> Self {
        self.default = DefaultValue::Unset(words);
        self
    }

    pub(crate) const fn live(mut self) -> Self {
        self.reload = Reload::Live;
        self
    }

    pub(crate) const fn means(mut self, words: &'static str) -> Self {
        self.meaning = words;
        self
    }
}

impl Variable {
    /// Its name in the TOML file.
    pub fn key(&self) -> String {
        self.name.strip_prefix("PROXY_").unwrap_or(self.name).to_ascii_lowercase()
    }

    /// What it may hold, in words.
    pub fn allowed(&self) -> String {
        self.kind.allowed()
    }
}
