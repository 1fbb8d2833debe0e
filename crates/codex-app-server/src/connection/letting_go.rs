//! What Codex is asked when it has time: to end turns that only wait, and to unload threads.

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use serde::de::IgnoredAny;
use tokio::sync::mpsc;

use super::Connection;
use crate::ids::{ThreadId, TurnId};
use crate::protocol::outgoing::{ThreadUnsubscribe, TurnInterrupt};
use crate::request_error::RequestError;

/// How many of these wait for their answers at the same time. Many come at once when many threads have
/// to make room, and Codex leaves requests without an answer when it is flooded.
const AT_ONCE: usize = 16;

/// Something that nobody is interested in any more.
#[derive(Debug, Clone)]
pub(crate) enum Unwanted {
    /// A turn that waits for the outputs of its calls.
    Turn(ThreadId, TurnId),
    /// A thread without a turn.
    Thread(ThreadId),
}

// === impl Connection ===

impl Connection {
    /// Lets go of what is unwanted, until the connection ends.
    ///
    /// A thread that is never let go stays in Codex's memory for good, so each of these waits for
    /// its answer like any other request, and is sent again if there is none.
    pub(crate) async fn let_go_of_all(&self, mut unwanted: mpsc::UnboundedReceiver<Unwanted>) {
        let mut closed = self.closed();
        let mut requests = FuturesUnordered::new();
        loop {
            tokio::select! {
                biased;
                _ = closed.wait_for(Option::is_some) => return,
                Some(unwanted) = unwanted.recv(), if requests.len() < AT_ONCE => {
                    requests.push(self.let_go_of(unwanted));
                }
                Some(()) = requests.next(), if !requests.is_empty() => {}
            }
        }
    }

    async fn let_go_of(&self, unwanted: Unwanted) {
        let answer = match &unwanted {
            Unwanted::Turn(thread, turn) => {
                let params = TurnInterrupt { thread_id: thread.as_str(), turn_id: turn.as_str() };
                self.request::<_, IgnoredAny>(&params).await
            }
            Unwanted::Thread(thread) => {
                let params = ThreadUnsubscribe { thread_id: thread.as_str() };
                self.request::<_, IgnoredAny>(&params).await
            }
        };
        match answer {
            Ok(_) => {}
            Err(RequestError::Timeout { .. } | RequestError::Overloaded { .. }) => {
                self.leave(unwanted);
            }
            Err(error) => tracing::debug!(%error, ?unwanted, "this could not be let go"),
        }
    }

    /// Has something let go in its turn.
    pub(super) fn leave(&self, unwanted: Unwanted) {
        // Without anybody who takes it the connection has ended, and everything with it.
        let _ = self.unwanted.send(unwanted);
    }
}
