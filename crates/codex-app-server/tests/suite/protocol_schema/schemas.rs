//! The schema that the installed Codex generates, and what it says about a message or a type.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use jsonschema::Validator;
use serde::de::value::Error;
use serde::de::{Deserialize, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Value;
use tempfile::TempDir;
use testkit::codex_binary;
use tokio::process::Command;
/// The schema of the installed Codex, a file for each type.
pub(super) struct Schemas {
    folder: TempDir,
    /// The two large files, read when they are needed.
    requests: OnceLock<Value>,
    types: OnceLock<Value>,
}

/// A struct or an enum of ours: its name, and its fields or variants as they are on the wire.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) name: &'static str,
    pub(super) fields: &'static [&'static str],
}

/// Says which fields a type asks for, and gives none.
struct Asked<'a>(&'a mut Option<Read>);

// === impl Schemas ===

impl Schemas {
    pub(super) async fn generate() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let home = tempfile::tempdir().expect("a temporary folder");
        let output = Command::new(codex_binary().await.path())
            .args(["app-server", "generate-json-schema", "--experimental"])
            .arg("--out")
            .arg(folder.path())
            .env("CODEX_HOME", home.path())
            .output()
            .await
            .expect("Codex runs");
        assert!(output.status.success(), "{output:?}");
        Self { folder, requests: OnceLock::new(), types: OnceLock::new() }
    }

    pub(super) fn file(&self, name: &str) -> Value {
        let path = self.folder.path().join(format!("{name}.json"));
        let text = std::fs::read(&path).unwrap_or_else(|error| panic!("no {name}.json: {error}"));
        serde_json::from_slice(&text).expect("a schema is JSON")
    }

    /// The schema of a type, with everything that it refers to.
    pub(super) fn of(&self, name: &str) -> Value {
        let types = || self.file("codex_app_server_protocol.v2.schemas");
        let types = self.types.get_or_init(types);
        match types["definitions"].get(name) {
            Some(schema) => with_definitions(schema.clone(), types),
            None if self.folder.path().join(format!("v1/{name}.json")).exists() => {
                self.file(&format!("v1/{name}"))
            }
            None => self.file(name),
        }
    }

    /// What is wrong with a message of ours.
    pub(super) fn faults(&self, message: &Value) -> Vec<String> {
        let requests = || self.requests.get_or_init(|| self.file("ClientRequest"));
        let schema = match (message.get("method"), message.get("id")) {
            (Some(_), Some(_)) => variant(requests(), "method", message),
            (Some(_), None) => variant(&self.file("ClientNotification"), "method", message),
            (None, _) => Some(self.file("JSONRPCError")),
        };
        faults(schema, message)
    }

    /// What is wrong with an item of a history, which the schema of the requests leaves open.
    pub(super) fn faults_of_item(&self, item: &Value) -> Vec<String> {
        faults(variant(&self.of("ResponseItem"), "type", item), item)
    }

    /// The methods in one of the lists of requests or notifications.
    pub(super) fn methods(&self, list: &str) -> BTreeSet<String> {
        variants(&self.file(list)).filter_map(|variant| tag(variant, "method")).collect()
    }
}

// === impl Asked ===

impl<'de> Deserializer<'de> for Asked<'_> {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        *self.0 = Some(Read { name, fields });
        Err(Error::custom("nothing to read"))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_struct(name, variants, visitor)
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("neither a struct nor an enum"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map identifier ignored_any
    }
}

pub(super) fn read_by<'de, T: Deserialize<'de>>() -> Read {
    let mut read = None;
    let nothing = T::deserialize(Asked(&mut read));
    assert!(nothing.is_err());
    read.expect("a struct or an enum")
}

fn with_definitions(mut schema: Value, whole: &Value) -> Value {
    for key in ["$schema", "definitions"] {
        if let Some(value) = whole.get(key) {
            schema[key] = value.clone();
        }
    }
    schema
}

pub(super) fn variants(schema: &Value) -> impl Iterator<Item = &Value> {
    schema["oneOf"].as_array().expect("a list of variants").iter()
}

pub(super) fn tag(variant: &Value, name: &str) -> Option<String> {
    let tag = variant["properties"][name]["enum"][0].as_str()?;
    Some(tag.to_owned())
}

/// The schema of the variant that a message says it is.
fn variant(schema: &Value, name: &str, message: &Value) -> Option<Value> {
    variants(schema)
        .find(|variant| tag(variant, name).as_deref() == message[name].as_str())
        .map(|variant| with_definitions(variant.clone(), schema))
}

pub(super) fn faults(schema: Option<Value>, message: &Value) -> Vec<String> {
    let Some(schema) = schema else {
        return vec![format!("no such variant: {message}")];
    };
    strict(schema)
        .iter_errors(message)
        .map(|error| format!("{} at {:?}", error, error.instance_path().to_string()))
        .collect()
}

fn strict(mut schema: Value) -> Validator {
    forbid_unknown_fields(&mut schema);
    jsonschema::validator_for(&schema).expect("a valid schema")
}

/// The generated schema lets any further field pass, as Codex itself does.
fn forbid_unknown_fields(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            let common = object
                .get("properties")
                .and_then(Value::as_object)
                .cloned()
                .filter(|_| !object.contains_key("additionalProperties"));
            match (common, object.get_mut("anyOf").and_then(Value::as_array_mut)) {
                // Every alternative would reject the fields that stand beside the alternatives.
                (Some(common), Some(alternatives)) => {
                    for alternative in alternatives {
                        let own = alternative["properties"].as_object_mut();
                        own.expect("an alternative of fields").extend(common.clone());
                    }
                }
                (Some(_), None) => {
                    object.insert("additionalProperties".to_owned(), false.into());
                }
                (None, _) => {}
            }
            object.values_mut().for_each(forbid_unknown_fields);
        }
        Value::Array(array) => array.iter_mut().for_each(forbid_unknown_fields),
        _ => {}
    }
}

/// Names of all properties of a type; of a type with variants, those of any of them.
pub(super) fn properties(schema: &Value) -> BTreeSet<&str> {
    let alternatives =
        ["oneOf", "anyOf"].into_iter().filter_map(|key| schema[key].as_array()).flatten();
    let own = schema["properties"].as_object();
    own.into_iter()
        .flat_map(|own| own.keys().map(String::as_str))
        .chain(alternatives.flat_map(properties))
        .collect()
}
