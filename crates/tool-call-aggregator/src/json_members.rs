//! JSON objects read in their order, with values as they stand.
//!
//! `serde_json::Value` keeps the order of an object's members only with a feature that users of this
//! library need not have enabled, and it writes numbers anew. Texts do neither.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// The members of an object in their order, each value verbatim and without the white space around it.
/// Of members with the same key the last value counts, in the place of the first.
/// `None` if `text` is not one JSON object.
pub(crate) fn object_members(text: &str) -> Option<Vec<(Cow<'_, str>, &str)>> {
    serde_json::from_str(text).ok().map(|Members(members)| members)
}

/// The value of a member.
pub(crate) fn member<'m>(members: &[(Cow<'_, str>, &'m str)], key: &str) -> Option<&'m str> {
    members.iter().find(|(name, _)| name == key).map(|(_, value)| *value)
}

/// `text` without the white space around it, if it is one JSON value.
pub(crate) fn json_value(text: &str) -> Option<&str> {
    serde_json::from_str::<&RawValue>(text).ok().map(RawValue::get)
}

/// What the JSON string `text` says; `None` if it is anything else, also with white space around it.
/// Half of a surrogate pair, which JSON allows and `str` does not, becomes U+FFFD.
pub(crate) fn decoded_string(text: &str) -> Option<Cow<'_, str>> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    json_value(text)?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    let decoded = serde_json::Deserializer::from_str(text).deserialize_bytes(Unescaped);
    decoded.ok().map(Cow::Owned)
}

/// `text` as a JSON string.
pub(crate) fn json_string(text: &str) -> String {
    Value::from(text).to_string()
}

/// A compact object with these keys, and with these values as they stand.
pub(crate) fn object_text<'k, V: AsRef<str>>(
    members: impl IntoIterator<Item = (&'k str, V)>,
) -> String {
    let mut text = String::from("{");
    for (key, value) in members {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&json_string(key));
        text.push(':');
        text.push_str(value.as_ref());
    }
    text.push('}');
    text
}

struct Members<'de>(Vec<(Cow<'de, str>, &'de str)>);

struct MembersVisitor;

struct Unescaped;

// === impl Members ===

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

// === impl MembersVisitor ===

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        let mut members: Vec<(Cow<'de, str>, &'de str)> = Vec::new();
        let mut places: HashMap<Cow<'de, str>, usize> = HashMap::new();
        while let Some((key, value)) = map.next_entry::<&'de RawValue, &'de RawValue>()? {
            let key = decoded_string(key.get()).ok_or_else(|| A::Error::custom("no string"))?;
            let place = *places.entry(key.clone()).or_insert(members.len());
            match members.get_mut(place) {
                Some(member) => member.1 = value.get(),
                None => members.push((key, value.get())),
            }
        }
        Ok(Members(members))
    }
}

// === impl Unescaped ===

impl Visitor<'_> for Unescaped {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    /// As bytes, half a surrogate pair is three of them, of which 0xED is the first.
    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<String, E> {
        let mut text = String::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            if chunk.invalid().first() == Some(&0xED) {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests;
