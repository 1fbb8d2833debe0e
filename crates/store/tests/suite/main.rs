//! The database as the server uses it.
#![cfg(test)]

mod folder;
mod opening;
mod retention;
mod sums;
mod writing;
