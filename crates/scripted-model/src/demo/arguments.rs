//! Arguments that satisfy a tool's JSON schema and have something to do with the question.

use serde_json::{Map, Value, json};

use super::words::{proper_name, shortened, words};

const DEEPEST: usize = 5;
const MOST_OPTIONAL: usize = 3;
const LONGEST_OTHER_TEXT: usize = 80;

const PLACES: [&str; 11] = [
    "city",
    "location",
    "place",
    "town",
    "country",
    "region",
    "destination",
    "origin",
    "address",
    "where",
    "capital",
];
const WORDINGS: [&str; 11] = [
    "query",
    "q",
    "text",
    "question",
    "content",
    "prompt",
    "message",
    "input",
    "search",
    "body",
    "description",
];

/// Arguments for a call of a function with these parameters.
pub(super) fn invented(parameters: &Value, asked: &str) -> Value {
    let inventor = Inventor { root: parameters, asked: asked.trim() };
    match inventor.value("", parameters, 0) {
        object @ Value::Object(_) => object,
        _ => json!({}),
    }
}

struct Inventor<'a> {
    root: &'a Value,
    asked: &'a str,
}

impl Inventor<'_> {
    fn value(&self, name: &str, schema: &Value, depth: usize) -> Value {
        let first_choice = schema.get("enum").and_then(|values| values.get(0));
        if let Some(fixed) = schema.get("const").or(first_choice) {
            return fixed.clone();
        }
        if let Some(inner) = self.indirection(schema) {
            return if depth < DEEPEST { self.value(name, inner, depth + 1) } else { Value::Null };
        }
        match kind(schema) {
            "object" if depth < DEEPEST => self.object(schema, depth),
            "object" => json!({}),
            "array" if depth < DEEPEST => {
                json!([self.value(name, schema.get("items").unwrap_or(&Value::Null), depth + 1)])
            }
            "array" => json!([]),
            "integer" | "number" => smallest(schema),
            "boolean" => json!(true),
            "null" => Value::Null,
            _ => self.text(name).into(),
        }
    }

    fn object(&self, schema: &Value, depth: usize) -> Value {
        let properties = schema.get("properties").and_then(Value::as_object);
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let chosen = if required.is_empty() {
            properties
                .into_iter()
                .flat_map(Map::keys)
                .map(String::as_str)
                .take(MOST_OPTIONAL)
                .collect()
        } else {
            required
        };
        let invent = |name: &str| {
            let schema = properties.and_then(|properties| properties.get(name));
            (name.to_owned(), self.value(name, schema.unwrap_or(&Value::Null), depth + 1))
        };
        Value::Object(chosen.into_iter().map(invent).collect())
    }

    /// The schema that this one only points at.
    fn indirection<'s>(&'s self, schema: &'s Value) -> Option<&'s Value> {
        if let Some(pointer) = schema.get("$ref").and_then(Value::as_str) {
            return self.root.pointer(pointer.strip_prefix('#')?);
        }
        ["anyOf", "oneOf", "allOf"]
            .into_iter()
            .filter_map(|choice| schema.get(choice).and_then(Value::as_array))
            .find_map(|choices| choices.iter().find(|choice| kind(choice) != "null"))
    }

    fn text(&self, name: &str) -> String {
        let words = words(name);
        let is_one_of = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
        let place = if is_one_of(&PLACES) { proper_name(self.asked) } else { None };
        match place {
            Some(place) => place,
            None if is_one_of(&WORDINGS) => self.asked.to_owned(),
            None => shortened(self.asked, LONGEST_OTHER_TEXT),
        }
    }
}

/// The type of a schema, leaving out that it may be null.
pub(crate) fn kind(schema: &Value) -> &str {
    let named = match schema.get("type") {
        Some(Value::String(name)) => Some(name.as_str()),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).find(|name| *name != "null")
        }
        _ => None,
    };
    named.unwrap_or(if schema.get("properties").is_some() { "object" } else { "string" })
}

fn smallest(schema: &Value) -> Value {
    let above = |limit: &Value| limit.as_i64().and_then(|limit| limit.checked_add(1));
    schema
        .get("minimum")
        .cloned()
        .or_else(|| schema.get("exclusiveMinimum").and_then(above).map(Value::from))
        .unwrap_or_else(|| json!(1))
}
