//! Short runs of the load programs, with the server's binary.
#![cfg(test)]

mod soak;
mod under_fire;
