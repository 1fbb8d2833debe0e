//! The binary as a person uses it, with the real Codex.
#![cfg(test)]

mod account;
mod ask;
mod browser;
mod calls;
mod clients;
mod completions;
mod config;
mod conformance;
mod control_characters;
mod doctor;
mod error_words;
mod greeting;
mod identity;
mod impostor;
mod install_codex;
mod key;
mod login_import;
mod models;
mod page;
mod programs;
mod recorder;
mod responses_clients;
mod reverse_proxies;
mod run_book;
mod serve;
mod server;
mod service;
mod smoke;
mod start;
mod terminal;
mod top;
mod transcript;
mod user;
mod working_folder;
