//! tmp
#![cfg(test)]
#[path = "suite/any_json.rs"]
mod any_json;
#[path = "suite/bounded.rs"]
mod bounded;
#[path = "suite/on_the_wire.rs"]
mod on_the_wire;
#[path = "suite/transcripts.rs"]
mod transcripts;
