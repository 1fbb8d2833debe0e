//! Integration tests with the real Codex binary.
#![cfg(test)]

mod burst;
mod codex_never_acts;
mod credentials;
mod endurance;
mod exact_text;
mod failures;
mod faults;
mod housekeeping;
mod interleaved;
mod lifecycle;
mod login;
mod protocol_schema;
mod request_body;
mod retries;
mod supervision;
