//! What a key is, whatever it is called.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{InvalidKeyName, KeyError, KeyName, random_text};

/// What a generated id begins with.
const PREFIX: &str = "key_";

const RANDOM_BYTES: usize = 16;

/// The identity of a key, which everything that is stored for it belongs to. It is no secret, never
/// changes and is never used again: a key that is added under the name of a revoked one has another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct KeyId(Cow<'static, str>);

// === impl KeyId ===

impl KeyId {
    /// The key that is always there: a new value of `PROXY_API_KEY` is another secret of the same key.
    pub const DEFAULT: Self = Self(Cow::Borrowed("default"));

    /// An id that no other key has, had or will have.
    pub(super) fn random() -> Result<Self, KeyError> {
        random_text::<RANDOM_BYTES>(PREFIX).map(|id| Self(Cow::Owned(id)))
    }

    /// The id of a key of 0.1.0, which had none: its data is stored under its name.
    pub(super) fn from_name(name: &KeyName) -> Self {
        Self(Cow::Owned(name.as_str().to_owned()))
    }

    /// The id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An id has the form of a name, because the oldest ids are names.
impl TryFrom<String> for KeyId {
    type Error = InvalidKeyName;

    fn try_from(id: String) -> Result<Self, Self::Error> {
        KeyName::try_from(id).map(|id| Self::from_name(&id))
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    use super::*;

    #[test]
    fn row_22_a_new_id_is_16_random_bytes() {
        let (one, other) = (KeyId::random().unwrap(), KeyId::random().unwrap());
        assert_ne!(one, other);
        for id in [one, other] {
            let random = id.as_str().strip_prefix("key_").unwrap();
            assert_eq!(URL_SAFE_NO_PAD.decode(random).unwrap().len(), 16);
            assert_eq!(KeyId::try_from(id.to_string()), Ok(id));
        }
    }
}
