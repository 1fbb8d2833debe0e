use serde_json::json;

use super::*;
use crate::mask::Keys;

fn masked(mut schema: Value, names: &[&str]) -> Value {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    let keys = Keys::new(b"a key for tests.");
    JsonMask::new(keys, std::sync::Arc::new(names)).schema(&mut schema);
    schema
}

#[test]
fn keywords_types_and_parameters_stay() {
    let schema = json!({
        "type": "object", "required": ["city"], "additionalProperties": false,
        "properties": {"city": {"type": ["string", "null"]}, "days": {"anyOf": [{"type": "integer"}]}},
    });
    assert_eq!(masked(schema.clone(), &["city", "days"]), schema);
}

#[test]
fn everything_else_is_masked() {
    let schema = json!({
        "$schema": "https://secretive.example", "$ref": "#/$defs/secretive", "type": "secretive",
        "$defs": {"secretive": {"format": "secretive", "type": ["secretive", {"secretive": 1}]}},
        "x-secretive": "secretive", "examples": ["secretive", {"properties": {"secretive": 7}}],
        "properties": {"city": {"pattern": "secretive", "minimum": 4_711_471_147_u64}},
        "items": "secretive", "enum": ["secretive", 4_711_471_147_u64],
        "patternProperties": {"^secretive": {"title": "secretive"}},
        "response": {"properties": {"secretive": {}}},
    });
    let mut names = Vec::new();
    add_properties(&schema, &mut names);
    assert_eq!(names, ["city"]);
    let masked = masked(schema, &["city"]);
    let text = masked.to_string();
    for word in ["secretive", "4711471147"] {
        assert!(!text.contains(word), "{word} in {text}");
    }
    assert!(masked["properties"]["city"]["minimum"].is_number(), "{text}");
    assert!(masked["$defs"].as_object().unwrap().values().all(|one| one["format"].is_string()));
}

/// As in a format that is asked for, whose members are no parameters.
#[test]
fn a_property_that_is_no_parameter_is_masked() {
    let masked = masked(json!({"properties": {"patient": {"type": "string"}}}), &[]);
    let properties = masked["properties"].as_object().unwrap();
    assert_eq!(properties.values().collect::<Vec<_>>(), [&json!({"type": "string"})]);
    assert!(!properties.contains_key("patient"));
}
