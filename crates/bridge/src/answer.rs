//! Where replies go: into the frames of a stream, into one message, or into items.

mod collected;
mod frames;
mod response_items;
mod telemetry;

pub use collected::Collected;
pub use frames::Frames;
pub use response_items::ResponseItems;
pub use telemetry::{call_count, is_truncated, telemetry};

use crate::finish::FinishReason;
use crate::reply::Output;

/// Frames that are ready together leave together, up to about this size.
const FULL: usize = 64 * 1024;

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
    /// Whether all that the chosen choice was given reaches the client.
    fn tells_everything(&self) -> bool {
        true
    }
}
