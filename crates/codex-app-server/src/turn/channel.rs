//! From the reader of the child to the consumer of a turn, without ever waiting for the latter.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use model_turn::TurnEvent;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// The consumer has fallen too far behind.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Overflow;

#[derive(Debug, Clone)]
pub(crate) struct EventSender {
    events: mpsc::UnboundedSender<TurnEvent>,
    waiting_bytes: Arc<AtomicUsize>,
    max_bytes: usize,
    overflow: CancellationToken,
}

#[derive(Debug)]
pub(crate) struct EventReceiver {
    events: mpsc::UnboundedReceiver<TurnEvent>,
    waiting_bytes: Arc<AtomicUsize>,
}

/// A channel that holds at most `max_bytes` of events; `overflow` is cancelled by one that finds no
/// room.
pub(crate) fn channel(
    max_bytes: usize,
    overflow: CancellationToken,
) -> (EventSender, EventReceiver) {
    let (events, receiver) = mpsc::unbounded_channel();
    let waiting_bytes = Arc::new(AtomicUsize::new(0));
    let sender =
        EventSender { events, waiting_bytes: Arc::clone(&waiting_bytes), max_bytes, overflow };
    (sender, EventReceiver { events: receiver, waiting_bytes })
}

// === impl EventSender ===

impl EventSender {
    /// Sends an event; the last one of a turn always finds room.
    pub(crate) fn send(&self, event: TurnEvent) -> Result<(), Overflow> {
        let bytes = event.bytes();
        let waiting = self.waiting_bytes.fetch_add(bytes, Ordering::Relaxed);
        // One event alone may be larger than the limit: its line had a limit of its own.
        if waiting > 0 && waiting + bytes > self.max_bytes && !event.is_last() {
            self.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
            self.overflow.cancel();
            return Err(Overflow);
        }
        // A consumer that has gone is noticed elsewhere.
        let _ = self.events.send(event);
        Ok(())
    }
}

// === impl EventReceiver ===

impl EventReceiver {
    pub(crate) fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<TurnEvent>> {
        let event = ready!(self.events.poll_recv(context));
        if let Some(event) = &event {
            self.waiting_bytes.fetch_sub(event.bytes(), Ordering::Relaxed);
        }
        Poll::Ready(event)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;
    use model_turn::TurnEnd;

    #[tokio::test]
    async fn a_consumer_that_does_not_read_overflows_and_still_gets_the_last_event() {
        let overflow = CancellationToken::new();
        let (sender, mut receiver) = channel(1_000, overflow.clone());
        let text = || TurnEvent::Text("x".repeat(400));
        assert_eq!(sender.send(text()), Ok(()));
        assert!(!overflow.is_cancelled());
        assert_eq!(sender.send(text()), Err(Overflow));
        assert!(overflow.is_cancelled());
        assert_eq!(poll_fn(|context| receiver.poll_recv(context)).await, Some(text()));
        assert_eq!(sender.send(TurnEvent::Text("y".repeat(5_000))), Ok(()));
        assert_eq!(sender.send(text()), Err(Overflow));
        let last = TurnEvent::End(TurnEnd::Completed);
        assert_eq!(sender.send(last.clone()), Ok(()));
        assert_eq!(
            poll_fn(|context| receiver.poll_recv(context)).await,
            Some(TurnEvent::Text("y".repeat(5_000)))
        );
        assert_eq!(poll_fn(|context| receiver.poll_recv(context)).await, Some(last));
    }
}
