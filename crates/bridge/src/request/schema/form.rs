//! A schema while it is brought into Codex's form: what stays as it is stays where it is.

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::Value;

/// A value of a schema.
pub(super) enum Form<'a> {
    /// As the client has it.
    Given(&'a Value),
    /// Ours.
    Made(Value),
    /// Of values of both kinds.
    List(Vec<Form<'a>>),
    /// The same.
    Object(Node<'a>),
}

/// The keywords of a schema in their order. They are few, so that looking at each is cheaper than a hash.
#[derive(Default)]
pub(super) struct Node<'a> {
    members: Vec<(&'a str, Form<'a>)>,
}

// === impl Form ===

impl Form<'_> {
    pub(super) fn as_str(&self) -> Option<&str> {
        self.as_value().and_then(Value::as_str)
    }

    /// What is in a list of plain values.
    pub(super) fn elements(&self) -> impl Iterator<Item = &Value> {
        let (values, forms) = match self {
            Self::List(forms) => (None, forms.as_slice()),
            other => (other.as_value().and_then(Value::as_array), [].as_slice()),
        };
        values.into_iter().flatten().chain(forms.iter().filter_map(Self::as_value))
    }

    fn as_value(&self) -> Option<&Value> {
        match self {
            Self::Given(value) => Some(value),
            Self::Made(value) => Some(value),
            Self::List(_) | Self::Object(_) => None,
        }
    }
}

impl Serialize for Form<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Given(value) => value.serialize(serializer),
            Self::Made(value) => value.serialize(serializer),
            Self::List(forms) => forms.serialize(serializer),
            Self::Object(node) => node.serialize(serializer),
        }
    }
}

// === impl Node ===

impl<'a> Node<'a> {
    pub(super) fn with_room_for(count: usize) -> Self {
        Self { members: Vec::with_capacity(count) }
    }

    pub(super) fn get(&self, keyword: &str) -> Option<&Form<'a>> {
        self.members.iter().find(|(known, _)| *known == keyword).map(|(_, form)| form)
    }

    pub(super) fn has(&self, keyword: &str) -> bool {
        self.get(keyword).is_some()
    }

    pub(super) fn has_any(&self, keywords: &[&str]) -> bool {
        keywords.iter().any(|keyword| self.has(keyword))
    }

    /// In the place of what it was, or as the last one.
    pub(super) fn set(&mut self, keyword: &'a str, form: Form<'a>) {
        match self.members.iter_mut().find(|(known, _)| *known == keyword) {
            Some((_, known)) => *known = form,
            None => self.members.push((keyword, form)),
        }
    }
}

impl<'a> FromIterator<(&'a str, Form<'a>)> for Node<'a> {
    /// The names must differ.
    fn from_iter<I: IntoIterator<Item = (&'a str, Form<'a>)>>(members: I) -> Self {
        Self { members: members.into_iter().collect() }
    }
}

impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.members.len()))?;
        for (keyword, form) in &self.members {
            map.serialize_entry(keyword, form)?;
        }
        map.end()
    }
}
