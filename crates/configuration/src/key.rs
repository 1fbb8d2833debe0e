//! The key of the clients.

use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::SecretString;

use crate::access::is_weak_key;
use crate::problem::Warning;
use crate::settings::Settings;

/// What a generated key begins with, so that it is recognised where it does not belong.
const PREFIX: &str = "sk-proxy-";

const RANDOM_BYTES: usize = 32;

/// A folder that is shared, as the one for temporary files is.
const STICKY: u32 = 0o1000;

const OTHERS: u32 = 0o077;

/// The key that clients must send.
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

/// There is no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// Its file cannot be used.
    #[error("cannot keep a key in {}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Everybody may use the folder.
    #[error("{} is shared with other users; choose another folder with PROXY_DATA_DIR", .0.display())]
    SharedFolder(PathBuf),
    /// The file holds something else.
    #[error("{} holds no key; delete it, and a new one is made", .0.display())]
    Damaged(PathBuf),
    /// The system has no random numbers.
    #[error("the system gives no random numbers: {0}")]
    Random(#[from] getrandom::Error),
}

// === impl ApiKey ===

impl ApiKey {
    /// The key that was set, or that of an earlier run, or a new one.
    ///
    /// # Errors
    /// If no key can be made or kept.
    pub fn obtain(settings: &Settings) -> Result<Self, KeyError> {
        if let Some(secret) = settings.access.api_key.clone() {
            return Ok(Self { secret, origin: KeyOrigin::Given, warnings: Vec::new() });
        }
        let mut warnings = Vec::new();
        let folder = &settings.data_folder;
        make_private_folder(folder, &mut warnings)?;
        let path = Self::file(settings);
        if let Some(secret) = kept(&path, &mut warnings)? {
            return Ok(Self { secret, origin: KeyOrigin::Kept(path), warnings });
        }
        let new = generate()?;
        if write_new(&path, &new)? {
            let origin = KeyOrigin::Generated(path);
            return Ok(Self { secret: new.into(), origin, warnings });
        }
        // Another start was quicker.
        let secret = kept(&path, &mut warnings)?.ok_or_else(|| KeyError::Damaged(path.clone()))?;
        Ok(Self { secret, origin: KeyOrigin::Kept(path), warnings })
    }

    /// Where a generated key is kept.
    pub fn file(settings: &Settings) -> PathBuf {
        settings.data_folder.join("api-key")
    }
}

fn generate() -> Result<String, KeyError> {
    let mut bytes = [0; RANDOM_BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes)))
}

fn kept(path: &Path, warnings: &mut Vec<Warning>) -> Result<Option<SecretString>, KeyError> {
    let failed = |source| KeyError::Io { path: path.to_owned(), source };
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            return Err(KeyError::Damaged(path.to_owned()));
        }
        Err(error) => return Err(failed(error)),
    };
    tighten(path, 0o600, warnings).map_err(failed)?;
    let key = text.trim();
    if is_weak_key(key) || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(KeyError::Damaged(path.to_owned()));
    }
    Ok(Some(key.into()))
}

/// Whole or not at all; `false` if there is a file already.
fn write_new(path: &Path, key: &str) -> Result<bool, KeyError> {
    let failed = |source| KeyError::Io { path: path.to_owned(), source };
    let folder = path.parent().unwrap_or(Path::new("."));
    // Only we may read it, from the beginning.
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    writeln!(file, "{key}").and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(true),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(failed(error.error)),
    }
}

fn make_private_folder(path: &Path, warnings: &mut Vec<Warning>) -> Result<(), KeyError> {
    let failed = |source| KeyError::Io { path: path.to_owned(), source };
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
    if mode_of(path).map_err(failed)? & STICKY != 0 {
        return Err(KeyError::SharedFolder(path.to_owned()));
    }
    tighten(path, 0o700, warnings).map_err(failed)
}

fn tighten(path: &Path, mode: u32, warnings: &mut Vec<Warning>) -> io::Result<()> {
    if mode_of(path)? & OTHERS == 0 {
        return Ok(());
    }
    std::fs::set_permissions(path, Permissions::from_mode(mode))?;
    warnings.push(Warning::Tightened { path: path.to_owned() });
    Ok(())
}

fn mode_of(path: &Path) -> io::Result<u32> {
    Ok(std::fs::metadata(path)?.permissions().mode())
}

#[cfg(test)]
mod tests;
