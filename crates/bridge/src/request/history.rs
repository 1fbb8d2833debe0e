//! The messages of a request as the history of a turn.

use codex_app_server::{ContentPart, HistoryItem, Role, ToolOutput};
use openai_wire::ApiError;
use openai_wire::chat::Message;

use super::call_ids::CallIds;
use super::content::{Author, ContentReader};
use crate::policy::RemoteImages;

/// The history of a turn.
pub(super) struct History {
    /// Its items.
    pub(super) items: Vec<HistoryItem>,
    /// What reads its contents, and has noticed something.
    pub(super) contents: ContentReader,
    calls: CallIds,
}

// === impl History ===

impl History {
    pub(super) fn read(
        messages: Vec<Message>,
        remote_images: RemoteImages,
    ) -> Result<Self, ApiError> {
        let mut history = Self {
            items: Vec::new(),
            contents: ContentReader::new(remote_images),
            calls: CallIds::default(),
        };
        for (index, message) in messages.into_iter().enumerate() {
            history.add(message, index)?;
        }
        std::mem::take(&mut history.calls).finish()?;
        Ok(history)
    }

    fn add(&mut self, message: Message, index: usize) -> Result<(), ApiError> {
        match message {
            Message::System { content } => {
                let content = self.contents.read(content, Author::TextOnly, index)?;
                self.say(Role::Developer, content);
            }
            Message::User { content } => {
                let mut content = self.contents.read(content, Author::WithImages, index)?;
                // A person may well say nothing, and is answered all the same.
                if content.is_empty() {
                    content.push(ContentPart::Text(String::new()));
                }
                self.say(Role::User, content);
            }
            Message::Assistant { content, tool_calls, function_call } => {
                let content = self.contents.read(content, Author::TextOnly, index)?;
                let has_calls = !tool_calls.is_empty() || function_call.is_some();
                // Some versions of Obsidian Copilot send their system prompt so.
                let is_prompt = index == 0 && !has_calls;
                self.say(if is_prompt { Role::Developer } else { Role::Assistant }, content);
                for (position, call) in tool_calls.into_iter().enumerate() {
                    let call_id = self.calls.call(call.id, index, position);
                    let (name, arguments) = (call.function.name, call.function.arguments);
                    self.items.push(HistoryItem::ToolCall { call_id, name, arguments });
                }
                if let Some(call) = function_call {
                    let call_id = self.calls.function_call(call.name.clone(), index);
                    let (name, arguments) = (call.name, call.arguments);
                    self.items.push(HistoryItem::ToolCall { call_id, name, arguments });
                }
            }
            Message::Tool { tool_call_id, content } => {
                let content = self.contents.read(content, Author::WithImages, index)?;
                let call_id = self.calls.result(&tool_call_id, index)?;
                self.items.push(HistoryItem::ToolOutput { call_id, output: output(content) });
            }
            Message::Function { name, content } => {
                let content = self.contents.read(content, Author::WithImages, index)?;
                let call_id = self.calls.function_result(&name, index)?;
                self.items.push(HistoryItem::ToolOutput { call_id, output: output(content) });
            }
        }
        Ok(())
    }

    /// A message without any content says nothing, and is left out.
    fn say(&mut self, role: Role, content: Vec<ContentPart>) {
        if !content.is_empty() {
            self.items.push(HistoryItem::Message { role, content, phase: None });
        }
    }
}

fn output(mut content: Vec<ContentPart>) -> ToolOutput {
    match content.as_mut_slice() {
        [] => ToolOutput::Text(String::new()),
        [ContentPart::Text(text)] => ToolOutput::Text(std::mem::take(text)),
        _ => ToolOutput::Parts(content),
    }
}
