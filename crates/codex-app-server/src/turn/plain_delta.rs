//! The line that Codex writes most, read without a JSON parser.

use std::borrow::Cow;

use memchr::memchr2;

use super::thread_event::{RoutedEvent, ThreadEvent};

/// Reads a delta of text in the very form in which Codex writes it, if nothing in it is escaped.
///
/// The whole line is looked at, so that nothing else passes for one; every other form is `None`,
/// and left to the parser.
pub(crate) fn plain_delta(line: &str) -> Option<RoutedEvent<'_>> {
    let rest =
        line.strip_prefix(r#"{"method":"item/agentMessage/delta","params":{"threadId":""#)?;
    let (thread_id, rest) = id(rest)?;
    let (turn_id, rest) = id(rest.strip_prefix(r#","turnId":""#)?)?;
    let (_, rest) = id(rest.strip_prefix(r#","itemId":""#)?)?;
    let rest = rest.strip_prefix(r#","delta":""#)?;
    let (delta, rest) = rest.split_at(memchr2(b'"', b'\\', rest.as_bytes())?);
    let time = rest.strip_prefix(r#""},"emittedAtMs":"#)?.strip_suffix('}')?;
    let is_time = !time.is_empty() && time.bytes().all(|byte| byte.is_ascii_digit());
    let is_plain = delta.bytes().all(|byte| byte >= b' ');
    (is_time && is_plain).then(|| RoutedEvent {
        thread_id: Cow::Borrowed(thread_id),
        turn_id: Cow::Borrowed(turn_id),
        event: ThreadEvent::Text(Cow::Borrowed(delta)),
    })
}

/// An id up to and without its quote, and what follows that.
fn id(text: &str) -> Option<(&str, &str)> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let end = text.bytes().position(|byte| !is_part(&byte))?;
    Some((&text[..end], text[end..].strip_prefix('"')?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::message::Message;

    fn line(delta: &str) -> String {
        let params = json!({
            "threadId": "01a1e0b7-22a4-7f71-a8cc-000000000015", "turnId": "t-1",
            "itemId": "msg_1", "delta": delta,
        });
        json!({"method": "item/agentMessage/delta", "params": params, "emittedAtMs": 17})
            .to_string()
    }

    fn parts<'a>(event: &'a RoutedEvent<'_>) -> (&'a str, &'a str, &'a str) {
        let ThreadEvent::Text(text) = &event.event else { panic!("no text") };
        (&event.thread_id, &event.turn_id, text)
    }

    #[test]
    fn what_is_not_exactly_a_plain_delta_is_left_to_the_parser() {
        let good = line("x");
        assert!(plain_delta(&good).is_some());
        for bad in [
            line("a\"b"),
            line("a\nb"),
            good.replace("17}", "17}}"),
            good.replace("17", ""),
            good.replace("17", "1e9"),
            good.replace(":\"x\"", ":\"x\",\"more\":1"),
            good.replace(":\"x\"", ":\"\u{1}\""),
            good.replace("msg_1", "msg\\u0031"),
            good[..good.len() - 1].to_owned(),
            good.clone() + &good,
        ] {
            assert!(plain_delta(&bad).is_none(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn it_reads_what_the_parser_reads(delta in any::<String>()) {
            let line = line(&delta);
            let Ok(Message::Turn(parsed)) = serde_json::from_str(&line) else { panic!("no event") };
            if let Some(event) = plain_delta(&line) {
                prop_assert_eq!(parts(&event), parts(&parsed));
            }
        }
    }
}
