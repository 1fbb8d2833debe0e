//! Identifiers that look like OpenAI's and never repeat within a server.

use std::sync::atomic::{AtomicU64, Ordering};

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Hands out identifiers; the seed makes those of two servers differ.
pub(crate) struct Ids {
    seed: u64,
    next: AtomicU64,
}

impl Ids {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed: scatter(seed), next: AtomicU64::new(0) }
    }

    pub(crate) fn response(&self) -> String {
        self.with_prefix("resp_")
    }

    pub(crate) fn message(&self) -> String {
        self.with_prefix("msg_")
    }

    pub(crate) fn reasoning(&self) -> String {
        self.with_prefix("rs_")
    }

    pub(crate) fn function_call(&self) -> String {
        self.with_prefix("fc_")
    }

    pub(crate) fn call(&self) -> String {
        self.with_prefix("call_")
    }

    fn with_prefix(&self, prefix: &str) -> String {
        let first = scatter(self.seed.wrapping_add(self.next.fetch_add(1, Ordering::Relaxed)));
        let second = scatter(first ^ self.seed);
        [prefix, &letters(first), &letters(second)].concat()
    }
}

/// `SplitMix64`'s finaliser: a bijection, so different numbers stay different.
fn scatter(number: u64) -> u64 {
    let number = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

/// Twelve letters and digits: more than the eleven that 64 bits need, so nothing is lost.
fn letters(number: u64) -> String {
    std::iter::successors(Some(number), |rest| Some(rest / 62))
        .take(12)
        .filter_map(|rest| usize::try_from(rest % 62).ok())
        .map(|digit| char::from(ALPHABET[digit]))
        .collect()
}

#[cfg(test)]
mod tests;
