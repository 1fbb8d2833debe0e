//! Arguments that satisfy a tool's JSON schema and do what the agent wants.

use serde_json::{Map, Value, json};

use super::tools::{Kind, compact};
use crate::demo::kind;

const DEEPEST: usize = 5;

/// Names of parameters in lower case and without separators.
const PATHS: &[&str] = &[
    "path",
    "paths",
    "file",
    "files",
    "filename",
    "filepath",
    "filepaths",
    "absolutepath",
    "targetfile",
    "dirpath",
    "directory",
    "directorypath",
    "dir",
    "folder",
];
const CONTENTS: &[&str] = &["content", "contents", "filetext", "filecontent", "text", "newstr"];
const COMMANDS: &[&str] = &["command", "commands", "cmd", "commandline", "script"];
const PATCHES: &[&str] = &["input", "patch", "patchtext"];
const REPORTS: &[&str] = &["result", "summary", "message", "text", "answer"];

/// Longer than any command of the agent's runs, whether a program counts in seconds or less.
const PATIENCE: i64 = 30_000;

/// What a call is for.
pub(super) struct Purpose<'a> {
    pub(super) kind: Kind,
    pub(super) path: &'a str,
    pub(super) text: &'a str,
}

/// The required parameters, and those that the purpose needs.
pub(super) fn arguments(parameters: &Value, purpose: &Purpose<'_>) -> Value {
    Filler { root: parameters, purpose }.object(parameters, 0)
}

struct Filler<'a> {
    root: &'a Value,
    purpose: &'a Purpose<'a>,
}

impl<'a> Filler<'a> {
    fn object(&self, schema: &'a Value, depth: usize) -> Value {
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let properties = schema.get("properties").and_then(Value::as_object);
        let filled = properties.into_iter().flatten().filter_map(|(name, schema)| {
            let text = self.text(name);
            let needed = text.is_some() || required.contains(&name.as_str());
            needed.then(|| (name.clone(), self.value(name, text, schema, depth)))
        });
        Value::Object(filled.collect::<Map<_, _>>())
    }

    fn value(&self, name: &str, text: Option<&str>, schema: &'a Value, depth: usize) -> Value {
        if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
            return self.choice(choices);
        }
        let fixed = schema.get("const").or_else(|| schema.get("default"));
        if let (Some(fixed), None) = (fixed, text) {
            return fixed.clone();
        }
        if text.is_none() && allows_null(schema) || depth >= DEEPEST {
            return Value::Null;
        }
        if let Some(inner) = self.indirection(schema) {
            return self.value(name, text, inner, depth + 1);
        }
        match kind(schema) {
            "object" => self.object(schema, depth + 1),
            "array" => self.array(name, text, schema, depth),
            "integer" | "number" => number(name, schema),
            "boolean" => json!(false),
            "null" => Value::Null,
            _ => text.unwrap_or("the agent's task").into(),
        }
    }

    fn array(&self, name: &str, text: Option<&str>, schema: &'a Value, depth: usize) -> Value {
        let Some(text) = text else { return json!([]) };
        // One command in words; a list of commands has one text for each.
        if self.purpose.kind == Kind::Shell && compact(name) == "command" {
            return json!(["bash", "-c", text]);
        }
        json!([self.value(
            name,
            Some(text),
            schema.get("items").unwrap_or(&Value::Null),
            depth + 1
        )])
    }

    /// What the purpose needs in a parameter of this name.
    fn text(&self, name: &str) -> Option<&'a str> {
        let name = compact(name);
        let is_one_of = |names: &[&str]| names.contains(&name.as_str());
        let Purpose { kind, path, text } = *self.purpose;
        match kind {
            Kind::Write | Kind::Read | Kind::List if is_one_of(PATHS) => Some(path),
            Kind::Write if is_one_of(CONTENTS) => Some(text),
            Kind::Patch | Kind::Code if is_one_of(PATCHES) => Some(text),
            Kind::Shell if is_one_of(COMMANDS) => Some(text),
            Kind::End if is_one_of(REPORTS) => Some(text),
            _ => None,
        }
    }

    /// What an editor is to do; else the first choice.
    fn choice(&self, choices: &[Value]) -> Value {
        let wanted: &[&str] = match self.purpose.kind {
            Kind::Write => &["create", "write"],
            Kind::Read => &["view", "read"],
            _ => &[],
        };
        let fits = |choice: &&Value| choice.as_str().is_some_and(|name| wanted.contains(&name));
        choices.iter().find(fits).or(choices.first()).cloned().unwrap_or_default()
    }

    /// The schema that this one only points at.
    fn indirection(&self, schema: &'a Value) -> Option<&'a Value> {
        if let Some(pointer) = schema.get("$ref").and_then(Value::as_str) {
            return self.root.pointer(pointer.strip_prefix('#')?);
        }
        choices(schema).find(|choice| kind(choice) != "null")
    }
}

fn choices(schema: &Value) -> impl Iterator<Item = &Value> {
    ["anyOf", "oneOf", "allOf"]
        .into_iter()
        .filter_map(|choice| schema.get(choice).and_then(Value::as_array))
        .flatten()
}

fn allows_null(schema: &Value) -> bool {
    let listed = schema.get("type").and_then(Value::as_array);
    listed.is_some_and(|names| names.contains(&json!("null")))
        || choices(schema).any(|choice| kind(choice) == "null")
}

fn number(name: &str, schema: &Value) -> Value {
    let limit = |bound: &str| schema.get(bound).and_then(Value::as_i64);
    let waits = ["timeout", "wait", "yield"].iter().any(|word| compact(name).contains(word));
    let wanted = if waits { PATIENCE } else { 1 };
    let least = limit("minimum").unwrap_or(wanted).max(wanted);
    json!(limit("maximum").map_or(least, |most| least.min(most)))
}
