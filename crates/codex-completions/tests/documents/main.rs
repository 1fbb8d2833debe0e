//! The documents say what the code does: tables of `docs/` against lists in the code.
#![cfg(test)]

mod acceptance;
mod api;
mod clients;
mod locked;
mod monitoring;
mod operations;
mod packaging;
mod purity;
mod security;
mod sources;
mod tables;
mod telemetry;
