//! A response that is streamed, to its very end.

use bridge::ResponseItems;
use bytes::BytesMut;
use openai_wire::{ApiError, Usage, comment};

use super::keeping::Keeper;
use super::live::LiveResponse;
use crate::answering::{Keeping, StreamedAnswer, seconds_since_1970};
use crate::captures::Recording;

/// A response that is streamed.
pub(super) struct ResponseStream {
    items: ResponseItems,
    live: LiveResponse,
    keeper: Option<Keeper>,
    ending: Ending,
    telemetry: String,
}

/// How it is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Completed,
    Cancelled,
    /// Which is told already.
    Failed,
}

// === impl ResponseStream ===

impl ResponseStream {
    /// `keeper` keeps it when it has ended.
    pub(super) fn new(items: ResponseItems, live: LiveResponse, keeper: Option<Keeper>) -> Self {
        Self { items, live, keeper, ending: Ending::Completed, telemetry: String::new() }
    }
}

impl StreamedAnswer for ResponseStream {
    type Answer = ResponseItems;

    fn answer(&mut self) -> &mut ResponseItems {
        &mut self.items
    }

    fn buffer(&mut self) -> &mut BytesMut {
        &mut self.items.buffer
    }

    fn fail(&mut self, error: &ApiError) {
        self.ending = Ending::Failed;
        self.items.not_stored();
        self.items.fail(error);
    }

    fn cancel(&mut self) {
        self.ending = Ending::Cancelled;
    }

    fn conclude(&mut self, telemetry: String) {
        self.telemetry = telemetry;
    }

    fn keep(&mut self, usage: Option<&Usage>) -> Option<Keeping> {
        let usage = usage.copied().unwrap_or_default();
        match self.ending {
            Ending::Completed => self.items.complete(seconds_since_1970(), usage),
            Ending::Cancelled => self.items.cancel(usage),
            Ending::Failed => return None,
        }
        self.keeper.take().map(|keeper| keeper.keep(&self.items))
    }

    fn close(&mut self, _: Option<&Usage>, kept: bool, recording: Option<&Recording>) {
        if self.ending != Ending::Failed {
            if let Some(recording) = recording {
                recording.closed(self.items.status(), kept);
            }
            if !kept {
                self.items.not_stored();
            }
            self.items.end();
        }
        self.live.end(&self.items);
        comment(&self.telemetry, &mut self.items.buffer);
    }
}
