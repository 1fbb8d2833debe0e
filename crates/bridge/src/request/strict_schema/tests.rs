use serde_json::{Value, json};

use super::is_strict;

fn closed(properties: &Value) -> Value {
    let names: Vec<_> = properties.as_object().expect("properties").keys().collect();
    json!({
        "type": "object", "properties": properties, "required": names, "additionalProperties": false,
    })
}

#[test]
fn every_object_must_be_closed_and_whole() {
    let open = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let mut optional = closed(&json!({"a": {"type": "string"}, "b": {"type": "string"}}));
    optional["required"] = json!(["a"]);
    let mut defining = closed(&json!({"a": {"$ref": "#/$defs/A"}}));
    defining["$defs"] = json!({"A": open});
    let cases = [
        (closed(&json!({})), true),
        (closed(&json!({"a": {"type": "string", "minLength": 1}})), true),
        (closed(&json!({"a": {"anyOf": [closed(&json!({})), {"type": "null"}]}})), true),
        (closed(&json!({"a": {"type": "array", "items": closed(&json!({}))}})), true),
        (json!({}), false),
        (json!({"anyOf": [closed(&json!({}))]}), false),
        (open.clone(), false),
        (optional, false),
        (defining, false),
        (closed(&json!({"a": open})), false),
        (closed(&json!({"a": true})), false),
        (closed(&json!({"a": {"type": "array", "items": open}})), false),
        (closed(&json!({"a": {"anyOf": [open]}})), false),
        (closed(&json!({"a": {"allOf": [{"type": "string"}]}})), false),
    ];
    for (schema, expected) in cases {
        assert_eq!(is_strict(schema.as_object().expect("an object")), expected, "{schema}");
    }
}
