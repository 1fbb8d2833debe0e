//! A tool's schema in the form that Codex hands on unchanged.
//!
//! Codex reads a schema into a small structure of its own. It drops every keyword that it does not
//! know, takes a value without a type for a string, and refuses a tool over one keyword of an unusual
//! form. So a schema is brought into Codex's form here, and what does not fit is said in descriptions:
//! `(maximum: 5; minimum: 1)`.

mod form;

use model_turn::JsonSchema;
use serde_json::{Map, Value, json};

use form::{Form, Node};

/// From a schema that is longer than this in JSON, Codex takes all descriptions, and then more.
const LONGEST_SCHEMA: usize = 5_000;

const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];

/// Keywords that say what a value must be without naming its type.
const COMPOSITIONS: [&str; 4] = ["$ref", "anyOf", "oneOf", "allOf"];

/// Keywords that Codex keeps at the root only, and there what is referred to.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// Keywords that say nothing about a value.
const MEANINGLESS: [&str; 3] = ["$schema", "$id", "$comment"];

/// The parameters of a tool.
#[derive(Debug, PartialEq)]
pub(super) struct ToolSchema {
    /// As Codex hands them on.
    pub(super) parameters: JsonSchema,
    /// What is left to say in the tool's description.
    pub(super) remark: Option<String>,
}

/// Where a schema stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    Below,
}

/// What becomes of a keyword.
enum Kept<'a> {
    /// It stays.
    As(Form<'a>),
    /// It says nothing.
    Nothing,
    /// It has no place in Codex's form.
    Lost,
}

/// The work on one schema.
#[derive(Default)]
struct Translation {
    /// Whether a reference or what it refers to is in a remark, where the two do not find together.
    has_lost_reference: bool,
}

// === impl ToolSchema ===

impl ToolSchema {
    pub(super) fn new(schema: &Map<String, Value>) -> Self {
        let mut translation = Translation::default();
        let (mut root, remark) = translation.read(schema, Place::Root);
        // Arguments are always an object.
        if !root.has_any(&COMPOSITIONS) && !may_be(&root, "object") {
            root.set("type", Form::Made("object".into()));
        }
        complete(&mut root);
        let parameters = JsonSchema::new(&root);
        let is_cut = parameters.get().len() > LONGEST_SCHEMA;
        let remark = if is_cut || translation.has_lost_reference {
            let whole = Value::Object(schema.clone());
            Some(format!("The parameters follow this JSON schema: {whole}"))
        } else {
            remark
        };
        Self { parameters, remark }
    }
}

// === impl Translation ===

impl Translation {
    /// A schema below the root.
    fn translate<'a>(&mut self, schema: &'a Value) -> Form<'a> {
        let (mut node, remark) = match schema {
            Value::Object(schema) => self.read(schema, Place::Below),
            Value::Bool(true) | Value::Null => (Node::default(), None),
            Value::Bool(false) => (Node::default(), Some("(no value is allowed)".to_owned())),
            other => (Node::default(), Some(format!("({other})"))),
        };
        if let Some(remark) = remark {
            let description = match node.get("description").and_then(Form::as_str) {
                Some(description) if !description.is_empty() => format!("{description} {remark}"),
                _ => remark,
            };
            node.set("description", Form::Made(description.into()));
        }
        let is_open = !node.has_any(&COMPOSITIONS) && !node.has("type");
        if is_open && node.has("description") {
            // Of a value without a type, Codex drops the description.
            node.set("anyOf", Form::Made(json!([{}])));
        }
        complete(&mut node);
        Form::Object(node)
    }

    /// What Codex keeps of a schema, and a remark on the rest.
    fn read<'a>(
        &mut self,
        schema: &'a Map<String, Value>,
        place: Place,
    ) -> (Node<'a>, Option<String>) {
        let mut node = Node::with_room_for(schema.len());
        let mut lost = Vec::new();
        for (keyword, value) in schema {
            match self.keep(keyword, value, place) {
                Kept::As(value) => node.set(keyword, value),
                Kept::Nothing => {}
                Kept::Lost => lost.push((keyword, value)),
            }
        }
        if let Some(value) = schema.get("const") {
            node.set("enum", Form::List(vec![Form::Given(value)]));
        }
        if !node.has_any(&COMPOSITIONS)
            && !node.has("type")
            && let Some(r#type) = inferred_type(&node)
        {
            node.set("type", Form::Made(r#type));
        }
        (node, self.remark(lost))
    }

    fn keep<'a>(&mut self, keyword: &str, value: &'a Value, place: Place) -> Kept<'a> {
        match (keyword, value) {
            // Elsewhere, null is no value but the absence of one.
            (_, Value::Null) if !["default", "const"].contains(&keyword) => Kept::Nothing,
            ("description" | "$ref", Value::String(_))
            | ("additionalProperties", Value::Bool(_)) => Kept::As(Form::Given(value)),
            ("enum", Value::Array(values)) if !values.is_empty() => Kept::As(Form::Given(value)),
            ("minItems", _) if value.is_u64() => Kept::As(Form::Given(value)),
            ("required", Value::Array(names)) if names.iter().all(Value::is_string) => {
                Kept::As(Form::Given(value))
            }
            ("type", _) => known_type(value).map_or(Kept::Lost, |one| Kept::As(Form::Given(one))),
            ("items" | "additionalProperties", Value::Object(_)) | ("items", Value::Bool(true)) => {
                Kept::As(self.translate(value))
            }
            ("anyOf" | "oneOf" | "allOf", Value::Array(schemas)) if !schemas.is_empty() => {
                Kept::As(Form::List(schemas.iter().map(|schema| self.translate(schema)).collect()))
            }
            ("properties", Value::Object(schemas)) => Kept::As(self.translate_all(schemas)),
            (_, Value::Object(schemas))
                if place == Place::Root && DEFINITIONS.contains(&keyword) =>
            {
                Kept::As(self.translate_all(schemas))
            }
            // In place of an enumeration.
            ("const", _) => Kept::Nothing,
            _ if MEANINGLESS.contains(&keyword) => Kept::Nothing,
            _ => Kept::Lost,
        }
    }

    fn translate_all<'a>(&mut self, schemas: &'a Map<String, Value>) -> Form<'a> {
        let translated =
            schemas.iter().map(|(name, schema)| (name.as_str(), self.translate(schema)));
        Form::Object(translated.collect())
    }

    /// In a fixed order, so that equal schemas are told in equal words.
    fn remark(&mut self, mut lost: Vec<(&String, &Value)>) -> Option<String> {
        if lost.is_empty() {
            return None;
        }
        lost.sort_unstable_by_key(|(keyword, _)| *keyword);
        let said = lost.iter().map(|(keyword, value)| format!("{keyword}: {value}"));
        let said = said.collect::<Vec<_>>().join("; ");
        let defines = |(keyword, _): &(&String, _)| DEFINITIONS.contains(&keyword.as_str());
        self.has_lost_reference |= said.contains(r#""$ref":"#) || lost.iter().any(defines);
        Some(format!("({said})"))
    }
}

/// A type, or a list of types, that Codex knows.
fn known_type(value: &Value) -> Option<&Value> {
    let is_known = |value: &Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
    match value {
        Value::Array(types) if types.iter().all(is_known) => match types.as_slice() {
            [] => None,
            [one] => Some(one),
            _ => Some(value),
        },
        one => is_known(one).then_some(one),
    }
}

/// The type that the other keywords imply; Codex would take a string.
fn inferred_type(node: &Node<'_>) -> Option<Value> {
    if let Some(values) = node.get("enum") {
        let mut types: Vec<_> = values.elements().map(type_of).collect();
        types.sort_unstable();
        types.dedup();
        return known_type(&json!(types)).cloned();
    }
    if node.has_any(&["properties", "required", "additionalProperties"]) {
        return Some("object".into());
    }
    node.has_any(&["items", "minItems"]).then(|| "array".into())
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Codex would add the same properties, and strings as the items.
fn complete(node: &mut Node<'_>) {
    for (r#type, keyword) in [("object", "properties"), ("array", "items")] {
        if may_be(node, r#type) && !node.has(keyword) {
            node.set(keyword, Form::Object(Node::default()));
        }
    }
}

/// Whether the types of a schema include this one.
fn may_be(node: &Node<'_>, name: &str) -> bool {
    let is_it = |r#type: &Value| r#type == name;
    node.get("type").is_some_and(|one| one.as_str() == Some(name) || one.elements().any(is_it))
}

#[cfg(test)]
mod tests;
