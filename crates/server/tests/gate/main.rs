//! The gate over real sockets. Tests are named after the rows of what must hold for security.
#![cfg(test)]

mod client;
mod connections;
mod cors;
mod paths;
mod refusals;
