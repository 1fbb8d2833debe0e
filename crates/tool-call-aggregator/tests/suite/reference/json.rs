//! As much JSON as the grammar of blocks needs.

use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of a JSON object, each value as it stands, the last of equal keys in the place of the
/// first; `None` for anything else.
pub(super) fn members(text: &str) -> Option<Vec<(String, String)>> {
    struct Members;
    impl<'de> Visitor<'de> for Members {
        type Value = Vec<(String, String)>;
        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("an object")
        }
        fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
            let mut members: Self::Value = Vec::new();
            while let Some((key, value)) = map.next_entry::<String, Box<RawValue>>()? {
                let value = value.get().to_owned();
                match members.iter_mut().find(|(known, _)| *known == key) {
                    Some(member) => member.1 = value,
                    None => members.push((key, value)),
                }
            }
            Ok(members)
        }
    }
    let mut json = serde_json::Deserializer::from_str(text);
    let members = json.deserialize_map(Members).ok()?;
    json.end().ok()?;
    Some(members)
}

pub(super) fn member<'m>(members: &'m [(String, String)], key: &str) -> Option<&'m str> {
    members.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
}

/// The text of a JSON string; `None` for any other JSON.
pub(super) fn string(json: &str) -> Option<String> {
    serde_json::from_str(json).ok()
}

pub(super) fn is_object(json: &str) -> bool {
    json.starts_with('{')
}

pub(super) fn is_valid(json: &str) -> bool {
    serde_json::from_str::<&RawValue>(json).is_ok()
}

/// A JSON object of values that are JSON already.
pub(super) fn object<'m>(members: impl IntoIterator<Item = (&'m str, String)>) -> String {
    let members: Vec<String> =
        members.into_iter().map(|(key, value)| format!("{}:{value}", quote(key))).collect();
    format!("{{{}}}", members.join(","))
}

pub(super) fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
