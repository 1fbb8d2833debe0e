//! Text and JSON as they stand in a block.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::text::continues_name;

/// Names of elements are compared by so many bytes. What follows a `<` up to the next `>` is a name, so
/// that many long names may end at one `>`: comparing all of each would not take linear time.
const COMPARED: usize = 128;

/// `text` with entities for `<`, `>` and `&`.
///
/// ```
/// use tool_call_aggregator::obsidian::escape_xml;
///
/// assert_eq!(escape_xml("1 < 2 & <b>"), "1 &lt; 2 &amp; &lt;b&gt;");
/// assert_eq!(escape_xml("plain"), "plain");
/// ```
pub fn escape_xml(text: &str) -> Cow<'_, str> {
    escape(text, ["&lt;", "&gt;", "&amp;"])
}

/// JSON text with `\u003c`, `\u003e` and `\u0026` for `<`, `>` and `&`: the same JSON, since the three can
/// only stand in its strings.
///
/// ```
/// use tool_call_aggregator::obsidian::escape_json;
///
/// assert_eq!(escape_json(r#"["<b>", "&"]"#), r#"["\u003cb\u003e", "\u0026"]"#);
/// assert_eq!(escape_json("[1]"), "[1]");
/// ```
pub fn escape_json(json: &str) -> Cow<'_, str> {
    escape(json, ["\\u003c", "\\u003e", "\\u0026"])
}

fn escape<'t>(text: &'t str, [less, greater, and]: [&str; 3]) -> Cow<'t, str> {
    let mut escaped = String::new();
    let mut done = 0;
    for at in memchr::memchr3_iter(b'<', b'>', b'&', text.as_bytes()) {
        escaped.push_str(&text[done..at]);
        escaped.push_str(match text.as_bytes()[at] {
            b'<' => less,
            b'>' => greater,
            _ => and,
        });
        done = at + 1;
    }
    finished(text, done, escaped)
}

/// The value of the parameter `tag`, for a reader that does not decode entities: only a `<` with which it
/// would not read all of the text as a string becomes `&lt;`.
pub(super) fn escape_verbatim<'t>(tag: &str, text: &'t str) -> Cow<'t, str> {
    let mut escaped = String::new();
    let mut done = 0;
    for at in misread(tag, text).into_iter().rev() {
        escaped.push_str(&text[done..at]);
        escaped.push_str("&lt;");
        done = at + 1;
    }
    let escaped = finished(text, done, escaped);
    // A `&lt;` may have made two names equal, if the text had one itself.
    if done > 0 && !misread(tag, &escaped).is_empty() {
        return Cow::Owned(text.replace('<', "&lt;"));
    }
    escaped
}

fn finished(text: &str, done: usize, mut escaped: String) -> Cow<'_, str> {
    if done == 0 {
        return Cow::Borrowed(text);
    }
    escaped.push_str(&text[done..]);
    Cow::Owned(escaped)
}

/// Where a `<` would end the value of `tag` early, or begin an element: `<NAME>` with `</NAME>` somewhere
/// behind it, with which the reader takes the value for an array or an object. The last one first.
fn misread(tag: &str, text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut misread = Vec::new();
    let mut closed = HashSet::new();
    let mut end = bytes.len();
    for at in memchr::memchr2_iter(b'<', b'>', bytes).rev() {
        if bytes[at] == b'>' {
            end = at;
            continue;
        }
        if ends_early(tag, &text[at + 1..]) {
            misread.push(at);
            continue;
        }
        let name = &bytes[at + 1..end];
        if closed.contains(compared(name)) {
            misread.push(at);
        }
        // Without a `>` it is no tag.
        if let Some(name) = name.strip_prefix(b"/")
            && end < bytes.len()
            && !name.is_empty()
        {
            closed.insert(compared(name));
        }
    }
    misread
}

fn compared(name: &[u8]) -> &[u8] {
    &name[..name.len().min(COMPARED)]
}

/// Whether a `<` with this text after it would end a value in `tag`, or the whole block.
fn ends_early(tag: &str, after: &str) -> bool {
    let closed = after.strip_prefix('/');
    let is = |text: &str, tag: &str| {
        let rest = text.strip_prefix(tag);
        rest.is_some_and(|rest| !rest.bytes().next().is_some_and(continues_name))
    };
    is(closed.unwrap_or(after), "use_tool") || closed.is_some_and(|name| is(name, tag))
}
