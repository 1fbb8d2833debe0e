//! Streamed tool calls put together right.
#![forbid(unsafe_code)]

mod json_members;
pub mod obsidian;
