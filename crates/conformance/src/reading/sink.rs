//! Where the readers report what they check.

use super::Mismatch;
use crate::rule::RuleId;

/// Takes the outcome of every check that a reader makes.
pub trait Sink {
    /// Whether our own server is read, which promises more than the rules ask for.
    const OURS: bool;

    /// A rule applies, and is kept if it holds.
    fn rule(&mut self, rule: RuleId, holds: bool, otherwise: impl FnOnce() -> Mismatch);

    /// Our own server promises this; of other servers it is not asked.
    fn ours(&mut self, _holds: bool, _otherwise: impl FnOnce() -> Mismatch) {}
}

/// Keeps the first fault, which ends the reading of our own server's answers.
#[derive(Debug, Default)]
pub struct Strict {
    first: Option<Mismatch>,
}

// === impl Strict ===

impl Strict {
    /// # Errors
    /// The first fault so far.
    pub fn outcome(&self) -> Result<(), Mismatch> {
        self.first.clone().map_or(Ok(()), Err)
    }
}

impl Sink for Strict {
    const OURS: bool = true;

    fn rule(&mut self, _: RuleId, holds: bool, otherwise: impl FnOnce() -> Mismatch) {
        self.ours(holds, otherwise);
    }

    fn ours(&mut self, holds: bool, otherwise: impl FnOnce() -> Mismatch) {
        if !holds && self.first.is_none() {
            self.first = Some(otherwise());
        }
    }
}

impl<S: Sink> Sink for &mut S {
    const OURS: bool = S::OURS;

    fn rule(&mut self, rule: RuleId, holds: bool, otherwise: impl FnOnce() -> Mismatch) {
        S::rule(self, rule, holds, otherwise);
    }

    fn ours(&mut self, holds: bool, otherwise: impl FnOnce() -> Mismatch) {
        S::ours(self, holds, otherwise);
    }
}
