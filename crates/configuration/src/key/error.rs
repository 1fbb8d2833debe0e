//! Why there is no key, or none that could be changed.

use std::io;
use std::path::{Path, PathBuf};

use super::KeyName;

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
    /// The file of the default key holds something else.
    #[error("{} holds no key; `codex-completions key rotate` writes a new one", .0.display())]
    Damaged(PathBuf),
    /// The file of the default key is not there.
    #[error(
        "{}, the file of the default key, is not there; `codex-completions key rotate` writes a new one",
        .0.display()
    )]
    Missing(PathBuf),
    /// The file of the named keys holds something else.
    #[error(
        "{} is no list of keys ({reason}); put a good copy in its place, or delete it, and every named \
         key is revoked",
        path.display()
    )]
    DamagedList {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The system has no random numbers.
    #[error("the system gives no random numbers: {0}")]
    Random(#[from] getrandom::Error),
}

/// The keys are as they were.
#[derive(Debug, thiserror::Error)]
pub enum KeyChangeError {
    /// The name of the key that is always there.
    #[error("{} is the name of the server's own key; choose another", KeyName::DEFAULT)]
    Reserved,
    /// There is a key of that name.
    #[error(
        "there is a key named {0} already; choose another name, or replace it with \
         `codex-completions key rotate {0}`"
    )]
    Taken(KeyName),
    /// There is no key of that name.
    #[error("there is no key named {name}; {}", those_that_are(known))]
    Unknown {
        /// The name.
        name: KeyName,
        /// Those that there are.
        known: Vec<KeyName>,
    },
    /// The server cannot be without it.
    #[error(
        "the key {} cannot be revoked, only replaced: `codex-completions key rotate`",
        KeyName::DEFAULT
    )]
    Indispensable,
    /// The default key is a setting.
    #[error(
        "the key {} is the value of PROXY_API_KEY; change it there, or remove it there first",
        KeyName::DEFAULT
    )]
    Given,
    /// The keys cannot be read or written.
    #[error(transparent)]
    Key(#[from] KeyError),
}

// === impl KeyError ===

impl KeyError {
    /// For what fails at a file.
    pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), source }
    }
}

fn those_that_are(known: &[KeyName]) -> String {
    let names: Vec<&str> = known.iter().map(KeyName::as_str).collect();
    if names.is_empty() {
        "there are no named keys".to_owned()
    } else {
        format!("there are: {}", names.join(", "))
    }
}
