//! What came from outside while a turn ran, and was recorded.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bridge::Tokenizer;
use tool_call_aggregator::SuffixSource;

use crate::record::{Record, What};

/// Bytes of a token, about, where none was counted.
const USUAL_TOKEN: usize = 4;

/// Random suffixes and counts of tokens, in the order in which they were asked for.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    suffixes: Mutex<VecDeque<String>>,
    tokens: Mutex<VecDeque<usize>>,
}

// === impl Inputs ===

impl Inputs {
    pub(super) fn of(record: &Record) -> Self {
        let (mut suffixes, mut tokens) = (VecDeque::new(), VecDeque::new());
        for entry in &record.entries {
            match &entry.what {
                What::Suffix(suffix) => suffixes.push_back(suffix.clone()),
                What::Tokens(count) => tokens.push_back(*count),
                _ => {}
            }
        }
        Self { suffixes: Mutex::new(suffixes), tokens: Mutex::new(tokens) }
    }

    /// The recorded suffixes. There are none left where the replay differs, and ids are then ordinal.
    pub(super) fn suffixes(inputs: &Arc<Self>) -> SuffixSource {
        let inputs = Arc::clone(inputs);
        Arc::new(move || next(&inputs.suffixes).unwrap_or_default())
    }

    /// The same for ids that have nothing else of their own: where none is left they are numbered.
    pub(super) fn item_ids(inputs: &Arc<Self>) -> SuffixSource {
        let inputs = Arc::clone(inputs);
        let missing = AtomicUsize::new(0);
        Arc::new(move || {
            let number = || missing.fetch_add(1, Ordering::Relaxed).to_string();
            next(&inputs.suffixes).unwrap_or_else(number)
        })
    }

    pub(super) fn tokenizer(inputs: &Arc<Self>) -> Arc<dyn Tokenizer> {
        Arc::clone(inputs) as Arc<dyn Tokenizer>
    }
}

/// What was counted then: the words that are there now may not be those that were.
impl Tokenizer for Inputs {
    fn count(&self, text: &str) -> usize {
        next(&self.tokens).unwrap_or(text.len().div_ceil(USUAL_TOKEN))
    }

    fn head(&self, text: &str, tokens: usize) -> usize {
        let wanted = next(&self.tokens).unwrap_or(tokens.saturating_mul(USUAL_TOKEN));
        text.floor_char_boundary(wanted)
    }
}

fn next<T>(values: &Mutex<VecDeque<T>>) -> Option<T> {
    values.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
}
