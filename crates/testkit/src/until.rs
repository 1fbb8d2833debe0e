//! Waiting for what a test cannot be notified of.

use std::thread;
use std::time::{Duration, Instant};

/// Generous, and before nextest ends the test without a word: only what will never happen takes so long.
const LIMIT: Duration = Duration::from_mins(2);

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(5);

/// The result of a look: `false` and `None` are looked at again.
pub trait Look {
    /// What is there in the end.
    type Found;

    /// What is there already.
    fn found(self) -> Option<Self::Found>;
}

impl Look for bool {
    type Found = ();

    fn found(self) -> Option<()> {
        self.then_some(())
    }
}

impl<T> Look for Option<T> {
    type Found = T;

    fn found(self) -> Self {
        self
    }
}

/// Looks until it is there.
///
/// # Panics
/// If it is not there within a generous time; `what` then names it.
pub async fn until<F>(what: &str, mut look: impl FnMut() -> F) -> <F::Output as Look>::Found
where
    F: Future<Output: Look>,
{
    let looking = async {
        loop {
            if let Some(found) = look().await.found() {
                return found;
            }
            tokio::time::sleep(PAUSE).await;
        }
    };
    within(what, looking).await
}

/// Looks until it is there, and blocks meanwhile.
///
/// # Panics
/// If it is not there within a generous time; `what` then names it.
#[allow(clippy::panic, reason = "a test that waits for ever shows nothing")]
pub fn blocking_until<L: Look>(what: &str, mut look: impl FnMut() -> L) -> L::Found {
    let begun = Instant::now();
    loop {
        if let Some(found) = look().found() {
            return found;
        }
        assert!(begun.elapsed() < LIMIT, "after {LIMIT:?} still not: {what}");
        thread::sleep(PAUSE);
    }
}

/// Waits for events.
///
/// # Panics
/// If they do not come within a generous time; `what` then names them.
#[allow(clippy::panic, reason = "a test that waits for ever shows nothing")]
pub async fn within<T>(what: &str, events: impl Future<Output = T>) -> T {
    let all = tokio::time::timeout(LIMIT, events).await;
    all.unwrap_or_else(|_| panic!("after {LIMIT:?} still not: {what}"))
}
