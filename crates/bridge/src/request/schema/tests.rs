//! Schemas in Codex's form; that Codex hands them on so is tested with the real one.

use serde_json::{Value, json};

use super::ToolSchema;

fn translated(schema: &Value) -> ToolSchema {
    ToolSchema::new(schema.as_object().expect("an object"))
}

fn parameters(translated: &ToolSchema) -> Value {
    serde_json::from_str(translated.parameters.get()).unwrap()
}

/// What becomes of the schema of a property.
#[track_caller]
fn property(schema: &Value) -> Value {
    let translated = translated(&json!({"type": "object", "properties": {"value": schema}}));
    assert_eq!(translated.remark, None);
    parameters(&translated)["properties"]["value"].clone()
}

#[test]
fn what_does_not_fit_is_said_in_a_fixed_order() {
    let schema = json!({
        "type": "integer", "minimum": 1, "description": "How many", "maximum": 5, "default": null,
    });
    let expected = json!({
        "type": "integer", "description": "How many (default: null; maximum: 5; minimum: 1)",
    });
    assert_eq!(property(&schema), expected);
}

#[test]
fn a_type_is_given_where_codex_would_take_a_string() {
    let cases = [
        (json!({"const": 1}), json!({"type": "integer", "enum": [1]})),
        (json!({"const": null}), json!({"type": "null", "enum": [null]})),
        (json!({"type": "number", "const": 1}), json!({"type": "number", "enum": [1]})),
        (json!({"enum": ["a", "b"], "const": "a"}), json!({"type": "string", "enum": ["a"]})),
        (
            json!({"enum": ["a", 1, 2.5, "b"]}),
            json!({"type": ["integer", "number", "string"], "enum": ["a", 1, 2.5, "b"]}),
        ),
        (json!(true), json!({})),
        (json!(null), json!({})),
        (json!(false), json!({"description": "(no value is allowed)", "anyOf": [{}]})),
        (json!("string"), json!({"description": "(\"string\")", "anyOf": [{}]})),
        (json!({"description": "Any"}), json!({"description": "Any", "anyOf": [{}]})),
        (json!({"type": ["string"]}), json!({"type": "string"})),
        (json!({"type": "array"}), json!({"type": "array", "items": {}})),
        (json!({"items": true}), json!({"type": "array", "items": {}})),
        (
            json!({"type": "array", "prefixItems": [{"type": "string"}], "items": false}),
            json!({
                "type": "array",
                "description": "(items: false; prefixItems: [{\"type\":\"string\"}])",
                "items": {},
            }),
        ),
    ];
    for (schema, expected) in cases {
        assert_eq!(property(&schema), expected, "{schema}");
    }
}

#[test]
fn parameters_are_an_object() {
    let expected = json!({"type": "object", "properties": {}});
    for schema in [json!({}), json!({"type": null}), json!({"$schema": "x", "$id": "y"})] {
        let expected = ToolSchema { parameters: expected.clone().into(), remark: None };
        assert_eq!(translated(&schema), expected, "{schema}");
    }
    let reference =
        json!({"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "properties": {}}}});
    let expected = ToolSchema { parameters: reference.clone().into(), remark: None };
    assert_eq!(translated(&reference), expected);
}

#[test]
fn a_reference_that_does_not_fit_takes_the_whole_schema_along() {
    let referring = json!({
        "type": "object",
        "properties": {"pair": {"type": "array", "prefixItems": [{"$ref": "#/$defs/A"}]}},
        "$defs": {"A": {"type": "integer"}},
    });
    let defining = json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/properties/b/$defs/A"}, "b": {"$defs": {"A": {}}}},
    });
    for schema in [referring, defining] {
        let remark = format!("The parameters follow this JSON schema: {schema}");
        assert_eq!(translated(&schema).remark, Some(remark));
    }
}
