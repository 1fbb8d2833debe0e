//! Who may reach the server: what must hold before it listens for other machines.

use std::collections::BTreeSet;

use secrecy::ExposeSecret as _;

use crate::problem::Problem;
use crate::settings::{Access, Host, Listen};

/// Shorter keys can be tried out.
pub(crate) const SHORTEST_KEY: usize = 16;

/// Keys with fewer different characters are no secret.
const FEWEST_DIFFERENT: usize = 5;

/// Keys that stand in examples, in lower case.
const KNOWN_KEYS: &[&str] = &[
    "0123456789abcdef",
    "1234567890123456",
    "api-key",
    "changeme",
    "changeme-changeme",
    "changemechangeme",
    "codex-local-secret",
    "dummy",
    "not-needed",
    "password",
    "secret",
    "sk-1234567890abcdef",
    "sk-local",
    "sk-test",
    "sk-xxxxxxxxxxxxxxxx",
    "test",
    "your-api-key",
    "your-api-key-here",
    "your-dev-key",
    "your-secret-api-key",
    "your-secret-key-here",
];

/// Whether a key can be guessed: it is short, or stands in somebody's example.
pub fn is_weak_key(key: &str) -> bool {
    let different: BTreeSet<char> = key.chars().collect();
    key.len() < SHORTEST_KEY
        || different.len() < FEWEST_DIFFERENT
        || KNOWN_KEYS.contains(&key.to_ascii_lowercase().as_str())
}

/// What keeps us from listening as told.
pub(crate) fn refuse(listen: &Listen, access: &Access) -> Vec<Problem> {
    let mut problems = Vec::new();
    if let Host::Address(address) = listen.host
        && !listen.host.is_loopback()
        && !access.allow_remote
    {
        problems.push(Problem::Conflict(format!(
            "PROXY_HOST={address} would let other machines use the login: \
             set PROXY_ALLOW_REMOTE=true if that is meant"
        )));
    }
    let is_weak = access.api_key.as_ref().is_some_and(|key| is_weak_key(key.expose_secret()));
    if access.allow_remote && is_weak {
        problems.push(Problem::Conflict(format!(
            "PROXY_API_KEY can be guessed, which PROXY_ALLOW_REMOTE=true does not allow: \
             choose one of {SHORTEST_KEY} characters or more that stands in no example, \
             or none, and one is generated"
        )));
    }
    problems
}

#[cfg(test)]
mod tests;
