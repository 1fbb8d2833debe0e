//! Where replies go: into the frames of a stream, or into one message.

mod collected;
mod frames;
mod telemetry;

pub use collected::{Call, Collected};
pub use frames::Frames;
pub use telemetry::{call_count, is_truncated, telemetry};

use crate::finish::FinishReason;
use crate::reply::Output;

/// Where an answer goes, choice by choice.
pub trait Answer: Output {
    /// What follows belongs to this choice.
    fn choose(&mut self, choice: u32);
    /// The chosen choice has ended.
    fn finish(&mut self, reason: FinishReason);
    /// Whether it wants no more for now.
    fn is_full(&self) -> bool;
    /// Whether there is anything in it that the model has said.
    fn has_spoken(&self) -> bool;
}
