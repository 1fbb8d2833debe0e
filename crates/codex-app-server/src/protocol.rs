//! The part of the app-server's protocol that we use, as types.
//!
//! A test generates the JSON schema of the installed Codex and checks that every message built
//! from [`outgoing`] is valid in it and that every field read by [`incoming`] exists in it.

pub mod incoming;
pub mod outgoing;
