//! Every constraint of a tool's schema reaches the model: in the schema, or else in a description.

use bridge::TurnSettings;
use model_turn::{Tool, ToolInput, TurnEnd};
use serde_json::{Value, json};
use testkit::TestCodex;

use crate::chat_requests::turn_of;
use crate::request_body::tools_seen;

/// One that is spoken to with `tools`, and one that has them inside its input.
const MODELS: [&str; 2] = ["gpt-5.5", "gpt-6.1-sol"];

/// Keywords with a value, and what stands beside them.
fn constraints() -> Vec<(&'static str, Value, Value)> {
    let string = || json!({"type": "string"});
    let integer = || json!({"type": "integer"});
    let array = || json!({"type": "array", "items": {"type": "string"}});
    let object = || json!({"type": "object", "properties": {"a": {"type": "string"}}});
    vec![
        ("type", json!("null"), json!({})),
        ("type", json!(["string", "null"]), json!({})),
        ("type", json!("date"), json!({})),
        ("type", json!(["string", "date"]), json!({})),
        ("type", json!([]), json!({})),
        ("title", json!("Title"), string()),
        ("description", json!("A description"), string()),
        ("description", json!("Of anything"), json!({})),
        ("description", json!(5), string()),
        ("default", json!(3), integer()),
        ("default", json!(3), json!({})),
        ("default", json!(null), string()),
        ("examples", json!(["e"]), string()),
        ("enum", json!(["a", "b"]), string()),
        ("enum", json!([1, 2]), json!({})),
        ("enum", json!([1, 2.5, "a", null, true]), json!({})),
        ("enum", json!([]), string()),
        ("enum", json!("a"), string()),
        ("enum", json!(["a"]), json!({"anyOf": [{"type": "string"}]})),
        ("minimum", json!(1), integer()),
        ("minimum", json!(1), json!({})),
        ("maximum", json!(5.5), integer()),
        ("exclusiveMinimum", json!(1), integer()),
        ("exclusiveMaximum", json!(9), integer()),
        ("multipleOf", json!(2), integer()),
        ("minLength", json!(1), string()),
        ("maxLength", json!(5), string()),
        ("pattern", json!("^\"a\\d"), string()),
        ("format", json!("date-time"), string()),
        ("format", json!("date-time"), json!({})),
        ("contentEncoding", json!("base64"), string()),
        ("contentMediaType", json!("text/plain"), string()),
        ("contentSchema", json!({"type": "string"}), string()),
        ("items", json!({}), json!({"type": "array"})),
        ("items", json!({"type": "integer"}), json!({})),
        ("items", json!(false), json!({"type": "array"})),
        ("items", json!([{"type": "integer"}]), json!({"type": "array"})),
        ("prefixItems", json!([{"type": "string"}, {"type": "integer"}]), json!({"type": "array"})),
        ("prefixItems", json!([{"type": "string"}]), json!({})),
        ("minItems", json!(1), array()),
        ("minItems", json!(1), json!({})),
        ("minItems", json!(1.0), array()),
        ("minItems", json!(-1), array()),
        ("maxItems", json!(5), array()),
        ("uniqueItems", json!(true), array()),
        ("contains", json!({"const": "z"}), array()),
        ("minContains", json!(1), array()),
        ("maxContains", json!(2), array()),
        ("additionalItems", json!(false), array()),
        ("unevaluatedItems", json!(false), array()),
        ("properties", json!({"a": {"type": "string"}}), json!({})),
        ("properties", json!([]), json!({"type": "object"})),
        ("required", json!(["a"]), object()),
        ("required", json!(["a"]), json!({})),
        ("required", json!(true), string()),
        ("additionalProperties", json!(false), object()),
        ("additionalProperties", json!({"type": "string"}), json!({})),
        ("additionalProperties", json!("no"), object()),
        ("unevaluatedProperties", json!(false), object()),
        ("patternProperties", json!({"^a": {"type": "integer"}}), object()),
        ("propertyNames", json!({"pattern": "^a"}), object()),
        ("minProperties", json!(1), object()),
        ("maxProperties", json!(3), object()),
        ("dependentRequired", json!({"a": ["b"]}), object()),
        ("dependentSchemas", json!({"a": {"required": ["b"]}}), object()),
        ("dependencies", json!({"a": ["b"]}), object()),
        ("anyOf", json!([{"type": "string"}, {"type": "integer"}]), json!({})),
        ("oneOf", json!([{"type": "string"}, {"type": "integer"}]), json!({"description": "d"})),
        ("allOf", json!([{"type": "string"}]), json!({"default": "a"})),
        ("anyOf", json!([]), string()),
        ("anyOf", json!({}), string()),
        ("not", json!({"const": "n"}), string()),
        ("not", json!({"const": "n"}), json!({})),
        ("if", json!({"const": "n"}), string()),
        ("then", json!({"minLength": 2}), string()),
        ("else", json!({"minLength": 3}), string()),
        ("$ref", json!("#/properties/other"), json!({})),
        ("$ref", json!("#/properties/other"), json!({"default": 3})),
        ("$ref", json!(5), json!({})),
        ("$anchor", json!("here"), string()),
        ("nullable", json!(true), string()),
        ("deprecated", json!(true), string()),
        ("readOnly", json!(true), string()),
        ("writeOnly", json!(true), string()),
        ("discriminator", json!({"propertyName": "a"}), object()),
        ("x-of-our-own", json!({"a": [1]}), string()),
    ]
}

/// Schemas below a keyword, which have the same constraints as any other.
fn nested() -> Vec<Value> {
    let least = || json!({"type": "integer", "minimum": 1});
    vec![
        json!({"type": "array", "items": least()}),
        json!({"type": "object", "properties": {"a": {"type": "array", "items": least()}}}),
        json!({"type": "object", "additionalProperties": least()}),
        json!({"anyOf": [least(), {"type": "null"}]}),
        json!({"oneOf": [least(), true]}),
        json!({"allOf": [{"required": ["a"]}, least(), {"description": "d"}]}),
        json!({"type": ["object", "array", "null"], "minimum": 1}),
    ]
}

fn with_property(schema: &Value) -> Value {
    json!({"type": "object", "properties": {"value": schema, "other": {"type": "string"}}})
}

/// A request with a tool for each schema.
fn declaring(model: &str, schemas: &[Value]) -> Value {
    let tools: Vec<_> = schemas
        .iter()
        .enumerate()
        .map(|(index, schema)| {
            let name = format!("tool_{index}");
            json!({"type": "function", "function": {"name": name, "parameters": schema}})
        })
        .collect();
    json!({
        "model": model,
        "messages": [{"role": "user", "content": "[[text]]Hello"}],
        "tools": tools,
    })
}

/// A tool, whose schema is the same in any order.
#[derive(Debug, PartialEq)]
struct Told {
    name: String,
    description: String,
    parameters: Value,
}

fn told(tool: Tool) -> Told {
    let ToolInput::Json(parameters) = &tool.input else { panic!("{tool:?}") };
    let parameters = serde_json::from_str(parameters.get()).expect("JSON");
    Told { name: tool.name.name, description: tool.description, parameters }
}

/// The tools as the model sees them, by the side of those that were prepared.
async fn prepared_and_seen(codex: &TestCodex, model: &str, schemas: &[Value]) -> Vec<(Told, Told)> {
    let turn = turn_of(codex, &declaring(model, schemas), &TurnSettings::default());
    let outcome = codex.run(turn.clone()).await;
    assert_eq!(outcome.end, Ok(TurnEnd::Completed));
    let seen = tools_seen(&codex.model.last_request().expect("a request").body);
    assert_eq!(seen.len(), schemas.len());
    let seen = seen.iter().map(|tool| Told {
        name: tool["name"].as_str().expect("a name").to_owned(),
        description: tool["description"].as_str().expect("a description").to_owned(),
        parameters: tool["parameters"].clone(),
    });
    turn.tools.into_iter().map(told).zip(seen).collect()
}

/// Whether a schema has a keyword with that value, or a description says so.
fn tells(schema: &Value, keyword: &str, value: &Value) -> bool {
    let remark = format!("{keyword}: {value}");
    match schema {
        Value::Object(members) => members.iter().any(|(name, member)| {
            (name == keyword && member == value)
                || (name == "description" && member.as_str().is_some_and(|it| it.contains(&remark)))
                || tells(member, keyword, value)
        }),
        Value::Array(values) => values.iter().any(|member| tells(member, keyword, value)),
        _ => false,
    }
}

#[tokio::test]
async fn every_constraint_reaches_the_model() {
    let codex = TestCodex::start().await;
    let constraints = constraints();
    let schemas: Vec<_> = constraints
        .iter()
        .map(|(keyword, value, beside)| {
            let mut schema = beside.clone();
            schema[keyword] = value.clone();
            with_property(&schema)
        })
        .collect();
    for model in MODELS {
        let tools = prepared_and_seen(&codex, model, &schemas).await;
        for ((prepared, seen), (keyword, value, _)) in tools.iter().zip(&constraints) {
            assert_eq!(seen, prepared, "{model}: {keyword}: {value}");
            let property = &seen.parameters["properties"]["value"];
            assert!(tells(property, keyword, value), "{model}: {keyword}: {value}: {property}");
        }
    }
    codex.client.shutdown().await;
}

#[tokio::test]
async fn constraints_below_other_keywords_reach_the_model() {
    let codex = TestCodex::start().await;
    let schemas: Vec<_> = nested().iter().map(with_property).collect();
    for model in MODELS {
        for (prepared, seen) in prepared_and_seen(&codex, model, &schemas).await {
            assert_eq!(seen, prepared, "{model}");
            assert!(tells(&seen.parameters, "minimum", &json!(1)), "{model}: {}", seen.parameters);
        }
    }
    codex.client.shutdown().await;
}

#[tokio::test]
async fn constants_and_definitions_reach_the_model() {
    let codex = TestCodex::start().await;
    let definitions = |name: &str| {
        json!({
            "type": "object",
            "properties": {"node": {"$ref": format!("#/{name}/Node")}},
            name: {"Node": {
                "type": "object",
                "properties": {
                    "weight": {"type": "integer", "description": "In grams", "minimum": 1},
                    "next": {"$ref": format!("#/{name}/Node")},
                    "kind": {"const": 7},
                    "any": true,
                },
            }},
        })
    };
    let node = json!({
        "type": "object",
        "properties": {
            "weight": {"type": "integer", "description": "In grams (minimum: 1)"},
            "next": {"$ref": "#/$defs/Node"},
            "kind": {"type": "integer", "enum": [7]},
            "any": {},
        },
    });
    let expected = json!({
        "type": "object",
        "properties": {"node": {"$ref": "#/$defs/Node"}},
        "$defs": {"Node": node},
    });
    let schemas = [definitions("$defs"), definitions("definitions")];
    for model in MODELS {
        let tools = prepared_and_seen(&codex, model, &schemas).await;
        for (prepared, seen) in &tools {
            assert_eq!(seen, prepared, "{model}");
        }
        assert_eq!(tools[0].1.parameters, expected, "{model}");
    }
    codex.client.shutdown().await;
}

/// A schema of that many bytes.
fn of_length(bytes: usize) -> Value {
    let described = |text: String| {
        json!({
            "type": "object",
            "properties": {"value": {"type": "string", "description": text}},
        })
    };
    let rest = described(String::new()).to_string().len();
    described("d".repeat(bytes - rest))
}

#[tokio::test]
async fn a_schema_that_codex_cuts_is_in_the_description_of_its_tool() {
    let codex = TestCodex::start().await;
    let schemas = [of_length(5_000), of_length(5_001)];
    for model in MODELS {
        let tools = prepared_and_seen(&codex, model, &schemas).await;
        let [(whole, whole_seen), (long, long_seen)] = tools.as_slice() else {
            panic!("two tools, not {}", tools.len());
        };
        assert_eq!(whole_seen, whole, "{model}");
        assert_eq!(whole_seen.description, "", "{model}");
        // What Codex leaves of it.
        assert_eq!(
            long_seen.parameters,
            json!({"type": "object", "properties": {"value": {"type": "string"}}}),
            "{model}"
        );
        let said = format!("The parameters follow this JSON schema: {}", schemas[1]);
        assert_eq!((&long_seen.description, &long.description), (&said, &said), "{model}");
    }
    codex.client.shutdown().await;
}
