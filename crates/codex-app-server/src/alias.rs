//! Names of tools that Codex refuses or hides, replaced by ones that it takes.

use std::collections::HashMap;
use std::hash::Hasher as _;

use siphasher::sip::SipHasher13;

/// Longest name that Codex accepts.
const MAX_NAME: usize = 128;

/// Longest alias: some upstreams take no longer names than this.
const MAX_ALIAS: usize = 64;

/// Names that Codex accepts and then leaves out of the request.
const HIDDEN: [&str; 2] = ["exec_command", "shell_command"];

/// Name and prefix that Codex keeps for itself.
const RESERVED: &str = "mcp";
const RESERVED_PREFIX: &str = "mcp__";

/// Of every alias.
const ALIAS_PREFIX: &str = "t_";

/// Digits of the hash at the end of every alias.
const HASH_DIGITS: usize = 16;

/// The tools of one turn, with an alias where Codex needs one.
///
/// An alias depends on the name alone, so that a later request with the same tools, or a history
/// without its tools, uses the same one.
#[derive(Debug, Clone, Default)]
pub(crate) struct ToolAliases {
    originals: HashMap<String, String>,
}

// === impl ToolAliases ===

impl ToolAliases {
    /// The name to use towards Codex for a name of the client's.
    pub(crate) fn alias(&mut self, name: &str) -> String {
        if is_accepted(name) {
            return name.to_owned();
        }
        let alias = make_alias(name);
        self.originals.insert(alias.clone(), name.to_owned());
        alias
    }

    /// The client's name for a name of Codex's; a name that is no alias stays as it is.
    pub(crate) fn original(&self, name: String) -> String {
        self.originals.get(&name).cloned().unwrap_or(name)
    }
}

fn is_accepted(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len())
        && name.bytes().all(is_name_byte)
        && name != RESERVED
        && !name.starts_with(RESERVED_PREFIX)
        && !looks_like_an_alias(name)
        && !HIDDEN.contains(&name)
}

/// A client's name of this form gets an alias of its own, so that it cannot be another's.
fn looks_like_an_alias(name: &str) -> bool {
    name.starts_with(ALIAS_PREFIX)
        && name.rsplit_once('_').is_some_and(|(_, hash)| {
            hash.len() == HASH_DIGITS && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
        })
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Readable for the model, and different for different names: `t_<words>_<64-bit hash>`.
///
/// The prefix keeps it out of Codex's reserved names.
fn make_alias(name: &str) -> String {
    let mut hasher = SipHasher13::new();
    hasher.write(name.as_bytes());
    let suffix = format!("_{:0HASH_DIGITS$x}", hasher.finish());
    let mut alias = String::from(ALIAS_PREFIX);
    let room = MAX_ALIAS - alias.len() - suffix.len();
    alias.extend(
        name.chars()
            .map(|c| {
                u8::try_from(c).ok().filter(|byte| is_name_byte(*byte)).map_or('_', char::from)
            })
            .take(room),
    );
    alias + &suffix
}

#[cfg(test)]
mod tests;
