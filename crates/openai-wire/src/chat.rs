//! `/v1/chat/completions`.

mod completion;
pub mod stream;

pub use completion::{ChatCompletion, Choice, Message};
