//! Arguments from the fields of a block.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;

use super::canon::{Argument, ParameterKind, arrange, declared};
use crate::json_members::{json_string, json_value, object_text};

/// The arguments of a call, as a compact JSON object, from the fields of a block.
///
/// For a [known tool](super::canon()) the canon's parameters come first, in its order, then the other
/// fields in theirs; any other tool has all of them in their order. Of fields with the same name the last
/// value counts, in the place of the first. White space around a value is dropped.
///
/// Everything in a block is text. A value is JSON, and then stands in the object as it is, only if it is
/// valid and its type is not string: by the `properties` of `schema` (the tool's own JSON schema, as the
/// request declared it) or else by the canon. Where the type admits strings beside others, or is not
/// known, only arrays and objects are JSON. Everything else is a string.
///
/// ```
/// use serde_json::json;
/// use tool_call_aggregator::obsidian::canonical_json_from_fields;
///
/// let fields = [("chunkIndex", " 3 "), ("path", "2024")];
/// assert_eq!(
///     canonical_json_from_fields("readNote", &fields, None),
///     r#"{"notePath":"2024","chunkIndex":3}"#
/// );
///
/// let schema = json!({"properties": {"id": {"type": "integer"}}});
/// let fields = [("id", "42"), ("code", "42"), ("tags", "[ 1 ]")];
/// assert_eq!(
///     canonical_json_from_fields("get_user", &fields, Some(&schema)),
///     r#"{"id":42,"code":"42","tags":[ 1 ]}"#
/// );
/// ```
pub fn canonical_json_from_fields<K: AsRef<str>, V: AsRef<str>>(
    tool: &str,
    fields: &[(K, V)],
    schema: Option<&Value>,
) -> String {
    let fields = last_of_each(fields);
    let arguments = arrange(tool, &fields, schema);
    object_text(
        arguments.iter().map(|argument| {
            (argument.name, Reading::of(argument, schema).json(argument.value.trim()))
        }),
    )
}

fn last_of_each<K: AsRef<str>, V: AsRef<str>>(fields: &[(K, V)]) -> Vec<(&str, &str)> {
    let mut last: Vec<(&str, &str)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (name, value) in fields {
        let (name, value) = (name.as_ref(), value.as_ref());
        let place = *places.entry(name).or_insert(last.len());
        match last.get_mut(place) {
            Some(field) => field.1 = value,
            None => last.push((name, value)),
        }
    }
    last
}

/// How a field's text is read.
#[derive(Clone, Copy)]
enum Reading {
    /// As a string, whatever it looks like.
    Text,
    /// As JSON, if it is.
    Json,
    /// As JSON, if it is an array or an object: `2024` may be meant as text.
    Compound,
}

/// What a schema admits; `null`, which is beside the point, is neither.
#[derive(Clone, Copy, Default)]
struct Kinds {
    string: bool,
    other: bool,
}

// === impl Reading ===

impl Reading {
    fn of(argument: &Argument<'_>, schema: Option<&Value>) -> Self {
        let also = argument.parameter.map(|parameter| parameter.also).unwrap_or_default();
        let mut names = std::iter::once(argument.name).chain(also.iter().copied());
        if let Some(declared) = names.find_map(|name| declared(schema, name)) {
            return Self::of_kinds(Kinds::admitted(declared));
        }
        match argument.parameter.map(|parameter| parameter.kind) {
            None => Self::Compound,
            Some(ParameterKind::String) => Self::Text,
            Some(_) => Self::Json,
        }
    }

    fn of_kinds(kinds: Option<Kinds>) -> Self {
        match kinds {
            Some(Kinds { string: false, .. }) => Self::Json,
            Some(Kinds { string: true, other: false }) => Self::Text,
            Some(Kinds { string: true, other: true }) | None => Self::Compound,
        }
    }

    fn json(self, text: &str) -> Cow<'_, str> {
        let json = match self {
            Self::Json => json_value(text),
            Self::Compound if text.starts_with(['[', '{']) => json_value(text),
            Self::Text | Self::Compound => None,
        };
        json.map_or_else(|| Cow::Owned(json_string(text)), Cow::Borrowed)
    }
}

// === impl Kinds ===

impl Kinds {
    /// `None` if the schema does not say, or not in a way that is understood here.
    fn admitted(schema: &Value) -> Option<Self> {
        if let Some(named) = schema.get("type") {
            return match named {
                Value::Array(names) => Self::union(names, Self::named),
                name => Self::named(name),
            };
        }
        if let Some(value) = schema.get("const") {
            return Some(Self::of_value(value));
        }
        if let Some(values) = schema.get("enum") {
            return Self::union(values.as_array()?, |value| Some(Self::of_value(value)));
        }
        let branches = schema.get("anyOf").or_else(|| schema.get("oneOf"))?;
        Self::union(branches.as_array()?, Self::admitted)
    }

    fn named(name: &Value) -> Option<Self> {
        match name.as_str()? {
            "string" => Some(Self { string: true, other: false }),
            "null" => Some(Self::default()),
            "number" | "integer" | "boolean" | "array" | "object" => {
                Some(Self { string: false, other: true })
            }
            _ => None,
        }
    }

    fn of_value(value: &Value) -> Self {
        Self { string: value.is_string(), other: !value.is_string() && !value.is_null() }
    }

    /// What one or another of `parts` admits; unknown if one of them is, or if there is none.
    fn union(parts: &[Value], kinds: fn(&Value) -> Option<Self>) -> Option<Self> {
        let (first, rest) = parts.split_first()?;
        rest.iter().try_fold(kinds(first)?, |all, part| {
            let part = kinds(part)?;
            Some(Self { string: all.string || part.string, other: all.other || part.other })
        })
    }
}
