//! The tools of a turn under the names that Codex takes, and back.
//!
//! Codex refuses or hides some names, which get aliases, and takes functions only: a custom tool is
//! declared as a function with one text parameter.

use std::collections::HashMap;
use std::hash::Hasher as _;

use model_turn::{Tool, ToolCall, ToolCallKind, ToolInput, ToolName};
use siphasher::sip::SipHasher13;

use crate::custom_input::decode;

/// Longest name that Codex accepts.
const MAX_NAME: usize = 128;

/// Longest name of a namespace that Codex accepts.
const MAX_NAMESPACE: usize = 64;

/// Longest alias: some upstreams take no longer names than this.
const MAX_ALIAS: usize = 64;

/// Names that Codex accepts and then leaves out of the request. Inside a namespace it does not.
const HIDDEN: [&str; 2] = ["exec_command", "shell_command"];

/// Name and prefix that Codex keeps for itself.
const RESERVED: &str = "mcp";
const RESERVED_PREFIX: &str = "mcp__";

/// The namespace in which newer models find functions that have none. Codex puts them there itself.
const FUNCTIONS: &str = "functions";

/// Namespaces that Codex keeps for the upstream's own tools.
const RESERVED_NAMESPACES: [&str; 14] = [
    "api_tool",
    "browser",
    "computer",
    "container",
    "file_search",
    FUNCTIONS,
    "image_gen",
    "multi_tool_use",
    "python",
    "python_user_visible",
    "submodel_delegator",
    "terminal",
    "tool_search",
    "web",
];

/// Of every alias.
const ALIAS_PREFIX: &str = "t_";

/// Digits of the hash at the end of every alias.
const HASH_DIGITS: usize = 16;

/// The tools of one turn, by their names towards Codex.
///
/// An alias depends on the name alone, so that a later request with the same tools, or a history
/// without its tools, uses the same one.
#[derive(Debug, Clone, Default)]
pub(crate) struct ToolNames {
    known: HashMap<ToolName, Known>,
}

/// A name towards Codex.
#[derive(Debug, Clone)]
struct Known {
    /// The client's name.
    original: ToolName,
    /// What the client declares; `None` for a name of the history alone.
    declared: Option<ToolCallKind>,
}

// === impl ToolNames ===

impl ToolNames {
    /// The name towards Codex of a tool that the client declares; `None` if another has it already.
    pub(crate) fn declare(&mut self, tool: &Tool) -> Option<ToolName> {
        let alias = alias(&tool.name);
        let declared = Some(match tool.input {
            ToolInput::Json(_) => ToolCallKind::Function,
            ToolInput::Text => ToolCallKind::Custom,
        });
        let known = Known { original: tool.name.clone(), declared };
        self.known.insert(alias.clone(), known).is_none().then_some(alias)
    }

    /// The name towards Codex of a tool in the history, which need not be declared.
    pub(crate) fn mention(&mut self, name: &ToolName) -> ToolName {
        let alias = alias(name);
        if alias != *name {
            let known = || Known { original: name.clone(), declared: None };
            self.known.entry(alias.clone()).or_insert_with(known);
        }
        alias
    }

    /// The client's name for a name of Codex's. Of one that the client does not know, the namespace
    /// is part of the name: `github.search` and `gitlab.search` stay different.
    pub(crate) fn original(&self, name: &ToolName) -> ToolName {
        match self.known.get(name) {
            Some(known) => known.original.clone(),
            None => ToolName::plain(name.to_string()),
        }
    }

    /// What the client declares under a name of Codex's.
    pub(crate) fn declared(&self, name: &ToolName) -> Option<ToolCallKind> {
        self.known.get(name)?.declared
    }

    /// A whole call in the client's terms.
    pub(crate) fn translated(&self, mut call: ToolCall) -> ToolCall {
        // A custom call of the upstream's own has its input as it is.
        if call.kind == ToolCallKind::Function
            && self.declared(&call.name) == Some(ToolCallKind::Custom)
        {
            call.kind = ToolCallKind::Custom;
            (call.arguments, call.deviation) = decode(&call.arguments);
        }
        call.name = self.original(&call.name);
        call
    }
}

/// A namespace, unless it is where models find tools without one.
fn own_namespace(namespace: Option<&str>) -> Option<&str> {
    namespace.filter(|namespace| !["", FUNCTIONS].contains(namespace))
}

fn is_accepted(name: &str, longest: usize) -> bool {
    (1..=longest).contains(&name.len())
        && name.bytes().all(is_name_byte)
        && name != RESERVED
        && !name.starts_with(RESERVED_PREFIX)
        && !looks_like_an_alias(name)
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

/// A name as Codex and models write it: a function outside any namespace may come back in [`FUNCTIONS`].
pub(crate) fn towards_codex(namespace: Option<&str>, name: String) -> ToolName {
    ToolName { namespace: own_namespace(namespace).map(str::to_owned), name }
}

/// The name that Codex takes for a tool.
pub(crate) fn alias(tool: &ToolName) -> ToolName {
    let namespace = own_namespace(tool.namespace.as_deref());
    let is_hidden = namespace.is_none() && HIDDEN.contains(&tool.name.as_str());
    let is_taken = is_accepted(&tool.name, MAX_NAME) && !is_hidden;
    ToolName {
        name: if is_taken { tool.name.clone() } else { make_alias(&tool.name) },
        namespace: namespace.map(|name| {
            let is_taken = is_accepted(name, MAX_NAMESPACE) && !RESERVED_NAMESPACES.contains(&name);
            if is_taken { name.to_owned() } else { make_alias(name) }
        }),
    }
}

#[cfg(test)]
mod tests;
