//! Responses that are being made.

use std::collections::HashMap;
use std::sync::Arc;

use bridge::ResponseItems;
use bytes::{Bytes, BytesMut};
use openai_wire::responses::{EncryptedContent, ResponseState, ResponseStatus, ResponseWriter};
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::gate::Caller;

/// The responses that are being made, by their ids.
#[derive(Debug, Clone, Default)]
pub(crate) struct LiveResponses(Arc<Mutex<ById>>);

type ById = HashMap<String, Arc<Live>>;

/// A response that is being made.
#[derive(Debug)]
pub(super) struct Live {
    /// Nobody else finds it.
    caller: Caller,
    pub(super) cancelled: CancellationToken,
    /// The response object as it was at first.
    pub(super) begun: Bytes,
    /// The response object as it is in the end.
    pub(super) ended: watch::Sender<Option<String>>,
}

/// The same for whoever makes it. Dropping it says that it is not being made any more.
#[derive(Debug)]
pub(super) struct LiveResponse {
    id: String,
    live: Arc<Live>,
    all: Arc<Mutex<ById>>,
}

// === impl LiveResponses ===

impl LiveResponses {
    pub(super) fn begin(&self, id: &str, caller: &Caller, writer: &ResponseWriter) -> LiveResponse {
        let state = ResponseState { status: &ResponseStatus::InProgress, output: &[], usage: None };
        let mut begun = BytesMut::new();
        writer.write(&state, EncryptedContent::LeftOut, &mut begun);
        let live = Arc::new(Live {
            caller: caller.clone(),
            cancelled: CancellationToken::new(),
            begun: begun.freeze(),
            ended: watch::Sender::new(None),
        });
        self.0.lock().insert(id.to_owned(), Arc::clone(&live));
        LiveResponse { id: id.to_owned(), live, all: Arc::clone(&self.0) }
    }

    /// One of this caller.
    pub(super) fn find(&self, caller: &Caller, id: &str) -> Option<Arc<Live>> {
        let live = self.0.lock().get(id).cloned();
        live.filter(|live| live.caller == *caller)
    }
}

// === impl LiveResponse ===

impl LiveResponse {
    /// The response object as it was at first.
    pub(super) fn begun(&self) -> Bytes {
        self.live.begun.clone()
    }

    pub(super) fn cancelled(&self) -> CancellationToken {
        self.live.cancelled.clone()
    }

    /// It has ended so.
    pub(super) fn end(&self, items: &ResponseItems) {
        // Only somebody who has cancelled it wants to know.
        if self.live.cancelled.is_cancelled() {
            self.live.ended.send_replace(Some(items.response_json(EncryptedContent::LeftOut)));
        }
    }
}

impl Drop for LiveResponse {
    fn drop(&mut self) {
        self.all.lock().remove(&self.id);
    }
}
