//! What is wrong with the settings, and what is only odd.

use std::fmt;
use std::path::PathBuf;

use crate::source::Source;

/// A reason not to start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A value that the setting may not hold.
    #[error("{name}={value}: expected {allowed}{} (from: {from})", entry(bad_entry.as_deref()))]
    Value {
        /// The setting.
        name: &'static str,
        /// What it was set to, in quotation marks; nothing of a secret.
        value: String,
        /// The entry of a list that is wrong.
        bad_entry: Option<String>,
        /// What it may hold.
        allowed: String,
        /// Who set it.
        from: Source,
    },
    /// A name that looks like ours and is not.
    #[error("{name} is not a setting; did you mean {nearest}? (from: {from})")]
    UnknownName {
        /// The name.
        name: String,
        /// The setting with the most similar name.
        nearest: String,
        /// Who set it.
        from: Source,
    },
    /// A name that is given twice in one file.
    #[error("{name} is set twice (from: {from})")]
    Twice {
        /// The setting.
        name: &'static str,
        /// The file.
        from: Source,
    },
    /// Settings that do not go together.
    #[error("{0}")]
    Conflict(String),
    /// A file that cannot be read or understood.
    #[error("cannot read {}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

/// All reasons not to start; at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

/// Something that does not keep us from starting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Warning {
    /// A setting of codex-completions-api that is not needed here.
    #[error("{name} is not used: {instead} (from: {from})")]
    Replaced {
        /// The setting.
        name: &'static str,
        /// What is there instead.
        instead: &'static str,
        /// Who set it.
        from: Source,
    },
    /// A `.env` in the working folder, which only `--env-file` makes one of ours.
    #[error("{} is not read; to use it, add: --env-file .env", path.display())]
    NotRead {
        /// The file.
        path: PathBuf,
    },
    /// Others could read what is ours.
    #[error("{} was open to other users, and is not any more", path.display())]
    Tightened {
        /// The file or folder.
        path: PathBuf,
    },
}

// === impl Problem ===

impl Problem {
    /// An unknown name, with the nearest of the known ones. Its value may be a misnamed secret, and
    /// is not told.
    pub(crate) fn unknown(name: &str, known: impl Iterator<Item = String>, from: Source) -> Self {
        let nearness = |known: &String| strsim::normalized_damerau_levenshtein(name, known);
        let nearest = known.max_by(|one, other| nearness(one).total_cmp(&nearness(other)));
        Self::UnknownName { name: name.to_owned(), nearest: nearest.unwrap_or_default(), from }
    }
}

// === impl Problems ===

impl std::error::Error for Problems {}

/// A single one stands for itself; several have a line each.
impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0[..] {
            [problem] => problem.fmt(f),
            problems => {
                write!(f, "{} settings cannot be used:", problems.len())?;
                problems.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
            }
        }
    }
}

fn entry(bad: Option<&str>) -> String {
    bad.map(|bad| format!("; {bad:?} is not one")).unwrap_or_default()
}
