//! How long a child takes for what.

use std::sync::Arc;
use std::time::Duration;

/// Is told how long something took, on the thread that waits for the child: it must be quick.
pub type Timings = Arc<dyn Fn(Timing) + Send + Sync>;

/// Something that took time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    /// A child was started, and has answered the handshake.
    Handshake(Duration),
    /// A request was answered, well or not.
    Request {
        /// Its method.
        method: &'static str,
        /// From its writing to the answer.
        took: Duration,
    },
    /// From the start of a call, as the child's log has it, to the whole call.
    HeadStart(Duration),
}
