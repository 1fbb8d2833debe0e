//! What a thread has had so far, as a fingerprint.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use model_turn::{HistoryItem, ToolName};
use siphasher::sip128::{Hasher128 as _, SipHasher13};

use super::raw_item::RawItem;
use crate::history::{CustomCalls, to_json};
use crate::tool_names::ToolNames;

/// What goes on with an item larger than this is not worth the time that it takes to read it again.
const LARGEST_ITEM: usize = 1024 * 1024;

/// Of a process: nobody else can make two conversations that look the same.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FingerprintKey(u64, u64);

/// Everything that the model saw and said up to some point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Fingerprint(u128);

/// The conversation of a thread as it grows.
#[derive(Debug, Clone)]
pub(crate) struct Transcript {
    key: FingerprintKey,
    fingerprint: Fingerprint,
    bytes: usize,
    /// Its calls of custom tools.
    custom: CustomCalls,
    /// The reasoning in it. Clients need not send it back, and most cannot, so it is no part of the
    /// fingerprint; what they do send must be there.
    reasoning: HashSet<Fingerprint>,
}

/// Codex has something in its thread that a client's history cannot say.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unsayable;

// === impl FingerprintKey ===

impl FingerprintKey {
    pub(crate) fn random() -> Self {
        // The system's own randomness, which the standard library gives in no other way.
        let random = || RandomState::new().build_hasher().finish();
        Self(random(), random())
    }

    fn fingerprint(self, parts: &[&[u8]]) -> Fingerprint {
        let mut hasher = SipHasher13::new_with_keys(self.0, self.1);
        for part in parts {
            // With its length, so that no two lists of parts are the same bytes.
            hasher.write_usize(part.len());
            hasher.write(part);
        }
        Fingerprint(hasher.finish128().as_u128())
    }
}

// === impl Transcript ===

impl Transcript {
    /// Before the first item; `setting` is everything else that the model sees.
    pub(crate) fn begin(key: FingerprintKey, setting: &[u8]) -> Self {
        let fingerprint = key.fingerprint(&[setting]);
        let (custom, reasoning) = (CustomCalls::default(), HashSet::new());
        Self { key, fingerprint, bytes: 0, custom, reasoning }
    }

    pub(crate) fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// About how much memory Codex has for it.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn reasoning(&self) -> &HashSet<Fingerprint> {
        &self.reasoning
    }

    /// With what was thought in a thread too, of which a client may have sent nothing.
    pub(crate) fn with_thoughts_of(mut self, thread: &Self) -> Self {
        self.reasoning.extend(&thread.reasoning);
        self
    }

    /// An item as it is injected, without its id. Gives what the model thought, if it is that.
    pub(crate) fn add(&mut self, item: &HistoryItem, json: &str) -> Option<Fingerprint> {
        self.custom.note(item);
        if let HistoryItem::Reasoning { encrypted_content, .. } = item {
            return Some(self.think(encrypted_content));
        }
        self.write(json);
        None
    }

    /// An item that Codex has put into its thread itself, as it tells it.
    pub(crate) fn note(&mut self, raw: &str, names: &ToolNames) -> Result<(), Unsayable> {
        if raw.len() > LARGEST_ITEM {
            return Err(Unsayable);
        }
        let item = match RawItem::read(raw, names).ok_or(Unsayable)? {
            RawItem::Spoken(item) => item,
            RawItem::Reasoning(content) => {
                if let Some(content) = content {
                    self.think(&content);
                }
                return Ok(());
            }
            // How hard the model shall think: every turn says it anew.
            RawItem::Setting => return Ok(()),
        };
        self.custom.note(&item);
        let name = match &item {
            HistoryItem::ToolCall { name, .. } => name.clone(),
            _ => ToolName::default(),
        };
        self.write(&to_json(&item, &name, &self.custom).map_err(|_| Unsayable)?);
        Ok(())
    }

    fn write(&mut self, json: &str) {
        let before = self.fingerprint.0.to_le_bytes();
        self.fingerprint = self.key.fingerprint(&[&before, json.as_bytes()]);
        self.bytes += json.len();
    }

    fn think(&mut self, encrypted_content: &str) -> Fingerprint {
        let place = self.fingerprint.0.to_le_bytes();
        let thought = self.key.fingerprint(&[&place, encrypted_content.as_bytes()]);
        self.reasoning.insert(thought);
        self.bytes += encrypted_content.len();
        thought
    }
}

#[cfg(test)]
mod tests;
