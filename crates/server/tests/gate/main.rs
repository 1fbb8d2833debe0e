//! The gate over real sockets. Tests are named after the rows of what must hold for security.
#![cfg(test)]

mod bodies;
mod client;
mod connections;
mod cors;
mod identity;
mod limits;
mod page;
mod paths;
mod refusals;
mod streams;
