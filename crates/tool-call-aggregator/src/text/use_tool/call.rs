//! What a complete block calls (rules 6 and 7 of the grammar).

use serde_json::Value;

use crate::json_members::{decoded_string, member, object_members, object_text};
use crate::obsidian::canonical_json_from_fields;

/// The body of a block.
#[derive(Debug)]
pub(super) enum Body<'a> {
    /// A raw JSON body.
    Json(&'a str),
    /// Complete fields, with their trimmed values.
    Fields(Vec<(&'a str, &'a str)>),
}

/// A call that a block makes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) name: String,
    pub(super) args_text: String,
}

/// Members that can hold the arguments of a raw JSON body.
const ARGUMENT_MEMBERS: [&str; 3] = ["arguments", "args", "parameters"];

/// Reads a block; `None` if it has no name. `schema` knows the parameters of tools.
pub(super) fn read<'s>(
    attribute: Option<&str>,
    body: Body<'_>,
    schema: impl Fn(&str) -> Option<&'s Value>,
) -> Option<Call> {
    let arguments = |name: &str, fields: &[_]| arguments(name, fields, schema(name));
    let (name, args_text) = match (attribute, body) {
        (Some(name), Body::Json(body)) => (name.to_owned(), body.trim().to_owned()),
        (None, Body::Json(body)) => read_json(body.trim())?,
        (Some(name), Body::Fields(fields)) => (name.to_owned(), arguments(name.trim(), &fields)),
        (None, Body::Fields(mut fields)) => {
            let name = fields.iter().rev().find(|(tag, _)| *tag == "name")?.1;
            fields.retain(|(tag, _)| *tag != "name");
            (name.to_owned(), arguments(name, &fields))
        }
    };
    let name = name.trim();
    (!name.is_empty()).then(|| Call { name: name.to_owned(), args_text })
}

fn arguments(name: &str, fields: &[(&str, &str)], schema: Option<&Value>) -> String {
    match fields.last() {
        Some((_, args)) if fields.iter().all(|(tag, _)| *tag == "args") => (*args).to_owned(),
        _ => canonical_json_from_fields(name, fields, schema),
    }
}

fn read_json(body: &str) -> Option<(String, String)> {
    let members = object_members(body)?;
    let name = decoded_string(member(&members, "name")?)?.into_owned();
    let object = ARGUMENT_MEMBERS
        .into_iter()
        .filter_map(|key| member(&members, key))
        .find(|value| value.starts_with('{'));
    let args_text = object.map_or_else(
        || {
            let rest = members.iter().filter(|(key, _)| key != "name");
            object_text(rest.map(|(key, value)| (key.as_ref(), *value)))
        },
        str::to_owned,
    );
    Some((name, args_text))
}
