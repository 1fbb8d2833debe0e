//! What is kept of a key, so that it can be recognised.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The SHA-256 of a key.
///
/// A key of ours has 256 random bits: there is nothing to guess, which a salt or a slow hash would
/// make harder. The digest of a key that somebody has chosen is never written anywhere.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KeyDigest([u8; 32]);

/// It is not 32 bytes in base64.
#[derive(Debug, thiserror::Error)]
#[error("not a SHA-256 in base64")]
pub struct NoDigest;

// === impl KeyDigest ===

impl KeyDigest {
    pub(crate) fn of(secret: &str) -> Self {
        Self(Sha256::digest(secret).into())
    }

    /// Its bytes.
    pub fn to_bytes(&self) -> [u8; 32] {
        self.0
    }
}

impl From<KeyDigest> for String {
    fn from(digest: KeyDigest) -> Self {
        URL_SAFE_NO_PAD.encode(digest.0)
    }
}

impl TryFrom<String> for KeyDigest {
    type Error = NoDigest;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| NoDigest)?;
        bytes.try_into().map(Self).map_err(|_| NoDigest)
    }
}

impl fmt::Debug for KeyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyDigest(..)")
    }
}
