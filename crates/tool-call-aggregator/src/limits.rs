//! How much a turn may hold.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Caps, so that no model and no backend can use up memory. Reaching one is never fatal: what is over
/// it is left out, and the outcome says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Calls of a turn, over all choices. Default 1,024.
    pub calls: usize,
    /// Bytes of one tool's name. Default 512.
    pub name_bytes: usize,
    /// Bytes of arguments, names and ids of a turn, over all calls. Default 64 MiB.
    pub argument_bytes: usize,
    /// Bytes of text that a scanner holds back for one block. Default 16 MiB.
    pub held_bytes: usize,
}

/// A cap that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// [`Limits::calls`]: the call was not taken.
    Calls,
    /// [`Limits::name_bytes`]: the call does not appear, or not under that name, and takes no more.
    NameBytes,
    /// [`Limits::argument_bytes`]: the call keeps what it has, and takes no more. Its arguments are
    /// not complete, and must not be acted on.
    ArgumentBytes,
}

// === impl Limits ===

impl Default for Limits {
    fn default() -> Self {
        Self {
            calls: 1024,
            name_bytes: 512,
            argument_bytes: 64 * 1024 * 1024,
            held_bytes: 16 * 1024 * 1024,
        }
    }
}

// === impl Limit ===

/// The name of its setting.
impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Calls => "calls",
            Self::NameBytes => "name_bytes",
            Self::ArgumentBytes => "argument_bytes",
        })
    }
}
