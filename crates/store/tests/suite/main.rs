//! The database as the server uses it.
#![cfg(test)]

mod folder;
mod full_disk;
mod opening;
mod responses;
mod retention;
mod sums;
mod writing;
