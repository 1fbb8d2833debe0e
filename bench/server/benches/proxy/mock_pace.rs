//! Frames of the mock in their time, as the scripted app-server writes its lines.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::convert::Infallible;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Instant;

use axum::body::Body;
use futures_util::stream;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::case::PAUSE;

/// A thread that gives every frame away in its time: a runtime's own clock has milliseconds only.
#[derive(Clone)]
pub(crate) struct Pacer(Sender<Spoken>);

/// What is left to say on one stream.
struct Spoken {
    frames: std::vec::IntoIter<String>,
    to: UnboundedSender<String>,
}

/// When the next frame of a stream is due, the stream's place in the list, and no more.
type Due = Reverse<(Instant, usize)>;

// === impl Pacer ===

impl Pacer {
    pub(crate) fn start() -> Self {
        let (sender, new) = mpsc::channel();
        thread::spawn(move || give_in_time(&new));
        Self(sender)
    }

    /// A body whose first frame comes at once, and the others after a pause each.
    pub(crate) fn say(&self, frames: Vec<String>) -> Body {
        let (to, mut said): (_, UnboundedReceiver<String>) = unbounded_channel();
        let _ = self.0.send(Spoken { frames: frames.into_iter(), to });
        let frames = stream::poll_fn(move |context| said.poll_recv(context));
        Body::from_stream(futures_util::StreamExt::map(frames, Ok::<_, Infallible>))
    }
}

fn give_in_time(new: &Receiver<Spoken>) {
    let mut streams = Vec::<Option<Spoken>>::new();
    let mut due = BinaryHeap::<Due>::new();
    loop {
        let next = due.peek().map(|Reverse((at, _))| at.saturating_duration_since(Instant::now()));
        let taken = match next {
            None => new.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(wait) => new.recv_timeout(wait),
        };
        match taken {
            Ok(spoken) => {
                due.push(Reverse((Instant::now(), streams.len())));
                streams.push(Some(spoken));
            }
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                let Some(Reverse((at, place))) = due.pop() else { continue };
                let Some(spoken) = streams.get_mut(place).and_then(Option::as_mut) else {
                    continue;
                };
                let frame = spoken.frames.next();
                // Whoever has left gets no more.
                if frame.is_some_and(|frame| spoken.to.send(frame).is_ok()) {
                    due.push(Reverse((at + PAUSE, place)));
                } else {
                    streams[place] = None;
                }
            }
        }
    }
}
