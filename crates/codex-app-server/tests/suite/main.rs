//! Integration tests with the real Codex binary; only `child_faults` has a scripted one.
#![cfg(test)]

mod burst;
mod canary;
mod chat_requests;
mod child_faults;
mod codex_never_acts;
mod conversation;
mod credentials;
mod early_arguments;
mod endurance;
mod exact_text;
mod failures;
mod faults;
mod held_turns;
mod housekeeping;
mod interleaved;
mod lifecycle;
mod login;
mod long_conversations;
mod protocol_schema;
mod request_body;
mod retries;
mod supervision;
mod tool_schemas;
