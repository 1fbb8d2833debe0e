//! `/v1/chat/completions` as clients see it: the server's binary, the real Codex behind it, and the
//! scripted model behind that.
#![cfg(test)]

mod asking;
mod golden;
mod http;
mod proxy;
mod reply;
mod same_either_way;
mod telemetry;
mod toggles;
mod transcripts;
