//! A chat completion that is not streamed.

use std::mem;

use bytes::{BufMut as _, BytesMut};
use openai_wire::chat::completion::{ChatCompletion, Choice, Message};
use openai_wire::{ApiError, FinishReason, Usage};

use super::{ChatHead, Collected};
use crate::output::{AnswerEnd, Output, Piece};
use crate::policy::{CallShape, OutputMode};

/// A chat completion that is written when it is complete.
#[derive(Debug)]
pub struct ChatMessage {
    id: String,
    created: u64,
    model: String,
    mode: OutputMode,
    shape: CallShape,
    choices: Vec<Collected>,
    current: usize,
    usage: Usage,
    buffer: BytesMut,
}

// === impl ChatMessage ===

impl ChatMessage {
    /// An answer of which nothing is there yet.
    pub fn new(head: &ChatHead<'_>, mode: OutputMode, shape: CallShape) -> Self {
        Self {
            id: head.id.to_owned(),
            created: head.created,
            model: head.model.to_owned(),
            mode,
            shape,
            choices: (0..head.choices).map(|_| Collected::default()).collect(),
            current: 0,
            usage: Usage::default(),
            buffer: BytesMut::new(),
        }
    }

    /// A native client takes either text or calls.
    fn hides_text(&self, choice: &Collected) -> bool {
        self.mode == OutputMode::OpenAiJson && !choice.calls.is_empty()
    }
}

impl Output for ChatMessage {
    fn write(&mut self, piece: Piece<'_>) {
        if let Some(choice) = self.choices.get_mut(self.current) {
            choice.add(piece);
        }
    }

    fn choose(&mut self, choice: u32) {
        self.current = choice as usize;
    }

    fn finish(&mut self, reason: FinishReason) {
        if let Some(choice) = self.choices.get_mut(self.current) {
            choice.finish = Some(reason);
        }
    }

    fn has_content(&self) -> bool {
        self.choices.iter().any(Collected::has_content)
    }

    fn hidden_bytes(&self) -> usize {
        let choice = self.choices.get(self.current);
        choice.filter(|choice| self.hides_text(choice)).map_or(0, |choice| choice.content.len())
    }

    fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// A whole answer fails before its first byte.
    fn fail(&mut self, _: &ApiError) {}

    fn complete(&mut self, _: AnswerEnd, usage: Option<&Usage>, _: u64) {
        self.usage = usage.copied().unwrap_or_default();
    }

    fn close(&mut self, _: bool, _: &str) {
        let choices = mem::take(&mut self.choices).into_iter().zip(0..);
        let choices = choices.map(|(collected, index)| {
            let hidden = self.hides_text(&collected);
            let Collected { content, refusal, reasoning, calls, finish } = collected;
            Choice {
                index,
                message: Message {
                    // As OpenAI writes a refusal.
                    content: (!hidden)
                        .then_some(content)
                        .filter(|text| refusal.is_none() || !text.is_empty()),
                    refusal,
                    reasoning_content: (!reasoning.is_empty()).then_some(reasoning),
                    calls,
                    legacy: self.shape == CallShape::FunctionCall,
                },
                logprobs: (),
                finish_reason: finish.unwrap_or(FinishReason::Stop).as_str(),
            }
        });
        let completion = ChatCompletion {
            id: &self.id,
            object: "chat.completion",
            created: self.created,
            model: &self.model,
            choices: choices.collect(),
            usage: self.usage,
        };
        let texts = completion.choices.iter().filter_map(|choice| choice.message.content.as_ref());
        self.buffer.reserve(1024 + texts.map(String::len).sum::<usize>());
        // Writing into memory does not fail, and neither does text as JSON.
        let _ = serde_json::to_writer((&mut self.buffer).writer(), &completion);
    }
}
