//! The conversation of a request as the history of a turn.

use codex_app_server::{ContentPart, HistoryItem, MessagePhase, Role, ToolOutput};
use openai_wire::ApiError;
use openai_wire::chat::Message;
use openai_wire::responses::{self, InputItem, MessageRole};

use super::call_ids::{CallIds, LONGEST_ID, cut};
use super::content::{Author, ContentReader};
use super::place::Place;
use crate::policy::RemoteImages;

/// The history of a turn.
pub(super) struct History {
    /// Its items.
    pub(super) items: Vec<HistoryItem>,
    /// What reads its contents, and has noticed something.
    pub(super) contents: ContentReader,
    calls: CallIds,
}

/// Reasoning of which only the summary is there: no upstream can do anything with it.
const REASONING: &str = "input.reasoning";

// === impl History ===

impl History {
    /// The messages of a chat.
    pub(super) fn read(
        messages: Vec<Message>,
        remote_images: RemoteImages,
    ) -> Result<Self, ApiError> {
        let mut history = Self::empty(remote_images);
        for (index, message) in messages.into_iter().enumerate() {
            history.add(message, index)?;
        }
        history.end()
    }

    /// What was kept of earlier responses, and the input of this one.
    pub(super) fn read_items(
        earlier: Vec<InputItem>,
        input: Vec<InputItem>,
        remote_images: RemoteImages,
    ) -> Result<Self, ApiError> {
        let mut history = Self::empty(remote_images);
        let earlier = earlier.into_iter().enumerate();
        let earlier = earlier.map(|(index, item)| (Place::Earlier(index), item));
        let input = input.into_iter().enumerate();
        let input = input.map(|(index, item)| (Place::Input(index), item));
        for (place, item) in earlier.chain(input) {
            history.add_item(item, place)?;
        }
        history.end()
    }

    fn empty(remote_images: RemoteImages) -> Self {
        Self {
            items: Vec::new(),
            contents: ContentReader::new(remote_images),
            calls: CallIds::default(),
        }
    }

    fn end(mut self) -> Result<Self, ApiError> {
        std::mem::take(&mut self.calls).finish()?;
        Ok(self)
    }

    fn add(&mut self, message: Message, index: usize) -> Result<(), ApiError> {
        let place = Place::Message(index);
        match message {
            Message::System { content } => {
                let content = self.contents.read(content, Author::TextOnly, place, CONTENT)?;
                self.say(Role::Developer, content, None);
            }
            Message::User { content } => {
                let content = self.contents.read(content, Author::WithImages, place, CONTENT)?;
                self.say_as_person(content);
            }
            Message::Assistant { content, tool_calls, function_call } => {
                let content = self.contents.read(content, Author::TextOnly, place, CONTENT)?;
                let has_calls = !tool_calls.is_empty() || function_call.is_some();
                // Some versions of Obsidian Copilot send their system prompt so.
                let is_prompt = index == 0 && !has_calls;
                self.say(if is_prompt { Role::Developer } else { Role::Assistant }, content, None);
                for (position, call) in tool_calls.into_iter().enumerate() {
                    let call_id = self.calls.call(call.id, place, position);
                    let (name, arguments) = (call.function.name, call.function.arguments);
                    self.items.push(HistoryItem::ToolCall { call_id, name, arguments });
                }
                if let Some(call) = function_call {
                    let call_id = self.calls.function_call(call.name.clone(), place);
                    let (name, arguments) = (call.name, call.arguments);
                    self.items.push(HistoryItem::ToolCall { call_id, name, arguments });
                }
            }
            Message::Tool { tool_call_id, content } => {
                let content = self.contents.read(content, Author::WithImages, place, CONTENT)?;
                let call_id = self.calls.result(&tool_call_id, place)?;
                self.items.push(HistoryItem::ToolOutput { call_id, output: output(content) });
            }
            Message::Function { name, content } => {
                let content = self.contents.read(content, Author::WithImages, place, CONTENT)?;
                let call_id = self.calls.function_result(&name, place)?;
                self.items.push(HistoryItem::ToolOutput { call_id, output: output(content) });
            }
        }
        Ok(())
    }

    fn add_item(&mut self, item: InputItem, place: Place) -> Result<(), ApiError> {
        match item {
            InputItem::Message { role: MessageRole::User, content, .. } => {
                let content = self.contents.read(content, Author::WithImages, place, CONTENT)?;
                self.say_as_person(content);
            }
            InputItem::Message {
                role: MessageRole::System | MessageRole::Developer,
                content,
                ..
            } => {
                let content = self.contents.read(content, Author::TextOnly, place, CONTENT)?;
                self.say(Role::Developer, content, None);
            }
            InputItem::Message { role: MessageRole::Assistant, content, phase, .. } => {
                let content = self.contents.read(content, Author::TextOnly, place, CONTENT)?;
                self.say(Role::Assistant, content, phase.map(in_codex_terms));
            }
            InputItem::FunctionCall { call_id, name, arguments, .. } => {
                let call_id = self.calls.call(call_id, place, 0);
                self.items.push(HistoryItem::ToolCall { call_id, name, arguments });
            }
            InputItem::FunctionCallOutput { call_id, output: parts, .. } => {
                let content = self.contents.read(parts, Author::WithImages, place, "output")?;
                let call_id = self.calls.result(&call_id, place)?;
                self.items.push(HistoryItem::ToolOutput { call_id, output: output(content) });
            }
            InputItem::Reasoning {
                summary, encrypted_content: Some(encrypted_content), ..
            } => {
                // What the client has not sent itself it does not miss.
                let expendable = matches!(place, Place::Earlier(_));
                let item = HistoryItem::Reasoning { summary, encrypted_content, expendable };
                self.items.push(item);
            }
            InputItem::Reasoning { encrypted_content: None, .. } => {
                if !self.contents.ignored.contains(&REASONING) {
                    self.contents.ignored.push(REASONING);
                }
            }
            InputItem::Reference { id } => return Err(unknown_item(&id, place)),
        }
        Ok(())
    }

    /// A person may well say nothing, and is answered all the same.
    fn say_as_person(&mut self, mut content: Vec<ContentPart>) {
        if content.is_empty() {
            content.push(ContentPart::Text(String::new()));
        }
        self.say(Role::User, content, None);
    }

    /// A message without any content says nothing, and is left out.
    fn say(&mut self, role: Role, content: Vec<ContentPart>, phase: Option<MessagePhase>) {
        if !content.is_empty() {
            self.items.push(HistoryItem::Message { role, content, phase });
        }
    }
}

/// Where a message has its parts.
const CONTENT: &str = "content";

fn in_codex_terms(phase: responses::MessagePhase) -> MessagePhase {
    match phase {
        responses::MessagePhase::Commentary => MessagePhase::Commentary,
        responses::MessagePhase::FinalAnswer => MessagePhase::FinalAnswer,
    }
}

/// Whoever reads the request puts the items in place that are there.
fn unknown_item(id: &str, place: Place) -> ApiError {
    let id = cut(id, LONGEST_ID);
    let words = format!(
        "There is no stored item '{id}'. It was never stored, was deleted, has expired, or belongs to another key: send the item itself."
    );
    ApiError::invalid(place.member("id"), words).with_code("item_not_found")
}

fn output(mut content: Vec<ContentPart>) -> ToolOutput {
    match content.as_mut_slice() {
        [] => ToolOutput::Text(String::new()),
        [ContentPart::Text(text)] => ToolOutput::Text(std::mem::take(text)),
        _ => ToolOutput::Parts(content),
    }
}
