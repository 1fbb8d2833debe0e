//! What a thread has had so far, as a fingerprint.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use serde_json::Value;
use siphasher::sip128::{Hasher128 as _, SipHasher13};

use crate::history::{ContentPart, HistoryItem, MessagePhase, Role, ToolOutput};

/// Members that an upstream or Codex adds to items, and that no model reads.
const UNREAD: [&str; 4] =
    ["id", "status", "annotations", "internal_chat_message_metadata_passthrough"];

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
    /// The reasoning in it. Clients need not send it back, and most cannot, so it is no part of the
    /// fingerprint; what they do send must be there.
    reasoning: HashSet<Fingerprint>,
    last_thought: Option<Fingerprint>,
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
        Self {
            key,
            fingerprint: key.fingerprint(&[setting]),
            bytes: 0,
            reasoning: HashSet::new(),
            last_thought: None,
        }
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

    /// What was last thought.
    pub(crate) fn last_thought(&self) -> Option<Fingerprint> {
        self.last_thought
    }

    /// With what was thought in a thread too, of which a client may have sent nothing.
    pub(crate) fn with_thoughts_of(mut self, thread: &Self) -> Self {
        self.reasoning.extend(&thread.reasoning);
        self
    }

    /// An item as it is injected, without its id.
    pub(crate) fn add(&mut self, item: &HistoryItem, json: &str) {
        match item {
            HistoryItem::Reasoning { encrypted_content, .. } => self.think(encrypted_content),
            _ => self.write(json),
        }
    }

    /// An item that Codex has put into its thread itself, as it tells it.
    pub(crate) fn note(&mut self, raw: &str) -> Result<(), Unsayable> {
        if raw.len() > LARGEST_ITEM {
            return Err(Unsayable);
        }
        let mut raw: Value = serde_json::from_str(raw).map_err(|_| Unsayable)?;
        remove_unread(&mut raw);
        match raw.get("type").and_then(Value::as_str) {
            Some("reasoning") => {
                if let Some(content) = raw.get("encrypted_content").and_then(Value::as_str) {
                    self.think(content);
                }
                return Ok(());
            }
            // How hard the model shall think: every turn says it anew.
            Some("configuration_update") => return Ok(()),
            _ => {}
        }
        let (item, name) = item_of(&raw).ok_or(Unsayable)?;
        let json = item.to_json(name).map_err(|_| Unsayable)?;
        // Whatever the item has beside what a history can say, the model would see it.
        let sayable: Value = serde_json::from_str(&json).map_err(|_| Unsayable)?;
        if sayable != raw {
            return Err(Unsayable);
        }
        self.write(&json);
        Ok(())
    }

    fn write(&mut self, json: &str) {
        let before = self.fingerprint.0.to_le_bytes();
        self.fingerprint = self.key.fingerprint(&[&before, json.as_bytes()]);
        self.bytes += json.len();
    }

    fn think(&mut self, encrypted_content: &str) {
        let place = self.fingerprint.0.to_le_bytes();
        let thought = self.key.fingerprint(&[&place, encrypted_content.as_bytes()]);
        self.reasoning.insert(thought);
        self.last_thought = Some(thought);
        self.bytes += encrypted_content.len();
    }
}

fn remove_unread(item: &mut Value) {
    let Value::Object(members) = item else { return };
    members.retain(|name, _| !UNREAD.contains(&name.as_str()));
    let Some(Value::Array(parts)) = members.get_mut("content") else { return };
    for part in parts.iter_mut().filter_map(Value::as_object_mut) {
        part.retain(|name, _| !UNREAD.contains(&name.as_str()));
        if part.get("logprobs").and_then(Value::as_array).is_some_and(Vec::is_empty) {
            part.remove("logprobs");
        }
    }
}

/// The item that a client would send for a raw one, and its name towards Codex.
fn item_of(raw: &Value) -> Option<(HistoryItem, &str)> {
    let text = |name: &str| raw.get(name).and_then(Value::as_str);
    match text("type")? {
        "message" => {
            let parts = raw.get("content")?.as_array()?.iter();
            let content = parts.map(text_part).collect::<Option<_>>()?;
            let phase = match raw.get("phase") {
                Some(phase) => Some(MessagePhase::named(phase.as_str()?)?),
                None => None,
            };
            Some((HistoryItem::Message { role: Role::Assistant, content, phase }, ""))
        }
        "function_call" => {
            let name = text("name")?;
            let (call_id, arguments) = (text("call_id")?.to_owned(), text("arguments")?.to_owned());
            let name_here = name.to_owned();
            Some((HistoryItem::ToolCall { call_id, name: name_here, arguments }, name))
        }
        "function_call_output" => {
            let call_id = text("call_id")?.to_owned();
            let output = match raw.get("output")? {
                Value::String(text) => ToolOutput::Text(text.clone()),
                Value::Array(parts) => {
                    ToolOutput::Parts(parts.iter().map(text_part).collect::<Option<_>>()?)
                }
                _ => return None,
            };
            Some((HistoryItem::ToolOutput { call_id, output }, ""))
        }
        _ => None,
    }
}

fn text_part(part: &Value) -> Option<ContentPart> {
    Some(ContentPart::Text(part.get("text")?.as_str()?.to_owned()))
}

#[cfg(test)]
mod tests;
