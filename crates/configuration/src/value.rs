//! What a setting holds.

use secrecy::{ExposeSecret as _, SecretString};

/// What a setting holds, by its kind.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Unset,
    Flag(bool),
    Number(u64),
    Text(String),
    List(Vec<String>),
    Secret(SecretString),
}

// === impl Value ===

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Unset, Self::Unset) => true,
            (Self::Flag(one), Self::Flag(other)) => one == other,
            (Self::Number(one), Self::Number(other)) => one == other,
            (Self::Text(one), Self::Text(other)) => one == other,
            (Self::List(one), Self::List(other)) => one == other,
            (Self::Secret(one), Self::Secret(other)) => {
                one.expose_secret() == other.expose_secret()
            }
            _ => false,
        }
    }
}

impl Value {
    /// As it would be written, but for a secret.
    pub(crate) fn shown(&self) -> Option<String> {
        match self {
            Self::Unset => None,
            Self::Flag(flag) => Some(flag.to_string()),
            Self::Number(number) => Some(number.to_string()),
            Self::Text(text) => Some(text.replace('\n', "\\n").replace('\t', "\\t")),
            Self::List(entries) => Some(entries.join(",")),
            Self::Secret(_) => Some("(hidden)".to_owned()),
        }
    }
}
