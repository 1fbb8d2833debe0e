//! The tools of an agent, by what they are for.

use serde_json::Value;

use super::arguments::{Purpose, arguments};
use crate::answer::Call;
use crate::request::Tool;

/// What a tool is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Applies a patch in the form of Codex.
    Patch,
    /// Writes a whole file.
    Write,
    /// Reads a file.
    Read,
    /// Lists a folder.
    List,
    /// Runs JavaScript that calls other tools.
    Code,
    /// Runs a command.
    Shell,
    /// Ends the task.
    End,
}

/// Names of tools in lower case and without separators, as real programs declare them.
const PATCHES: &[&str] = &["applypatch"];
const WRITES: &[&str] = &[
    "write",
    "writefile",
    "writetofile",
    "writenewfile",
    "create",
    "createfile",
    "createnewfile",
    "filewrite",
    "savefile",
];
const READS: &[&str] =
    &["read", "readfile", "readfiles", "fileread", "view", "viewfile", "openfile", "readmanyfiles"];
/// Editors read and write, as their `command` says.
const EDITORS: &[&str] =
    &["editor", "texteditor", "fileeditor", "strreplaceeditor", "strreplacebasededittool"];
const LISTS: &[&str] = &["ls", "list", "listdir", "listfiles", "listdirectory", "listfolder"];
const CODES: &[&str] = &["exec"];
const SHELLS: &[&str] = &[
    "bash",
    "shell",
    "shellcommand",
    "execcommand",
    "execute",
    "executebash",
    "executecommand",
    "exec",
    "runcommand",
    "runcommands",
    "runshellcommand",
    "runterminalcommand",
    "runinterminal",
    "terminal",
];
const ENDS: &[&str] =
    &["attemptcompletion", "completetask", "taskcomplete", "finish", "submitandexit"];

/// What an alias of codex-completions begins with, and the digits of the hash that it ends with.
const ALIAS_PREFIX: &str = "t_";
const HASH_DIGITS: usize = 16;

/// The declared tools.
pub(super) struct Toolbox<'a> {
    tools: Vec<Tool<'a>>,
}

impl<'a> Toolbox<'a> {
    pub(super) fn new(tools: Vec<Tool<'a>>) -> Self {
        Self { tools }
    }

    /// A call of the first tool of a kind with a text: a patch, code, a command or last words.
    pub(super) fn call(&self, kind: Kind, text: &str) -> Option<Call> {
        self.call_with_path(kind, "", text)
    }

    /// The same with a path.
    pub(super) fn call_with_path(&self, kind: Kind, path: &str, text: &str) -> Option<Call> {
        let tool = self.find(kind)?;
        Some(call(tool, &arguments(tool.parameters, &Purpose { kind, path, text })))
    }

    /// A call of the tool of this name, with or without its namespace.
    pub(super) fn call_named(&self, name: &str, given: Option<&str>) -> Option<Call> {
        let named = |tool: &&Tool<'_>| {
            let own = unaliased(tool.name);
            let full = tool.namespace.map(|namespace| format!("{}__{own}", unaliased(namespace)));
            own == name || full.is_some_and(|full| full == name)
        };
        let tool = self.tools.iter().find(named)?;
        let purpose = Purpose { kind: Kind::List, path: ".", text: "" };
        let given = given.and_then(|given| serde_json::from_str(given).ok());
        Some(call(tool, &given.unwrap_or_else(|| arguments(tool.parameters, &purpose))))
    }

    /// Whether code can call a tool of this name.
    pub(super) fn nests(&self, name: &str) -> bool {
        self.find(Kind::Code).is_some_and(|tool| tool.description.contains(name))
    }

    /// In the order of the names, which is by preference, and then in that of the tools.
    fn find(&self, kind: Kind) -> Option<&Tool<'a>> {
        let fits = |tool: &&Tool<'_>, names: &str| {
            let own = unaliased(tool.name);
            // Of an MCP server's tool, and of Semantic Kernel's `Plugin-function`.
            let last = |separator| own.rsplit(separator).next().unwrap_or(own);
            let is_code = CODES.contains(&names) && takes_only_input(tool);
            [own, last("__"), last("-")].iter().any(|part| compact(part) == names)
                && is_code == matches!(kind, Kind::Code)
        };
        let names = names(kind);
        names.iter().find_map(|name| self.tools.iter().find(|tool| fits(tool, name)))
    }
}

fn names(kind: Kind) -> Vec<&'static str> {
    match kind {
        Kind::Patch => PATCHES.to_vec(),
        Kind::Write => [WRITES, EDITORS].concat(),
        Kind::Read => [READS, EDITORS].concat(),
        Kind::List => LISTS.to_vec(),
        Kind::Code => CODES.to_vec(),
        Kind::Shell => SHELLS.to_vec(),
        Kind::End => ENDS.to_vec(),
    }
}

fn call(tool: &Tool<'_>, arguments: &Value) -> Call {
    Call::new(tool.name, arguments.to_string()).within(tool.namespace.map(str::to_owned))
}

/// A free-form tool comes as a function of one text, which is how code differs from a command.
fn takes_only_input(tool: &Tool<'_>) -> bool {
    let properties = tool.parameters.get("properties").and_then(Value::as_object);
    properties.is_some_and(|properties| properties.keys().eq(["input"]))
}

/// The client's name for a tool that codex-completions had to rename.
fn unaliased(name: &str) -> &str {
    name.strip_prefix(ALIAS_PREFIX)
        .and_then(|rest| rest.rsplit_once('_'))
        .filter(|(_, hash)| hash.len() == HASH_DIGITS)
        .map_or(name, |(own, _)| own)
}

/// In lower case and without separators.
pub(super) fn compact(name: &str) -> String {
    name.chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|letter| letter.to_ascii_lowercase())
        .collect()
}
