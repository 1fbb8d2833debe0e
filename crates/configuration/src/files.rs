//! The files that settings are read from.

use std::path::{Path, PathBuf};

/// The files that settings are read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Files {
    /// The one of `--env-file`, with its whole path.
    pub(crate) dotenv: Option<PathBuf>,
    /// `None` without a data folder.
    pub(crate) config: Option<ConfigFile>,
}

/// The TOML file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ConfigFile {
    /// Somebody named it, so it must be there.
    Named(PathBuf),
    /// The usual one, if it is there.
    Usual(PathBuf),
}

// === impl ConfigFile ===

impl ConfigFile {
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Named(path) | Self::Usual(path) => path,
        }
    }

    /// Whether it has to be read. One that is there and cannot be read is an error.
    pub(crate) fn is_expected(&self) -> bool {
        match self {
            Self::Named(_) => true,
            Self::Usual(path) => path.try_exists().unwrap_or(true),
        }
    }
}
