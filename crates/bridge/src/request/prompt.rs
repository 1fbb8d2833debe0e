//! The texts that the model reads.

use std::borrow::Cow;

use model_turn::{CallInput, ContentPart, HistoryItem, ToolInput, ToolOutput};

use super::Prepared;

// === impl Prepared ===

impl Prepared {
    /// Every text of the turn, for counting its tokens where the backend does not say.
    pub fn prompt_texts(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let turn = &self.turn;
        let mut namespace = None;
        let tools = turn.tools.iter().flat_map(move |tool| {
            let is_next = namespace.replace(&tool.name.namespace) != Some(&tool.name.namespace);
            let group = tool.name.namespace.as_deref().filter(|_| is_next);
            let group = group.map_or(["", ""], |name| [name, &*tool.namespace_description]);
            let schema = match &tool.input {
                ToolInput::Json(schema) => schema.get(),
                ToolInput::Text => "",
            };
            let [name, description] = [&tool.name.name, &tool.description].map(String::as_str);
            [group[0], group[1], name, description, schema].map(Cow::from)
        });
        let schema = turn.output_schema.iter().map(|schema| Cow::Owned(schema.to_string()));
        let history = turn.history.iter().flat_map(item_texts).map(Cow::from);
        let instructions = std::iter::once(Cow::from(&turn.instructions));
        let texts = instructions.chain(tools).chain(history).chain(schema);
        texts.filter(|text| !text.is_empty())
    }
}

fn item_texts(item: &HistoryItem) -> Vec<&str> {
    match item {
        HistoryItem::Message { content, .. }
        | HistoryItem::ToolOutput { output: ToolOutput::Parts(content), .. } => part_texts(content),
        HistoryItem::ToolOutput { output: ToolOutput::Text(text), .. } => vec![text],
        HistoryItem::ToolCall {
            name,
            input: CallInput::Arguments(text) | CallInput::Text(text),
            ..
        } => vec![&name.name, text],
        HistoryItem::Reasoning { summary, .. } => summary.iter().map(String::as_str).collect(),
    }
}

fn part_texts(parts: &[ContentPart]) -> Vec<&str> {
    let texts = parts.iter().filter_map(|part| match part {
        ContentPart::Text(text) => Some(text.as_str()),
        ContentPart::Image { .. } => None,
    });
    texts.collect()
}
