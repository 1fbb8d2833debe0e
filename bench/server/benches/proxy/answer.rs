//! A chat completion as a client understands it.

use conformance::RuleId;
use conformance::reading::{ChatStream, Ending, Mismatch, Piece, Sink, Terms, read_completion};

use crate::case::Delivery;

/// What an answer said, streamed or not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) text: String,
    /// Name and argument text of each call.
    pub(crate) calls: Vec<(String, String)>,
    /// Frames that brought text; one if it came as a whole.
    pub(crate) content_frames: usize,
    pub(crate) finish_reason: String,
}

/// Peers have faults that cost their clients nothing: only what cannot be read counts.
#[derive(Default)]
struct Peer {
    fault: Option<String>,
}

// === impl Answer ===

impl Answer {
    pub(crate) fn finished(reason: &str) -> Self {
        Self { finish_reason: reason.to_owned(), ..Self::default() }
    }

    /// Says why it cannot be read.
    pub(crate) fn read(body: &[u8], delivery: Delivery) -> Result<Self, String> {
        let body = std::str::from_utf8(body).map_err(|error| error.to_string())?;
        let mut peer = Peer::default();
        let (said, content_frames, reasons) = match delivery {
            Delivery::Whole => {
                let said = read_completion(body, &Terms::default(), &mut peer).answer();
                let reasons = said.finish.clone().unwrap_or_default();
                (said, 1, reasons)
            }
            Delivery::Streamed => {
                let mut stream = ChatStream::new(Terms::default(), &mut peer);
                let (mut content_frames, mut reasons) = (0, String::new());
                for piece in stream.take(body.as_bytes()) {
                    match piece {
                        Piece::Text(..) => content_frames += 1,
                        Piece::Finish(_, reason) => reasons += &reason,
                        _ => {}
                    }
                }
                (stream.end(Ending::Whole).0.answer(), content_frames, reasons)
            }
        };
        if let Some(fault) = peer.fault.or(said.has_failed.then(|| "an error".to_owned())) {
            return Err(format!("{fault} in {body}"));
        }
        let calls = said.calls.into_iter().map(|call| (call.name, call.arguments)).collect();
        let content_frames = if said.text.is_empty() { 0 } else { content_frames };
        Ok(Self { text: said.text, calls, content_frames, finish_reason: reasons })
    }
}

impl Sink for Peer {
    const OURS: bool = false;

    fn rule(&mut self, rule: RuleId, holds: bool, otherwise: impl FnOnce() -> Mismatch) {
        let is_needed = [RuleId::ChatSseFrames, RuleId::ChatDoneOnce].contains(&rule);
        if is_needed && !holds {
            self.fault.get_or_insert(otherwise().to_string());
        }
    }
}
