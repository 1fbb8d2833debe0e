//! `<tool_call>{json}</tool_call>`

use super::json_body::{self, End, Mark};
use super::{Call, Found, begins, json, skip_ws, starts};

const OPEN: &str = "<tool_call>";
const CLOSE: &str = "</tool_call>";

pub(super) fn at(text: &str, at: usize, ended: bool) -> Found {
    if !starts(text, at, OPEN) {
        return begins(text, at, OPEN);
    }
    let body = at + OPEN.len();
    let here = skip_ws(text, body);
    match text.as_bytes().get(here) {
        None => return Found::Unfinished,
        Some(b'{') => {}
        Some(_) => return Found::TextUpTo(here),
    }
    let mark = |here: usize| {
        let rest = &text[here..];
        if rest.starts_with(CLOSE) {
            Mark::Close(here + CLOSE.len())
        } else if rest.starts_with(OPEN) {
            Mark::Open
        } else if CLOSE.starts_with(rest) || OPEN.starts_with(rest) {
            Mark::Unfinished
        } else {
            Mark::Nothing
        }
    };
    match json_body::end(text, body, ended, mark) {
        End::Close(here, end) => Found::Block { end, call: call(text[body..here].trim()) },
        End::Open(here) => Found::TextUpTo(here),
        End::Unfinished => Found::Unfinished,
    }
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
