//! The conversation of a request as the history of a turn.

use model_turn::{CallInput, ContentPart, HistoryItem, MessagePhase, Role, ToolOutput};
use openai_wire::chat::{CalledTool, Message};
use openai_wire::responses::{InputItem, MessageRole};
use openai_wire::{ApiError, CustomCall, FunctionCall, Part};

use super::call_ids::{CallIds, LONGEST_ID, ResultOf, cut};
use super::content::{Author, ContentReader};
use super::place::Place;
use super::tools::Namespaces;
use crate::policy::RemoteImages;

/// The history of a turn.
pub(super) struct History {
    /// Its items.
    pub(super) items: Vec<HistoryItem>,
    /// What reads its contents, and has noticed something.
    pub(super) contents: ContentReader,
    calls: CallIds,
    namespaces: Namespaces,
}

/// Reasoning of which only the summary is there: no upstream can do anything with it.
const REASONING: &str = "input.reasoning";

// === impl History ===

impl History {
    /// The messages of a chat.
    pub(super) fn read(
        messages: Vec<Message>,
        namespaces: Namespaces,
        remote_images: RemoteImages,
    ) -> Result<Self, ApiError> {
        let mut history = Self::empty(namespaces, remote_images);
        for (index, message) in messages.into_iter().enumerate() {
            history.add(message, index)?;
        }
        history.end()
    }

    /// What was kept of earlier responses, and the input of this one.
    pub(super) fn read_items(
        earlier: Vec<InputItem>,
        input: Vec<InputItem>,
        namespaces: Namespaces,
        remote_images: RemoteImages,
    ) -> Result<Self, ApiError> {
        let mut history = Self::empty(namespaces, remote_images);
        let earlier = earlier.into_iter().enumerate();
        let earlier = earlier.map(|(index, item)| (Place::Earlier(index), item));
        let input = input.into_iter().enumerate();
        let input = input.map(|(index, item)| (Place::Input(index), item));
        for (place, item) in earlier.chain(input) {
            history.add_item(item, place)?;
        }
        history.end()
    }

    fn empty(namespaces: Namespaces, remote_images: RemoteImages) -> Self {
        Self {
            items: Vec::new(),
            contents: ContentReader::new(remote_images),
            calls: CallIds::default(),
            namespaces,
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
                    let (name, input) = match call.tool {
                        CalledTool::Function(FunctionCall { name, arguments }) => {
                            (name, CallInput::Arguments(arguments))
                        }
                        CalledTool::Custom(CustomCall { name, input }) => {
                            (name, CallInput::Text(input))
                        }
                    };
                    let name = self.namespaces.tool(call.namespace, name);
                    self.items.push(HistoryItem::ToolCall { call_id, name, input });
                }
                if let Some(call) = function_call {
                    let call_id = self.calls.function_call(call.name.clone(), place);
                    let item = HistoryItem::function_call(&call_id, &call.name, &call.arguments);
                    self.items.push(item);
                }
            }
            Message::Tool { tool_call_id, content } => {
                self.add_output(&tool_call_id, content, place, CONTENT)?;
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
                self.say(Role::Assistant, content, phase);
            }
            InputItem::FunctionCall { call_id, namespace, name, arguments, .. } => {
                let call_id = self.calls.call(call_id, place, 0);
                let name = self.namespaces.tool(namespace, name);
                let input = CallInput::Arguments(arguments);
                self.items.push(HistoryItem::ToolCall { call_id, name, input });
            }
            InputItem::CustomToolCall { call_id, namespace, name, input, .. } => {
                let call_id = self.calls.call(call_id, place, 0);
                let name = self.namespaces.tool(namespace, name);
                let input = CallInput::Text(input);
                self.items.push(HistoryItem::ToolCall { call_id, name, input });
            }
            InputItem::FunctionCallOutput { call_id, output, .. }
            | InputItem::CustomToolCallOutput { call_id, output, .. } => {
                self.add_output(&call_id, output, place, "output")?;
            }
            // The turn has its tools already.
            InputItem::AdditionalTools { .. } => {}
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

    /// The result of the call `id`. Some clients send one twice.
    fn add_output(
        &mut self,
        id: &str,
        content: Vec<Part>,
        place: Place,
        list: &str,
    ) -> Result<(), ApiError> {
        let images = self.contents.images_to_fetch.len();
        let content = self.contents.read(content, Author::WithImages, place, list)?;
        let output = output(content);
        match self.calls.result(id, self.items.len(), place)? {
            ResultOf::Call(call_id) => {
                self.items.push(HistoryItem::ToolOutput { call_id, output });
            }
            ResultOf::Answered(item) => {
                let is_equal = matches!(
                    &self.items[item],
                    HistoryItem::ToolOutput { output: known, .. } if *known == output
                );
                if !is_equal {
                    return Err(other_result(id, place));
                }
                self.contents.images_to_fetch.truncate(images);
            }
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

fn other_result(id: &str, place: Place) -> ApiError {
    let member = match place {
        Place::Message(_) => "tool_call_id",
        Place::Earlier(_) | Place::Input(_) => "call_id",
    };
    let id = cut(id, LONGEST_ID);
    let words = format!(
        "The call '{id}' has another result already: a result may be sent again, but not changed."
    );
    ApiError::invalid(place.member(member), words)
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
