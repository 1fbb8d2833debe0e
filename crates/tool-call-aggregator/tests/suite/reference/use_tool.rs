//! `<use_tool>…</use_tool>`

use super::json_body::{self, End, Mark};
use super::{Call, Found, begins, fields, json, skip_ws, starts};

const OPEN: &str = "<use_tool";

/// What a tag turns out to be.
enum Tag<T> {
    /// It ends here.
    Whole(usize, T),
    /// This byte broke it.
    Broken(usize),
    /// The end of the text broke it off.
    Unfinished,
}

pub(super) fn at(text: &str, at: usize, ended: bool) -> Found {
    if !starts(text, at, OPEN) {
        return begins(text, at, OPEN);
    }
    match open(text, at) {
        Tag::Unfinished => Found::Unfinished,
        // Another tag, which begins like this one.
        Tag::Broken(by) if by == at + OPEN.len() => Found::Nothing,
        Tag::Broken(by) => Found::TextUpTo(by),
        Tag::Whole(body, attributes) => {
            let named = attributes.iter().rev().find(|(name, _)| name == "name");
            let named = named.map(|(_, value)| value.trim().to_owned());
            match text.as_bytes().get(skip_ws(text, body)) {
                Some(b'{' | b'[') => raw_json(text, body, named, ended),
                _ => in_fields(text, body, named, ended),
            }
        }
    }
}

/// `"<use_tool" [ws attributes] ">"`, which begins at `at`.
fn open(text: &str, at: usize) -> Tag<Vec<(String, String)>> {
    let bytes = text.as_bytes();
    let mut attributes = Vec::new();
    let mut here = at + OPEN.len();
    loop {
        let name = skip_ws(text, here);
        match bytes.get(name) {
            None => return Tag::Unfinished,
            Some(b'>') => return Tag::Whole(name + 1, attributes),
            // An attribute needs white space before it.
            Some(_) if name == here => return Tag::Broken(name),
            Some(_) => {}
        }
        let name_end = tag_end(text, name);
        if name_end == name {
            return Tag::Broken(name);
        }
        let equals = skip_ws(text, name_end);
        match bytes.get(equals) {
            None => return Tag::Unfinished,
            Some(b'=') => {}
            Some(_) => return Tag::Broken(equals),
        }
        let quote = skip_ws(text, equals + 1);
        let quoted_by = match bytes.get(quote) {
            None => return Tag::Unfinished,
            Some(&by @ (b'"' | b'\'')) => by,
            Some(_) => return Tag::Broken(quote),
        };
        let mut value_end = quote + 1;
        loop {
            match bytes.get(value_end) {
                None => return Tag::Unfinished,
                Some(b'<') => return Tag::Broken(value_end),
                Some(by) if *by == quoted_by => break,
                Some(_) => value_end += 1,
            }
        }
        attributes.push((text[name..name_end].to_owned(), text[quote + 1..value_end].to_owned()));
        here = value_end + 1;
    }
}

/// Where the `[A-Za-z_][A-Za-z0-9_.:-]*` that begins at `at` ends.
fn tag_end(text: &str, at: usize) -> usize {
    let mut here = at;
    while let Some(&byte) = text.as_bytes().get(here) {
        let first = byte.is_ascii_alphabetic() || byte == b'_';
        let later = byte.is_ascii_digit() || matches!(byte, b'.' | b':' | b'-');
        if !(first || later && here > at) {
            break;
        }
        here += 1;
    }
    here
}

/// Where `before`, white space and `>` end, if that is what stands at `at`.
fn tag(text: &str, at: usize, before: &str) -> Option<usize> {
    if !starts(text, at, before) {
        return None;
    }
    let end = skip_ws(text, at + before.len());
    (text.as_bytes().get(end) == Some(&b'>')).then_some(end + 1)
}

/// What a `<` in a body, outside every JSON string, means to the block.
enum Ends {
    Not,
    /// The `close` that ends here.
    Close(usize),
    /// Another `open`.
    Open,
    Unfinished,
}

fn ends(text: &str, at: usize) -> Ends {
    if let Some(end) = tag(text, at, "</use_tool") {
        return Ends::Close(end);
    }
    if !starts(text, at, OPEN) {
        return Ends::Not;
    }
    match open(text, at) {
        Tag::Whole(..) => Ends::Open,
        Tag::Broken(_) => Ends::Not,
        Tag::Unfinished => Ends::Unfinished,
    }
}

/// What a `<` begins in a value that began like JSON; the field `args` has an end of its own.
fn mark(text: &str, here: usize, in_args: bool) -> Mark<FieldEnd> {
    if in_args && let Some(end) = tag(text, here, "</args") {
        return Mark::Close(FieldEnd::Field { value_end: here, end });
    }
    let rest = &text[here..];
    let names: &[&str] = if in_args { &["</args", "</use_tool"] } else { &["</use_tool"] };
    let is_cut = |name: &&str| {
        let spaces = rest.strip_prefix(*name).map(|rest| rest.bytes().all(super::is_ws));
        spaces.unwrap_or(name.starts_with(rest))
    };
    match ends(text, here) {
        Ends::Close(end) => Mark::Close(FieldEnd::Block(end)),
        Ends::Open => Mark::Open,
        Ends::Not if names.iter().any(is_cut) => Mark::Unfinished,
        Ends::Not => Mark::Nothing,
        Ends::Unfinished => Mark::Unfinished,
    }
}

fn raw_json(text: &str, body: usize, named: Option<String>, ended: bool) -> Found {
    match json_body::end(text, body, ended, |here| mark(text, here, false)) {
        End::Close(here, FieldEnd::Block(end)) => {
            Found::Block { end, call: raw_json_call(text[body..here].trim(), named) }
        }
        End::Open(here) => Found::TextUpTo(here),
        End::Close(..) | End::Unfinished => Found::Unfinished,
    }
}

fn raw_json_call(body: &str, named: Option<String>) -> Option<Call> {
    if let Some(name) = named {
        return (!name.is_empty()).then(|| Call { name, args_text: body.to_owned() });
    }
    let members = json::members(body)?;
    let name = json::string(json::member(&members, "name")?)?.trim().to_owned();
    if name.is_empty() {
        return None;
    }
    let object = ["arguments", "args", "parameters"]
        .into_iter()
        .filter_map(|key| json::member(&members, key))
        .find(|value| json::is_object(value));
    let args_text = object.map_or_else(
        || {
            let others = members.iter().filter(|(key, _)| key != "name");
            json::object(others.map(|(key, value)| (key.as_str(), value.clone())))
        },
        ToOwned::to_owned,
    );
    Some(Call { name, args_text })
}

fn in_fields(text: &str, body: usize, named: Option<String>, ended: bool) -> Found {
    let bytes = text.as_bytes();
    let mut fields: Vec<(String, String)> = Vec::new();
    let mut here = body;
    while here < bytes.len() {
        if bytes[here] == b'<' {
            match ends(text, here) {
                Ends::Not => {}
                Ends::Close(end) => return Found::Block { end, call: fields_call(fields, named) },
                Ends::Open => return Found::TextUpTo(here),
                Ends::Unfinished => return Found::Unfinished,
            }
            let name_end = tag_end(text, here + 1);
            let name = &text[here + 1..name_end];
            if !name.is_empty()
                && let Some(value) = tag(text, here, &format!("<{name}"))
            {
                match field(text, value, name, ended) {
                    FieldEnd::Field { value_end, end } => {
                        put(&mut fields, name, text[value..value_end].trim());
                        here = end;
                    }
                    FieldEnd::Block(end) => {
                        return Found::Block { end, call: fields_call(fields, named) };
                    }
                    FieldEnd::Open(at) => return Found::TextUpTo(at),
                    FieldEnd::Unfinished => return Found::Unfinished,
                }
                continue;
            }
        }
        here += 1;
    }
    Found::Unfinished
}

/// What a field runs up to.
enum FieldEnd {
    Field {
        value_end: usize,
        end: usize,
    },
    /// The block's end came first.
    Block(usize),
    /// Another block began.
    Open(usize),
    Unfinished,
}

/// The field `name`, whose value begins at `value`.
fn field(text: &str, value: usize, name: &str, ended: bool) -> FieldEnd {
    let bytes = text.as_bytes();
    let first = bytes.get(skip_ws(text, value));
    if name == "args" && matches!(first, Some(b'{' | b'[' | b'"')) {
        return match json_body::end(text, value, ended, |here| mark(text, here, true)) {
            End::Close(_, end) => end,
            End::Open(here) => FieldEnd::Open(here),
            End::Unfinished => FieldEnd::Unfinished,
        };
    }
    for here in text[value..].match_indices('<').map(|(at, _)| value + at) {
        if let Some(end) = tag(text, here, &format!("</{name}")) {
            return FieldEnd::Field { value_end: here, end };
        }
        match ends(text, here) {
            Ends::Not => {}
            Ends::Close(end) => return FieldEnd::Block(end),
            Ends::Open => return FieldEnd::Open(here),
            Ends::Unfinished => return FieldEnd::Unfinished,
        }
    }
    FieldEnd::Unfinished
}

/// Of two fields with the same tag the last counts, in the place of the first.
fn put(fields: &mut Vec<(String, String)>, name: &str, value: &str) {
    match fields.iter_mut().find(|(known, _)| known == name) {
        Some((_, known)) => value.clone_into(known),
        None => fields.push((name.to_owned(), value.to_owned())),
    }
}

fn fields_call(mut fields: Vec<(String, String)>, named: Option<String>) -> Option<Call> {
    let name = named.or_else(|| {
        let at = fields.iter().position(|(name, _)| name == "name")?;
        Some(fields.remove(at).1)
    })?;
    if name.is_empty() {
        return None;
    }
    let args_text = match &fields[..] {
        [(only, value)] if only == "args" => value.clone(),
        _ => fields::canonical_json(&name, &fields),
    };
    Some(Call { name, args_text })
}
