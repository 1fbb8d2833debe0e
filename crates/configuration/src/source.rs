//! Where a value comes from.

use std::fmt;
use std::path::PathBuf;

/// Where a value comes from; the later wins.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Nobody has said anything.
    Default,
    /// The TOML file.
    File(PathBuf),
    /// A `.env` file.
    DotEnv(PathBuf),
    /// The environment.
    Environment,
    /// The command line.
    Flag(&'static str),
}

// === impl Source ===

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) | Self::DotEnv(path) => path.display().fmt(f),
            Self::Environment => f.write_str("environment"),
            Self::Flag(flag) => f.write_str(flag),
        }
    }
}
