//! `/v1/responses`.

mod asking;
mod client;
mod reply;
mod same_either_way;
mod state;
mod transcripts;
