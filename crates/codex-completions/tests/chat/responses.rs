//! `/v1/responses`.

mod asking;
mod captures;
mod going_on;
mod limits;
mod paths;
mod refused;
mod reply;
mod same_either_way;
mod telling;
mod to_the_model;
mod toggles;
mod tolerated;
mod transcripts;

pub(crate) use asking::RESPONSES;
