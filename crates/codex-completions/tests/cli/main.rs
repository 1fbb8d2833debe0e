//! The binary as a person uses it, with the real Codex.
#![cfg(test)]

mod account;
mod ask;
mod calls;
mod clients;
mod config;
mod doctor;
mod error_words;
mod greeting;
mod key;
mod models;
mod recorder;
mod responses_clients;
mod run_book;
mod serve;
mod server;
mod service;
mod smoke;
mod terminal;
mod transcript;
mod under_fire;
mod user;
