//! The aggregator held against a corpus of cases and against a plain reading of the grammar.
#![cfg(test)]
#![allow(clippy::disallowed_methods, reason = "tests read their cases from files")]

mod any_json;
mod arbitrary;
mod bounded;
mod bracket;
mod changes;
mod client;
mod corpus;
mod criteria;
mod cuts;
mod event_corpus;
mod event_cuts;
mod fuzz_corpus;
mod fuzzed;
mod identity;
mod ingest;
mod mixtures;
mod on_the_wire;
mod random;
mod reference;
mod scan;
mod scanning;
mod shapes;
mod stubborn;
mod sweeps;
mod text_corpus;
mod told_apart;
mod transcripts;
