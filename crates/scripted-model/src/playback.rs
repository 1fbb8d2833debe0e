//! Turns a script into the bytes of a response body, at the script's own pace.

use std::io;

use bytes::{Bytes, BytesMut};
use futures_util::Stream;
use futures_util::stream;
use tokio::task::yield_now;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::answer::{Script, Step};
use crate::record::InFlight;
use crate::wire::Wire;

/// A piece of the body is no larger, so that a slow client slows the script down, and a client that
/// leaves is noticed.
const PIECE: usize = 64 << 10;

struct Playback {
    script: Script,
    wire: Wire,
    in_flight: InFlight,
    stop: CancellationToken,
    ready: BytesMut,
    /// How much of it leaves at once.
    piece: usize,
    next: Next,
}

enum Next {
    Steps,
    Pause(std::time::Duration),
    Cut,
    End,
}

/// The body of a response. It ends with the script, or with an error where the script is cut or the
/// server stops; an error makes the connection close without the mark of a whole body.
pub(crate) fn body(
    script: Script,
    wire: Wire,
    in_flight: InFlight,
    stop: CancellationToken,
) -> impl Stream<Item = io::Result<Bytes>> + Send {
    let playback = Playback {
        script,
        wire,
        in_flight,
        stop,
        ready: BytesMut::new(),
        piece: PIECE,
        next: Next::Steps,
    };
    stream::unfold(Some(playback), |playback| async {
        let mut playback = playback?;
        match playback.piece().await {
            Some(Ok(piece)) => Some((Ok(piece), Some(playback))),
            Some(Err(cut)) => Some((Err(cut), None)),
            None => None,
        }
    })
}

impl Playback {
    async fn piece(&mut self) -> Option<io::Result<Bytes>> {
        loop {
            if self.stop.is_cancelled() {
                return Some(Err(self.cut().await));
            }
            self.prepare();
            if !self.ready.is_empty() {
                let piece = self.ready.split_to(self.ready.len().min(self.piece)).freeze();
                // A client may leave as soon as it has read the last event, before this stream is
                // asked for more; that is no disconnect.
                if self.ready.is_empty() && matches!(self.next, Next::End | Next::Cut) {
                    self.in_flight.end();
                }
                return Some(Ok(piece));
            }
            match self.next {
                Next::Steps => {}
                Next::Pause(duration) => {
                    self.next = Next::Steps;
                    tokio::select! {
                        () = sleep(duration) => {}
                        () = self.stop.cancelled() => {}
                    }
                }
                Next::Cut => return Some(Err(self.cut().await)),
                Next::End => {
                    self.in_flight.end();
                    return None;
                }
            }
        }
    }

    /// Plays steps until a piece is full or something other than an event is next.
    fn prepare(&mut self) {
        while matches!(self.next, Next::Steps) && self.ready.len() < PIECE {
            match self.script.next() {
                Some(Step::Event(event)) => self.wire.write(&mut self.ready, event),
                Some(Step::Pause(duration)) => self.next = Next::Pause(duration),
                Some(Step::Trickle) => self.piece = 1,
                Some(Step::Cut) => self.next = Next::Cut,
                None => self.next = Next::End,
            }
        }
    }

    /// The connection drops what it has not written when the body fails; being pending once lets it
    /// write first.
    async fn cut(&mut self) -> io::Error {
        self.in_flight.end();
        yield_now().await;
        io::Error::new(io::ErrorKind::ConnectionAborted, "the script cuts the response here")
    }
}
