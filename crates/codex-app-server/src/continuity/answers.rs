//! The outputs of calls as answers to the turn that waits for them.

use model_turn::{ContentPart, HistoryItem, ToolOutput};
use serde::Serialize;
use serde_json::value::RawValue;

use super::raw_item::RawItem;
use crate::tool_names::ToolNames;

/// The answer to a call that Codex has asked us to make.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) call_id: String,
    /// The result of Codex's request.
    pub(crate) result: Box<RawValue>,
}

/// Codex's `DynamicToolCallResponse`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallResult<'a> {
    content_items: Vec<ContentItem<'a>>,
    success: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum ContentItem<'a> {
    InputText { text: &'a str },
}

/// Answers to exactly these calls, if the items are their outputs in that order, and nothing else.
///
/// Codex tells the model the outputs in the order of the calls, whichever is answered first.
pub(crate) fn answers<'a>(
    items: impl ExactSizeIterator<Item = &'a str>,
    calls: &[String],
) -> Option<Vec<Answer>> {
    if items.len() != calls.len() {
        return None;
    }
    items.zip(calls).map(|(item, call_id)| answer(item, call_id)).collect()
}

/// Codex adds something of its own to images that come as answers, so that the model would see something
/// else than in a history: these are not read.
fn answer(item: &str, expected: &str) -> Option<Answer> {
    let item = RawItem::read(item, &ToolNames::default())?;
    let RawItem::Spoken(HistoryItem::ToolOutput { call_id, output }) = item else {
        return None;
    };
    if call_id != expected {
        return None;
    }
    let content_items = match &output {
        ToolOutput::Text(text) => vec![ContentItem::InputText { text }],
        ToolOutput::Parts(parts) => parts.iter().map(content_item).collect::<Option<_>>()?,
    };
    let result =
        serde_json::value::to_raw_value(&CallResult { content_items, success: true }).ok()?;
    Some(Answer { call_id, result })
}

fn content_item(part: &ContentPart) -> Option<ContentItem<'_>> {
    match part {
        ContentPart::Text(text) => Some(ContentItem::InputText { text }),
        ContentPart::Image { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(items: &[&str], calls: &[&str]) -> Option<Vec<String>> {
        let calls: Vec<_> = calls.iter().map(ToString::to_string).collect();
        let answers = answers(items.iter().copied(), &calls)?;
        Some(answers.into_iter().map(|answer| answer.result.get().to_owned()).collect())
    }

    const A: &str =
        r#"{"type":"function_call_output","call_id":"a","output":"line\none","id":"fco_1"}"#;
    const B: &str = r#"{"type":"function_call_output","call_id":"b","output":[{"type":"input_text","text":"1"},{"type":"input_text","text":"2"}]}"#;

    #[test]
    fn every_output_in_the_order_of_the_calls_is_an_answer() {
        assert_eq!(
            results(&[A, B], &["a", "b"]).unwrap(),
            [
                r#"{"contentItems":[{"type":"inputText","text":"line\none"}],"success":true}"#,
                r#"{"contentItems":[{"type":"inputText","text":"1"},{"type":"inputText","text":"2"}],"success":true}"#,
            ]
        );
    }

    #[test]
    fn anything_else_is_none() {
        let image = r#"{"type":"function_call_output","call_id":"a","output":[{"type":"input_image","image_url":"data:"}]}"#;
        let message = r#"{"type":"message","role":"user","content":[]}"#;
        for items in [&[A][..], &[B, A], &[A, B, message], &[A, message], &[image, B], &[]] {
            assert_eq!(results(items, &["a", "b"]), None, "{items:?}");
        }
    }
}
