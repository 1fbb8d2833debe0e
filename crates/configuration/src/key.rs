//! The keys of the clients: the default one, and named ones beside it.

mod digest;
mod error;
mod id;
mod name;
pub(crate) mod named;
mod private;
mod run_secret;

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::SecretString;

use crate::access::is_weak_key;
use crate::problem::Warning;
use crate::settings::Settings;
use private::Written;

pub use digest::KeyDigest;
pub use error::{KeyChangeError, KeyError};
pub use id::KeyId;
pub use name::{InvalidKeyName, KeyName};
pub use named::NamedKeys;
pub use run_secret::RunSecretFile;

/// What a generated key begins with, so that it is recognised where it does not belong.
const PREFIX: &str = "sk-proxy-";

const RANDOM_BYTES: usize = 32;

/// The key that is always there, called `default`.
#[derive(Debug, Clone)]
pub struct ApiKey {
    /// The key itself.
    pub secret: SecretString,
    /// Where it comes from.
    pub origin: KeyOrigin,
    /// What had to be mended.
    pub warnings: Vec<Warning>,
}

/// Where a key comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyOrigin {
    /// `PROXY_API_KEY`
    Given,
    /// A file of an earlier run.
    Kept(PathBuf),
    /// It is new, and kept in this file.
    Generated(PathBuf),
}

// === impl ApiKey ===

impl ApiKey {
    /// The key that was set, or that of an earlier run, or a new one.
    ///
    /// # Errors
    /// If no key can be made or kept.
    pub fn obtain(settings: &Settings) -> Result<Self, KeyError> {
        let mut warnings = Vec::new();
        private::make_folder(&settings.data_folder, &mut warnings)?;
        if let Some(secret) = settings.access.api_key.clone() {
            return Ok(Self { secret, origin: KeyOrigin::Given, warnings });
        }
        let path = Self::file(settings);
        if let Some(secret) = kept(&path, &mut warnings)? {
            return Ok(Self { secret, origin: KeyOrigin::Kept(path), warnings });
        }
        let new = random_key()?;
        if private::write_new(&path, &format!("{new}\n"))? == Written::New {
            let origin = KeyOrigin::Generated(path);
            return Ok(Self { secret: new.into(), origin, warnings });
        }
        // Another start was quicker.
        let secret = kept(&path, &mut warnings)?.ok_or_else(|| KeyError::Damaged(path.clone()))?;
        Ok(Self { secret, origin: KeyOrigin::Kept(path), warnings })
    }

    /// A new key in the place of the one that is kept, which is refused from now on.
    ///
    /// # Errors
    /// If the key is a setting, or the new one cannot be kept.
    pub fn rotate(settings: &Settings) -> Result<Self, KeyChangeError> {
        if settings.access.api_key.is_some() {
            return Err(KeyChangeError::Given);
        }
        let mut warnings = Vec::new();
        private::make_folder(&settings.data_folder, &mut warnings)?;
        let path = Self::file(settings);
        let new = random_key()?;
        private::replace(&path, &format!("{new}\n"))?;
        Ok(Self { secret: new.into(), origin: KeyOrigin::Generated(path), warnings })
    }

    /// Where a generated key is kept.
    pub fn file(settings: &Settings) -> PathBuf {
        settings.data_folder.join("api-key")
    }
}

/// A key that nobody can guess.
///
/// # Errors
/// If the system has no random numbers.
pub fn random_key() -> Result<String, KeyError> {
    random_text::<RANDOM_BYTES>(PREFIX)
}

/// A prefix and so many random bytes.
fn random_text<const BYTES: usize>(prefix: &str) -> Result<String, KeyError> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(format!("{prefix}{}", URL_SAFE_NO_PAD.encode(bytes)))
}

/// The default key, if its file is there.
pub(crate) fn kept(
    path: &Path,
    warnings: &mut Vec<Warning>,
) -> Result<Option<SecretString>, KeyError> {
    let Some(content) = private::read(path, warnings)? else {
        return Ok(None);
    };
    let key = content.trim_ascii();
    match str::from_utf8(key) {
        Ok(key) if !is_weak_key(key) && key.bytes().all(|byte| byte.is_ascii_graphic()) => {
            Ok(Some(key.into()))
        }
        _ => Err(KeyError::Damaged(path.to_owned())),
    }
}

#[cfg(test)]
pub(crate) mod tests;
