//! A record in the making: everything that decides about an answer, as it happens.

use std::sync::Arc;
use std::time::Instant;

use axum::body::Bytes;
use bridge::{ChoiceReport, Input, Tokenizer, TurnPolicy};
use capture::{Entry, Report, What};
use openai_wire::responses::EncryptedContent;
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tool_call_aggregator::SuffixSource;

use super::writing::Finished;
use super::{CaptureSettings, Captures};
use crate::request_info::RequestInfo;

/// Most that one record holds; what happens later is not recorded.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// Longest request that is recorded; of a longer one there is all but that. A response that repeats more
/// of its request is not recorded: nothing could be made of its events.
const MOST_REQUEST_BYTES: usize = MOST_BYTES / 2;

/// What an entry costs beside its text.
const ENTRY_BYTES: usize = size_of::<Entry>();

/// The record of a request. It is written when the last one lets go of it, however the request ends.
pub(crate) struct Recording {
    captures: Arc<Captures>,
    settings: CaptureSettings,
    runtime: Handle,
    begun: Instant,
    /// Taken at the end.
    draft: Option<Draft>,
    held: Mutex<Held>,
}

/// What is known of a request before its turns run.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) request: Arc<RequestInfo>,
    pub(crate) time: jiff::Timestamp,
    pub(crate) codex: Option<String>,
    pub(crate) requested_mode: Option<String>,
    pub(crate) policy: Arc<TurnPolicy>,
    pub(crate) api: RecordedApi,
    /// The request; empty if it is too long.
    pub(crate) body: Bytes,
}

/// The API that a request used, and what else is known of its answer before that has begun.
#[derive(Debug, Clone)]
pub(crate) enum RecordedApi {
    Chat,
    Responses {
        /// The response object.
        object: Bytes,
        /// Whether the client gets to see reasoning itself.
        encrypted: EncryptedContent,
    },
}

#[derive(Default)]
struct Held {
    entries: Vec<Entry>,
    bytes: usize,
    is_cut: bool,
}

/// A tokenizer whose answers are recorded.
struct RecordedTokenizer {
    tokenizer: Arc<dyn Tokenizer>,
    recording: Arc<Recording>,
}

// === impl Recording ===

impl Recording {
    /// `None` if there is no room for what it needs from the beginning.
    pub(crate) fn begin(
        captures: &Arc<Captures>,
        settings: &CaptureSettings,
        mut draft: Draft,
    ) -> Option<Arc<Self>> {
        let takes = |bytes: usize| bytes <= MOST_REQUEST_BYTES && captures.hold(bytes);
        let mut bytes = match &draft.api {
            RecordedApi::Chat => 0,
            RecordedApi::Responses { object, .. } => object.len(),
        };
        if !takes(bytes) {
            return None;
        }
        if takes(draft.body.len()) {
            bytes += draft.body.len();
        } else {
            draft.body = Bytes::new();
        }
        Some(Arc::new(Self {
            captures: Arc::clone(captures),
            settings: settings.clone(),
            runtime: Handle::current(),
            begun: ambient::now(),
            draft: Some(draft),
            held: Mutex::new(Held { bytes, ..Held::default() }),
        }))
    }

    /// An input of the answer.
    pub(crate) fn input(&self, input: &Input, now: Instant) {
        let bytes = if let Input::Event { event, .. } = input { event.bytes() } else { 0 };
        self.add(now, bytes, || What::of(input));
    }

    /// These frames leave.
    pub(crate) fn sent(&self, frames: &[u8]) {
        let sent = || What::Sent(String::from_utf8_lossy(frames).into_owned());
        self.add(ambient::now(), frames.len(), sent);
    }

    /// The client gets this whole answer.
    pub(crate) fn answer(&self, status: u16, body: &[u8]) {
        let text = || String::from_utf8_lossy(body).into_owned();
        self.add(ambient::now(), body.len(), || What::Answer { status, body: text() });
    }

    /// The turns are over. That is recorded in any case: it is small, and says most.
    pub(crate) fn end(&self, reports: &[ChoiceReport]) {
        let what = What::End(reports.iter().map(Report::from).collect());
        self.held.lock().entries.push(Entry { at: self.micros(ambient::now()), what });
    }

    /// The same source, recorded.
    pub(crate) fn suffixes(recording: &Arc<Self>, source: SuffixSource) -> SuffixSource {
        let recording = Arc::clone(recording);
        Arc::new(move || {
            let suffix = source();
            recording.add(ambient::now(), suffix.len(), || What::Suffix(suffix.clone()));
            suffix
        })
    }

    /// The same tokenizer, recorded.
    pub(crate) fn tokenizer(
        recording: &Arc<Self>,
        tokenizer: Arc<dyn Tokenizer>,
    ) -> Arc<dyn Tokenizer> {
        Arc::new(RecordedTokenizer { tokenizer, recording: Arc::clone(recording) })
    }

    fn tokens(&self, count: usize) -> usize {
        self.add(ambient::now(), 0, || What::Tokens(count));
        count
    }

    /// Nothing is copied where there is no room for it.
    fn add(&self, now: Instant, bytes: usize, what: impl FnOnce() -> What) {
        if self.take(ENTRY_BYTES + bytes) {
            let entry = Entry { at: self.micros(now), what: what() };
            self.held.lock().entries.push(entry);
        }
    }

    /// Whether there is room for more; once there is none, nothing more is recorded.
    fn take(&self, bytes: usize) -> bool {
        let mut held = self.held.lock();
        if held.is_cut {
            return false;
        }
        if held.bytes + bytes <= MOST_BYTES && self.captures.hold(bytes) {
            held.bytes += bytes;
            return true;
        }
        held.is_cut = true;
        let what = What::Cut { limit: MOST_BYTES };
        held.entries.push(Entry { at: self.micros(ambient::now()), what });
        false
    }

    fn micros(&self, now: Instant) -> u64 {
        let elapsed = now.saturating_duration_since(self.begun);
        u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX)
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let Held { entries, bytes, .. } = std::mem::take(&mut *self.held.lock());
        let captures = &self.captures;
        match self.draft.take() {
            Some(draft) if !entries.is_empty() => {
                let settings = self.settings.clone();
                let record = Finished::new(Arc::clone(captures), bytes, settings, draft, entries);
                captures.finish(record, &self.runtime);
            }
            // Its turns were never started.
            _ => captures.release(bytes),
        }
    }
}

// === impl RecordedTokenizer ===

impl Tokenizer for RecordedTokenizer {
    fn count(&self, text: &str) -> usize {
        self.recording.tokens(self.tokenizer.count(text))
    }

    fn head(&self, text: &str, tokens: usize) -> usize {
        self.recording.tokens(self.tokenizer.head(text, tokens))
    }
}
