//! JSON schemas without what was said: their keywords, their types, and the names of parameters.

use serde_json::Value;

use super::json::JsonMask;

/// The types that JSON Schema has.
const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "array", "object", "null"];

/// Keywords that hold a schema, or several in a row.
const SCHEMAS: [&str; 16] = [
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "contentSchema",
];

/// Keywords that hold schemas by name.
const NAMED_SCHEMAS: [&str; 5] =
    ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];

/// Keywords that hold values; of those nothing stays but their kind.
#[rustfmt::skip]
const VALUES: [&str; 34] = [
    "$id", "$schema", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor", "$vocabulary", "$comment", "title",
    "description", "default", "deprecated", "readOnly", "writeOnly", "examples", "enum", "const", "required",
    "dependentRequired", "format", "pattern", "minLength", "maxLength", "minimum", "maximum",
    "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "uniqueItems",
    "minProperties", "maxProperties", "contentEncoding",
];

// === impl JsonMask ===

impl JsonMask {
    /// Masks a schema.
    pub(super) fn schema(&mut self, schema: &mut Value) {
        let Value::Object(members) = schema else { return self.opaque(schema) };
        for (keyword, mut value) in std::mem::take(members) {
            match keyword.as_str() {
                "type" => self.types(&mut value),
                known if SCHEMAS.contains(&known) => match &mut value {
                    Value::Array(schemas) => schemas.iter_mut().for_each(|one| self.schema(one)),
                    schema => self.schema(schema),
                },
                known if NAMED_SCHEMAS.contains(&known) => self.named_schemas(&mut value),
                known => {
                    let is_known = VALUES.contains(&known);
                    self.opaque(&mut value);
                    if !is_known {
                        self.insert_masked(members, &keyword, value);
                        continue;
                    }
                }
            }
            members.insert(keyword, value);
        }
    }

    fn types(&mut self, value: &mut Value) {
        let is_type = |value: &Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
        match value {
            Value::Array(types) => {
                types.iter_mut().filter(|one| !is_type(one)).for_each(|one| self.opaque(one));
            }
            one if is_type(one) => {}
            other => self.opaque(other),
        }
    }

    fn named_schemas(&mut self, value: &mut Value) {
        let Value::Object(schemas) = value else { return self.opaque(value) };
        for (name, mut schema) in std::mem::take(schemas) {
            self.schema(&mut schema);
            // The names of parameters stay by themselves.
            self.insert_masked(schemas, &name, schema);
        }
    }
}

/// Adds the names of all parameters in a schema.
pub(super) fn add_properties(schema: &Value, names: &mut Vec<String>) {
    let Value::Object(members) = schema else { return };
    for (keyword, value) in members {
        match (keyword.as_str(), value) {
            (known, Value::Object(schemas)) if NAMED_SCHEMAS.contains(&known) => {
                if known == "properties" {
                    names.extend(schemas.keys().cloned());
                }
                for schema in schemas.values() {
                    add_properties(schema, names);
                }
            }
            (known, Value::Array(schemas)) if SCHEMAS.contains(&known) => {
                for schema in schemas {
                    add_properties(schema, names);
                }
            }
            (known, schema) if SCHEMAS.contains(&known) => add_properties(schema, names),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
