//! Whether an upstream can hold its answer to a schema.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// Keywords that no strict schema may have.
const NOT_STRICT: [&str; 10] = [
    "allOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "patternProperties",
    "propertyNames",
];

/// Whether a schema keeps the rules of OpenAI's strict mode: every object names all its properties as
/// required and allows no others.
pub(super) fn is_strict(schema: &Map<String, Value>) -> bool {
    schema.get("type").is_some_and(|r#type| r#type == "object") && is_strict_node(schema)
}

fn is_strict_node(node: &Map<String, Value>) -> bool {
    if NOT_STRICT.iter().any(|keyword| node.contains_key(*keyword)) {
        return false;
    }
    let named = |keyword: &str| node.get(keyword).and_then(Value::as_object).into_iter().flatten();
    let properties = named("properties");
    let is_object = node.contains_key("properties")
        || node.get("type").is_some_and(|r#type| r#type == "object");
    if is_object {
        let is_closed = node.get("additionalProperties") == Some(&Value::Bool(false));
        let required = node.get("required").and_then(Value::as_array).into_iter().flatten();
        let required: HashSet<_> = required.filter_map(Value::as_str).collect();
        if !is_closed || !properties.clone().all(|(name, _)| required.contains(name.as_str())) {
            return false;
        }
    }
    let named = properties.chain(named("$defs")).chain(named("definitions")).map(|(_, node)| node);
    let listed = node.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    let nodes = named.chain(listed).chain(node.get("items"));
    nodes.into_iter().all(|node| node.as_object().is_some_and(is_strict_node))
}

#[cfg(test)]
mod tests;
