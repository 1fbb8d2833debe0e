//! Every key that is accepted.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};

use crate::key::{ApiKey, KeyDigest, KeyError, KeyId, KeyName, NamedKeys, kept, named};
use crate::problem::Warning;
use crate::settings::Settings;

/// Every key that is accepted, as it is on disk at the moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys {
    /// The default one first, then the others as they were made.
    pub keys: Vec<Key>,
    /// What had to be mended.
    pub warnings: Vec<Warning>,
}

/// A key that is accepted; the key itself is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// What everything that is stored for it belongs to.
    pub id: KeyId,
    /// What it is called.
    pub name: KeyName,
    /// How it is recognised.
    pub digest: KeyDigest,
    /// When it was made, as far as that is known.
    pub since: Option<Timestamp>,
    /// Where it is kept.
    pub kept: Kept,
}

/// Where a key is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// `PROXY_API_KEY`
    Setting,
    /// The key itself is in this file.
    Whole(PathBuf),
    /// Its digest is in this file.
    Digest(PathBuf),
}

// === impl Keys ===

impl Keys {
    /// The keys that a server accepts: the default one, which must be there, and the named ones.
    /// It can be called at any time, and makes no key.
    ///
    /// # Errors
    /// If a file cannot be used, or that of the default key is not there. Then the keys of before
    /// are still the best that is known.
    pub fn load(settings: &Settings) -> Result<Self, KeyError> {
        let keys = Self::list(settings)?;
        if keys.keys.iter().any(|key| key.name == KeyName::DEFAULT) {
            Ok(keys)
        } else {
            Err(KeyError::Missing(ApiKey::file(settings)))
        }
    }

    /// The same, where the server may not have made its default key yet.
    ///
    /// # Errors
    /// If a file cannot be used.
    pub fn list(settings: &Settings) -> Result<Self, KeyError> {
        let mut warnings = Vec::new();
        let mut keys = Vec::new();
        keys.extend(default_key(settings, &mut warnings)?);
        let path = NamedKeys::file(settings);
        let records = named::read(&path, &mut warnings)?;
        keys.extend(records.into_iter().map(|record| Key {
            id: record.id,
            name: record.name,
            digest: record.sha256,
            since: Some(record.since),
            kept: Kept::Digest(path.clone()),
        }));
        Ok(Self { keys, warnings })
    }

    /// The files that they are read from, which need not be there.
    pub fn files(settings: &Settings) -> [PathBuf; 2] {
        [ApiKey::file(settings), NamedKeys::file(settings)]
    }
}

fn default_key(settings: &Settings, warnings: &mut Vec<Warning>) -> Result<Option<Key>, KeyError> {
    let key = |secret: &SecretString, since, kept| Key {
        id: KeyId::DEFAULT,
        name: KeyName::DEFAULT,
        digest: KeyDigest::of(secret.expose_secret()),
        since,
        kept,
    };
    if let Some(secret) = &settings.access.api_key {
        return Ok(Some(key(secret, None, Kept::Setting)));
    }
    let path = ApiKey::file(settings);
    let secret = kept(&path, warnings)?;
    Ok(secret.map(|secret| key(&secret, last_change(&path), Kept::Whole(path))))
}

/// The file is written once for each key.
fn last_change(path: &Path) -> Option<Timestamp> {
    let time = std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok()?;
    Timestamp::try_from(time).ok().map(named::to_the_second)
}

#[cfg(test)]
mod tests;
