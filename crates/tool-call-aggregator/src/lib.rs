//! Streamed tool calls put together right.
#![forbid(unsafe_code)]
