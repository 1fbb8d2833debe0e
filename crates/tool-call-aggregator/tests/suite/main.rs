//! The aggregator held against a corpus of cases and against a plain reading of the grammar.
#![cfg(test)]

mod corpus;
mod cuts;
mod random;
mod reference;
mod text_corpus;
