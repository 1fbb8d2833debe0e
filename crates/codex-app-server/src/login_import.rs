//! A login of another Codex, copied into the child's home.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use serde::Deserialize;
use serde_json::Value;

use crate::home::{CodexHome, HomeError, write_private};
use crate::login_file::LoginFile;

/// Far more than any login needs.
const MOST_BYTES: u64 = 1024 * 1024;

const WRITABLE_BY_OTHERS: u32 = 0o022;

/// What becomes of a login that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PresentLogin {
    /// It stays, and nothing is copied.
    Keep,
    /// It is replaced.
    Replace,
}

/// The kind of a login that was copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginKind {
    /// Tokens of a ChatGPT account. Their refresh token is good for one use, and there are two copies of it now.
    ChatGpt,
    /// A secret that stays as it is, such as an API key.
    Unchanging,
}

/// A login that was not copied.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// There is none.
    #[error(
        "there is no login at {}; Codex may keep it in the system's keyring, from which it cannot be copied", path.display()
    )]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// It may be somebody else's, or somebody else may have written it.
    #[error("{} is not taken: {reason}", path.display())]
    NotTrusted {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: &'static str,
    },
    /// It cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is something else.
    #[error("{} is not a login of Codex: {reason}", path.display())]
    NotALogin {
        /// The file.
        path: PathBuf,
        /// Why. Nothing of the content.
        reason: &'static str,
    },
    /// Somebody is signed in here already.
    #[error("there is a login already")]
    Present,
    /// It cannot be written.
    #[error(transparent)]
    Home(#[from] HomeError),
}

/// Just enough to see what it is. Codex reads the rest.
#[derive(Deserialize)]
struct Content {
    #[serde(rename = "OPENAI_API_KEY")]
    api_key: Option<Value>,
    personal_access_token: Option<Value>,
    tokens: Option<Tokens>,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(rename = "id_token")]
    id: Option<Value>,
    #[serde(rename = "access_token")]
    access: Option<Value>,
    #[serde(rename = "refresh_token")]
    refresh: Option<Value>,
}

/// Copies the login in another Codex's home `from` into `home`, byte for byte. Whatever runs in `home` notices it.
///
/// # Errors
/// If there is none, it may not be the user's own, or it cannot be written; then nothing has changed.
pub fn import_login(
    from: &Path,
    home: &Path,
    present: PresentLogin,
) -> Result<LoginKind, ImportError> {
    let source = from.join(LoginFile::NAME);
    let content = read_own(&source)?;
    let kind = kind_of(&content)
        .map_err(|reason| ImportError::NotALogin { path: source.clone(), reason })?;
    CodexHome::make(home)?;
    let target = home.join(LoginFile::NAME);
    if is_same_folder(from, home) || (present == PresentLogin::Keep && target.exists()) {
        return Err(ImportError::Present);
    }
    write_private(&target, &content)?;
    Ok(kind)
}

/// A file of the user's own. A link would be followed to wherever somebody else has pointed it, and a pipe keep
/// us waiting.
fn read_own(path: &Path) -> Result<Vec<u8>, ImportError> {
    let not_trusted = |reason| ImportError::NotTrusted { path: path.to_owned(), reason };
    let failed = |source: io::Error| ImportError::Read { path: path.to_owned(), source };
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = match File::options().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(ImportError::Missing { path: path.to_owned() });
        }
        Err(_) if path.is_symlink() => return Err(not_trusted("it is a symbolic link")),
        Err(error) => return Err(failed(error)),
    };
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(not_trusted("it is not a regular file"));
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(not_trusted("it belongs to another user"));
    }
    if metadata.mode() & WRITABLE_BY_OTHERS != 0 {
        return Err(not_trusted("other users can write to it"));
    }
    let mut content = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut content).map_err(failed)?;
    if content.len() as u64 > MOST_BYTES {
        return Err(not_trusted("it is far larger than a login"));
    }
    Ok(content)
}

fn kind_of(content: &[u8]) -> Result<LoginKind, &'static str> {
    let content: Content =
        serde_json::from_slice(content).map_err(|_| "it is not the JSON that Codex writes")?;
    let is_text = |value: &Option<Value>| {
        value.as_ref().and_then(Value::as_str).is_some_and(|text| !text.is_empty())
    };
    if let Some(Tokens { id, access, refresh }) = &content.tokens {
        let is_whole = [id, access, refresh].into_iter().all(is_text);
        return if is_whole { Ok(LoginKind::ChatGpt) } else { Err("tokens are missing") };
    }
    if is_text(&content.api_key) || is_text(&content.personal_access_token) {
        return Ok(LoginKind::Unchanging);
    }
    Err("it holds neither tokens nor a key")
}

fn is_same_folder(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
