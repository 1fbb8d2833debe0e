//! `/v1/responses`.

mod asking;
mod reply;
mod same_either_way;
mod transcripts;
