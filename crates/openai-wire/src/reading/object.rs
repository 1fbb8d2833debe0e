//! Reading a JSON value piece by piece, with errors that name the exact place.
//!
//! By hand and not with serde: OpenAI tells a missing field, a wrong type and a bad value apart, and
//! clients see the path of what is wrong. Texts are moved out of the value, never copied.

use std::fmt;

use serde_json::{Map, Value};

use crate::ApiError;

/// Where a value stands in the request; written out only when something is wrong with it.
#[derive(Clone, Copy)]
pub(crate) enum Path<'a> {
    /// The body.
    Root,
    /// A member of an object.
    Field(&'a Path<'a>, &'a str),
    /// An element of an array.
    Item(&'a Path<'a>, usize),
}

/// A JSON object whose members are taken out one after another. `null` is the same as absent.
pub(crate) struct Object<'p> {
    /// Few, so that looking at each is cheaper than a hash.
    members: Vec<(String, Value)>,
    path: Path<'p>,
}

// === impl Path ===

impl<'a> Path<'a> {
    pub(crate) fn field(&'a self, name: &'a str) -> Self {
        Self::Field(self, name)
    }

    pub(crate) fn item(&'a self, index: usize) -> Self {
        Self::Item(self, index)
    }

    /// The field is needed and not there.
    pub(crate) fn missing(&self) -> ApiError {
        let message = format!("Missing required parameter: '{self}'.");
        ApiError::invalid(self.to_string(), message).with_code("missing_required_parameter")
    }

    /// It is there, and of another type.
    pub(crate) fn wrong_type(&self, expected: &str, found: &Value) -> ApiError {
        let found = match found {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(number) if number.is_f64() => "a decimal number",
            Value::Number(_) => "an integer",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        };
        let message = match self {
            Self::Root => format!("The body must be {expected}, but it is {found}."),
            _ => {
                format!("Invalid type for '{self}': expected {expected}, but got {found} instead.")
            }
        };
        let error = ApiError::invalid(self.to_string(), message).with_code("invalid_type");
        let param = error.param.filter(|param| !param.is_empty());
        ApiError { param, ..error }
    }

    /// It is of the right type, and not one of the values that are allowed.
    pub(crate) fn unsupported(&self, found: &str, allowed: &[&str]) -> ApiError {
        let allowed: Vec<_> = allowed.iter().map(|value| format!("'{value}'")).collect();
        let (noun, allowed) = match allowed.as_slice() {
            [one] => ("value is", one.clone()),
            many => ("values are", many.join(", ")),
        };
        self.invalid(format!(
            "Invalid value for '{self}': {}. Supported {noun}: {allowed}.",
            Excerpt(found)
        ))
    }

    /// It cannot be served, for a reason of its own.
    pub(crate) fn invalid(&self, message: impl Into<String>) -> ApiError {
        ApiError::invalid(self.to_string(), message)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Field(Self::Root, name) => f.write_str(name),
            Self::Field(parent, name) => write!(f, "{parent}.{name}"),
            Self::Item(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// A text of the client's in a message: quoted, and cut where it is long.
pub(crate) struct Excerpt<'a>(pub(crate) &'a str);

// === impl Excerpt ===

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LONGEST: usize = 64;
        match self.0.char_indices().nth(LONGEST) {
            Some((end, _)) => write!(f, "'{}…'", &self.0[..end]),
            None => write!(f, "'{}'", self.0),
        }
    }
}

// === impl Object ===

impl<'p> Object<'p> {
    /// The members of an object.
    pub(crate) fn read(value: Value, path: Path<'p>) -> Result<Self, ApiError> {
        match value {
            Value::Object(members) => Ok(Self { members: members.into_iter().collect(), path }),
            other => Err(path.wrong_type("an object", &other)),
        }
    }

    /// The place of a member.
    pub(crate) fn path<'a>(&'a self, name: &'a str) -> Path<'a> {
        self.path.field(name)
    }

    /// Whether it has this member.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.members.iter().any(|(known, value)| known == name && !value.is_null())
    }

    /// Whether it has this member and no other.
    pub(crate) fn has_only(&self, name: &str) -> bool {
        self.has(name) && self.members.iter().all(|(known, value)| known == name || value.is_null())
    }

    /// A member of any type.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        // Not removed: that would cost the order of the others, or a move of all of them.
        let member = self.members.iter_mut().find(|(known, _)| known == name);
        member.map(|(_, value)| value.take()).filter(|value| !value.is_null())
    }

    /// A text.
    pub(crate) fn string(&mut self, name: &str) -> Result<Option<String>, ApiError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.path(name).wrong_type("a string", &other)),
        }
    }

    /// A text that must be there.
    pub(crate) fn required_string(&mut self, name: &str) -> Result<String, ApiError> {
        self.string(name)?.ok_or_else(|| self.path(name).missing())
    }

    /// A switch.
    pub(crate) fn boolean(&mut self, name: &str) -> Result<Option<bool>, ApiError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Bool(value)) => Ok(Some(value)),
            Some(other) => Err(self.path(name).wrong_type("a boolean", &other)),
        }
    }

    /// A whole number of at least 1. One that is larger than any use is as good as the largest.
    pub(crate) fn count(&mut self, name: &str) -> Result<Option<u32>, ApiError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let path = self.path(name);
        match &value {
            Value::Number(number) if !number.is_f64() => match number.as_u64() {
                Some(number) if number > 0 => Ok(Some(u32::try_from(number).unwrap_or(u32::MAX))),
                _ => {
                    let message = format!(
                        "Invalid '{path}': integer below minimum value. Expected a value >= 1, but got {number} instead."
                    );
                    Err(path.invalid(message).with_code("integer_below_min_value"))
                }
            },
            other => Err(path.wrong_type("an integer", other)),
        }
    }

    /// A list.
    pub(crate) fn array(&mut self, name: &str) -> Result<Option<Vec<Value>>, ApiError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Array(values)) => Ok(Some(values)),
            Some(other) => Err(self.path(name).wrong_type("an array", &other)),
        }
    }

    /// An object.
    pub(crate) fn object(&mut self, name: &str) -> Result<Option<Map<String, Value>>, ApiError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Object(members)) => Ok(Some(members)),
            Some(other) => Err(self.path(name).wrong_type("an object", &other)),
        }
    }
}
