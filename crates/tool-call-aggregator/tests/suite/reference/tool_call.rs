//! `<tool_call>{json}</tool_call>`

use super::{Call, Found, begins, json, skip_ws, starts};

const OPEN: &str = "<tool_call>";
const CLOSE: &str = "</tool_call>";

pub(super) fn at(text: &str, at: usize) -> Found {
    if !starts(text, at, OPEN) {
        return begins(text, at, OPEN);
    }
    let body = at + OPEN.len();
    let mut here = skip_ws(text, body);
    match text.as_bytes().get(here) {
        None => return Found::Unfinished,
        Some(b'{') => {}
        Some(_) => return Found::TextUpTo(here),
    }
    let mut in_string = false;
    while let Some(&byte) = text.as_bytes().get(here) {
        if in_string {
            match byte {
                b'\\' => here += 1,
                b'"' => in_string = false,
                _ => {}
            }
        } else if byte == b'"' {
            in_string = true;
        } else if starts(text, here, OPEN) {
            return Found::TextUpTo(here);
        } else if starts(text, here, CLOSE) {
            return Found::Block { end: here + CLOSE.len(), call: call(text[body..here].trim()) };
        }
        here += 1;
    }
    Found::Unfinished
}

fn call(body: &str) -> Option<Call> {
    let members = json::members(body)?;
    let name = json::string(json::member(&members, "name")?)?.trim().to_owned();
    if name.is_empty() {
        return None;
    }
    let arguments =
        json::member(&members, "arguments").or_else(|| json::member(&members, "parameters"));
    let args_text = match arguments {
        Some(object) if json::is_object(object) => object.to_owned(),
        Some(other) => json::string(other).unwrap_or_default().trim().to_owned(),
        None => String::new(),
    };
    Some(Call { name, args_text })
}
