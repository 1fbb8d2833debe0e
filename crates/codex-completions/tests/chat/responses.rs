//! `/v1/responses`.

pub(crate) mod asking;
mod cancelled;
mod captures;
mod client;
mod faults;
mod going_on;
mod kept_reasoning;
mod limits;
mod paths;
mod refused;
pub(crate) mod reply;
mod same_either_way;
mod state;
mod telling;
mod to_the_model;
mod toggles;
mod tolerated;
mod transcripts;

pub(crate) use asking::{RESPONSES, ask, open, post, respond, respond_with, with_tools};
pub(crate) use reply::Reply;
