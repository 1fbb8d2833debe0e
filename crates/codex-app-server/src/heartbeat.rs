//! Is the child still there? Asked with a cheap request, again and again.

use std::time::Duration;

use crate::client::Client;
use crate::request_error::RequestError;

/// A child that answers nothing is given up after this many questions, even if it still talks.
const MISSED: u32 = 3;

/// Between a time-out and the verdict.
const SECOND_CHANCE: Duration = Duration::from_millis(100);

/// How often a child is asked, and how long it may take.
#[derive(Debug, Clone, Copy)]
pub struct Heartbeat {
    /// Between an answer and the next question.
    pub interval: Duration,
    /// For the answer.
    pub timeout: Duration,
}

// === impl Heartbeat ===

impl Heartbeat {
    /// Asks until the child hangs; says what is wrong with it.
    ///
    /// Codex may lose a request when it is flooded, so one that is not answered proves nothing as
    /// long as the child says anything else.
    pub(crate) async fn until_hung(self, client: &Client) -> String {
        let mut missed = 0;
        loop {
            tokio::time::sleep(self.interval).await;
            let heard_before = client.lines_read();
            match client.ping(self.timeout).await {
                Err(RequestError::Timeout { after, .. }) => {
                    missed += 1;
                    // It may be us who slept: what waits in the pipe is read first.
                    tokio::time::sleep(SECOND_CHANCE).await;
                    let silent = client.lines_read() == heard_before;
                    if silent || missed >= MISSED {
                        return format!("Codex hangs: no sign of life within {after:?}");
                    }
                }
                // Any answer will do; a child that has gone is noticed elsewhere.
                Ok(()) | Err(_) => missed = 0,
            }
        }
    }
}

impl Default for Heartbeat {
    fn default() -> Self {
        Self { interval: Duration::from_secs(5), timeout: Duration::from_secs(10) }
    }
}
