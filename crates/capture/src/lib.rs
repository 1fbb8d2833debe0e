//! Records of requests: what a turn's events were and what was made of them, without anything that
//! was said, so that a bug that somebody has met can be played again.
//!
//! Pure: no files, no clock, no randomness. `docs/captures.md` has the format.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests read files and the clock"))]

mod mask;
mod record;
mod redact;
mod replay;
mod report;
mod response;

pub use mask::MaskKey;
pub use record::{Api, Entry, FORMAT, Header, ReadError, Received, Record, Redaction, What};
pub use replay::{Replayed, Verdict};
pub use report::Report;
pub use response::ResponseHeader;
