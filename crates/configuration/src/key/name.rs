//! What a key is called.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

const LONGEST: usize = 64;

/// What a key is called in commands, logs and figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct KeyName(Cow<'static, str>);

/// A name that a key cannot have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a key's name has 1 to {LONGEST} of the characters A-Z, a-z, 0-9, dot, underscore and hyphen, and \
     begins with a letter or a digit"
)]
pub struct InvalidKeyName;

// === impl KeyName ===

impl KeyName {
    /// The key that is always there: the value of `PROXY_API_KEY`, or the generated one.
    pub const DEFAULT: Self = Self(Cow::Borrowed("default"));

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether no other key may be called so. Nobody tells `Default` from `default` in a log.
    pub(super) fn is_reserved(&self) -> bool {
        self.as_str().eq_ignore_ascii_case(Self::DEFAULT.as_str())
    }
}

impl FromStr for KeyName {
    type Err = InvalidKeyName;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        name.to_owned().try_into()
    }
}

impl TryFrom<String> for KeyName {
    type Error = InvalidKeyName;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        let begins_well = name.starts_with(|first: char| first.is_ascii_alphanumeric());
        let goes_on_well =
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
        if begins_well && goes_on_well && name.len() <= LONGEST {
            Ok(Self(Cow::Owned(name)))
        } else {
            Err(InvalidKeyName)
        }
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // With the width that a table asks for.
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_5_names_follow_a_rule() {
        let longest = "x".repeat(LONGEST);
        for name in ["a", "0", "default", "my-Phone_2.old", &longest] {
            assert_eq!(name.parse::<KeyName>().as_ref().map(KeyName::as_str), Ok(name));
        }
        let too_long = "x".repeat(LONGEST + 1);
        for name in ["", "a b", "a\n", "-a", ".a", "_a", "a/b", "ä", "a,b", &too_long] {
            assert_eq!(name.parse::<KeyName>(), Err(InvalidKeyName), "{name:?}");
        }
    }
}
