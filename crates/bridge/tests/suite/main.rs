//! An answer held against the contract: tables of turns, and laws over random ones.
#![cfg(test)]

mod blocks;
mod ending;
mod grace;
mod kinds;
mod laws;
mod messages;
mod play;
mod random;
mod reference;
mod repeats;
mod reporting;
mod responses;
mod script;
mod stopping;
mod tail;
mod told_everything;
mod visible;
