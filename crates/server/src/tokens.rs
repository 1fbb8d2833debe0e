//! The tokenizer of OpenAI's current models, `o200k_base`. It takes tens of milliseconds to load and
//! then stays, so it is loaded on first use, and never on a thread that serves.

use std::sync::{Arc, OnceLock};

use bridge::{Prepared, Tokenizer};
use tokio::task::JoinError;

struct O200k(&'static bpe_openai::Tokenizer);

/// The tokenizer; only its first users wait for another thread.
pub(crate) async fn tokenizer() -> Result<Arc<dyn Tokenizer>, JoinError> {
    static LOADED: OnceLock<Arc<O200k>> = OnceLock::new();
    if let Some(loaded) = LOADED.get() {
        return Ok(Arc::clone(loaded) as Arc<dyn Tokenizer>);
    }
    let loaded = tokio::task::spawn_blocking(|| O200k(bpe_openai::o200k_base())).await?;
    Ok(Arc::clone(LOADED.get_or_init(|| Arc::new(loaded))) as Arc<dyn Tokenizer>)
}

/// Tokens of a text; not for threads that serve.
pub(crate) fn count(text: &str) -> u64 {
    bpe_openai::o200k_base().count(text) as u64
}

/// Tokens of all that the model reads; not for threads that serve.
pub(crate) fn of_prompt(prepared: &Prepared) -> u64 {
    prepared.prompt_texts().map(|text| count(&text)).sum()
}

// === impl O200k ===

impl Tokenizer for O200k {
    fn count(&self, text: &str) -> usize {
        self.0.count(text)
    }

    fn head(&self, text: &str, tokens: usize) -> usize {
        let encoded = self.0.encode(text);
        let bytes = encoded.iter().take(tokens).map(|token| self.0.bpe.token_len(*token)).sum();
        // A token can end inside a character.
        text.floor_char_boundary(bytes)
    }
}
