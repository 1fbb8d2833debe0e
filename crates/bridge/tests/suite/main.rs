//! An answer held against the contract: tables of turns, and laws over random ones.
#![cfg(test)]
#![allow(clippy::disallowed_methods, reason = "a test may ask the clock")]

mod answer;
mod blocks;
mod ending;
mod forwarded_everything;
mod grace;
mod kinds;
mod laws;
mod messages;
mod plain_text;
mod play;
mod random;
mod reference;
mod repeats;
mod reporting;
mod responses;
mod script;
mod stopping;
mod tail;
mod visible;
