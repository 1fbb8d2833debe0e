//! Turns that are being set up: how many may cost Codex much, and what a consumer that does not wait
//! for it leaves behind.

use tokio::sync::{Semaphore, watch};

use super::plan::command_to_stop;
use super::{Command, Consumer};

/// How many histories with images a child takes at once. It decodes them, which may take a second
/// and half a gigabyte for each.
const IMAGES_AT_ONCE: usize = 2;

/// How many turns of a child may be set up for nobody. Each keeps its request in memory.
const ABANDONED_AT_ONCE: usize = 16;

/// What the turns of a child share while they are set up.
#[derive(Debug)]
pub(crate) struct SetUps {
    /// Places for histories with images. Whoever has one keeps it until Codex has answered, because
    /// Codex does not stop for a consumer that has gone.
    pub(crate) images: Semaphore,
    abandoned: Semaphore,
}

/// The consumer of a turn that is being set up.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// What is the consumer's, until it wants nothing any more.
    consumer: Option<Consumer>,
    commands: watch::Receiver<Command>,
}

// === impl SetUps ===

impl Default for SetUps {
    fn default() -> Self {
        Self {
            images: Semaphore::new(IMAGES_AT_ONCE),
            abandoned: Semaphore::new(ABANDONED_AT_ONCE),
        }
    }
}

// === impl Waiting ===

impl Waiting {
    pub(crate) fn new(consumer: Consumer, commands: watch::Receiver<Command>) -> Self {
        Self { consumer: Some(consumer), commands }
    }

    /// Sees a request to Codex through. Its answer is needed to tidy up, also if nobody else wants
    /// it any more; but then what is the consumer's is let go at once.
    pub(crate) async fn see_through<T>(
        &mut self,
        set_ups: &SetUps,
        request: impl Future<Output = T>,
    ) -> T {
        tokio::pin!(request);
        tokio::select! {
            biased;
            answer = &mut request => return answer,
            _ = command_to_stop(&mut self.commands) => {}
        }
        let _abandoned = set_ups.abandoned.try_acquire().inspect(|_| self.consumer = None);
        request.await
    }
}

#[cfg(test)]
mod tests;
