//! The one event that comes by the thousand, read from its JSON text without a tree of values.

use std::borrow::Cow;

use serde::Deserialize;

use crate::event::{Arguments, CallEvent, Position};
use crate::wire::Stamp;

/// How the event begins as OpenAI writes it.
const BEGINNING: &str = r#"{"type":"response.function_call_arguments.delta","#;

/// `response.function_call_arguments.delta` with the fields that OpenAI gives it. With any other field,
/// or in any other order, it is read like every event.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeltaText<'a> {
    #[serde(rename = "type")]
    _kind: &'a str,
    item_id: Option<&'a str>,
    output_index: Option<u64>,
    #[serde(borrow)]
    delta: Cow<'a, str>,
    sequence_number: Option<u64>,
    #[serde(rename = "obfuscation")]
    _obfuscation: Option<&'a str>,
}

// === impl DeltaText ===

impl<'a> DeltaText<'a> {
    /// Reads an event; `None` if it is another one.
    pub(crate) fn read(text: &'a str) -> Option<Self> {
        if !text.starts_with(BEGINNING) {
            return None;
        }
        serde_json::from_str(text).ok()
    }

    pub(crate) fn stamp(&self) -> Option<Stamp<'_>> {
        let sequence = Some(self.sequence_number?);
        Some(Stamp { response_id: None, sequence })
    }

    pub(crate) fn event(&self) -> CallEvent<'_> {
        CallEvent {
            item_id: self.item_id,
            position: self.output_index.map(Position::OutputIndex),
            arguments: Arguments::Increment(&self.delta),
            ..CallEvent::default()
        }
    }
}
