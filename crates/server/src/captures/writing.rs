//! Records on their way to disk.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use capture::{Api, Entry, FORMAT, Header, MaskKey, Record, Redaction, ResponseHeader};
use serde_json::Value;

use super::folder::Folder;
use super::recording::{Draft, RecordedApi};
use super::{CaptureSettings, CapturedContent, Captures};

/// Somebody whose disk is full knows it after the first warning.
const WARN_EVERY: Duration = Duration::from_mins(1);

/// A request that is over.
#[derive(Debug)]
pub(super) struct Finished {
    captures: Arc<Captures>,
    /// What it holds of their memory.
    bytes: usize,
    settings: CaptureSettings,
    draft: Draft,
    entries: Vec<Entry>,
}

/// Writes records, one after the other.
#[derive(Debug, Default)]
pub(super) struct Writer {
    folder: Option<Folder>,
    warned: Option<Instant>,
}

// === impl Finished ===

impl Finished {
    pub(super) fn new(
        captures: Arc<Captures>,
        bytes: usize,
        settings: CaptureSettings,
        draft: Draft,
        entries: Vec<Entry>,
    ) -> Self {
        Self { captures, bytes, settings, draft, entries }
    }

    fn record(&mut self) -> io::Result<Record> {
        let entries = std::mem::take(&mut self.entries);
        let draft = &self.draft;
        let request = &draft.request;
        let api = match &draft.api {
            RecordedApi::Chat => Api::Chat,
            RecordedApi::Responses { object, encrypted } => {
                Api::Responses { response: Box::new(ResponseHeader::of(object, *encrypted)?) }
            }
        };
        let record = Record {
            header: Header {
                capture: FORMAT,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                codex: draft.codex.clone(),
                time: draft.time.to_string(),
                api,
                request_id: request.id.clone(),
                redaction: Redaction::None,
                requested_mode: draft.requested_mode.clone(),
                settings: request.settings.to_string(),
                model: request.model.clone(),
                backend_model: request.backend_model.clone(),
                stream: request.stream,
                include_usage: request.include_usage,
                choices: request.choices,
                id: request.answer_id.clone(),
                created: request.created,
                policy: (*draft.policy).clone(),
                request: serde_json::from_slice(&draft.body).unwrap_or(Value::Null),
            },
            entries,
        };
        match self.settings.content {
            CapturedContent::Verbatim => Ok(record),
            CapturedContent::Masked => {
                let mut key = MaskKey::default();
                ambient::fill_random(&mut key)?;
                Ok(record.redacted(&key, ambient::now()))
            }
        }
    }

    /// Sorted by name they are sorted by time.
    fn file_name(&self) -> String {
        let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
        let id: String = self.draft.request.id.chars().take(64).map(plain).collect();
        format!("{}-{id}", self.draft.time.strftime("%Y%m%dT%H%M%S.%6fZ"))
    }
}

impl Drop for Finished {
    fn drop(&mut self) {
        self.captures.release(self.bytes);
    }
}

// === impl Writer ===

impl Writer {
    /// Whatever goes wrong is nothing to the request, which is over.
    pub(super) fn write(&mut self, mut finished: Finished) {
        if let Err(error) = self.try_write(&mut finished) {
            // It is looked at anew: somebody may have mended it.
            self.folder = None;
            if self.warned.is_none_or(|warned| ambient::since(warned) >= WARN_EVERY) {
                self.warned = Some(ambient::now());
                let folder = finished.settings.folder.display();
                let request_id = &finished.draft.request.id;
                tracing::warn!(request_id, %error, %folder, "a record was not kept (PROXY_CAPTURE_DIR)");
            }
        }
    }

    fn try_write(&mut self, finished: &mut Finished) -> io::Result<()> {
        let CaptureSettings { folder: path, max_bytes, .. } = &finished.settings.clone();
        let folder = match self.folder.take().filter(|folder| folder.is_at(path)) {
            Some(folder) => self.folder.insert(folder),
            None => self.folder.insert(Folder::open(path)?),
        };
        let mut text = Vec::new();
        finished.record()?.write(&mut text)?;
        folder.add(&finished.file_name(), &text, *max_bytes)
    }
}
