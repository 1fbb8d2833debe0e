//! Integration tests with the real Codex binary.

mod exact_text;
