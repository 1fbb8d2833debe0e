//! A timer for a deadline that moves.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use tokio::time::Sleep;

/// One timer for everything: it is set anew only for an earlier time, or when it rings too early.
#[derive(Debug, Default)]
pub(crate) struct Alarm(Option<Set>);

#[derive(Debug)]
struct Set {
    sleep: Pin<Box<Sleep>>,
    at: Instant,
}

// === impl Alarm ===

impl Alarm {
    /// Waits until `at`, which may be another time at every call.
    pub(crate) fn poll_until(&mut self, at: Instant, context: &mut Context<'_>) -> Poll<()> {
        let set = self.0.get_or_insert_with(|| Set {
            sleep: Box::pin(tokio::time::sleep_until(at.into())),
            at,
        });
        if at < set.at {
            set.reset(at);
        }
        while set.sleep.as_mut().poll(context).is_ready() {
            if at <= set.at {
                self.0 = None;
                return Poll::Ready(());
            }
            set.reset(at);
        }
        Poll::Pending
    }
}

// === impl Set ===

impl Set {
    fn reset(&mut self, at: Instant) {
        self.sleep.as_mut().reset(at.into());
        self.at = at;
    }
}
