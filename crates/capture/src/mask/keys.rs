//! Keys that are made of one random key, and say nothing about each other.

use siphasher::sip::SipHasher13;

use super::MaskKey;

/// A source of keys.
#[derive(Debug)]
pub(crate) struct Keys {
    hasher: SipHasher13,
    count: u64,
}

/// What a key is for: no two purposes share one.
#[derive(Debug, Clone, Copy)]
enum Purpose {
    Ordinal,
    Text,
}

// === impl Keys ===

impl Keys {
    pub(crate) fn new(key: &MaskKey) -> Self {
        Self { hasher: SipHasher13::new_with_key(key), count: 0 }
    }

    /// A key that was never given before.
    pub(crate) fn fresh(&mut self) -> MaskKey {
        self.count += 1;
        self.derive(Purpose::Ordinal, &self.count.to_le_bytes())
    }

    /// The key of this text, and of no other.
    pub(crate) fn of(&self, text: &str) -> MaskKey {
        self.derive(Purpose::Text, text.as_bytes())
    }

    fn derive(&self, purpose: Purpose, input: &[u8]) -> MaskKey {
        let half = |half: u8| {
            let hashed = [&[purpose as u8, half], input].concat();
            self.hasher.hash(&hashed).to_le_bytes()
        };
        let mut key = MaskKey::default();
        key[..8].copy_from_slice(&half(0));
        key[8..].copy_from_slice(&half(1));
        key
    }
}
