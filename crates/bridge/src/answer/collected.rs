//! An answer that is not streamed.

use openai_wire::chat::completion::{Choice, Message};
use openai_wire::{CallPart, WholeCall};

use super::Answer;
use crate::finish::{ChoiceReport, FinishReason};
use crate::policy::{CallShape, OutputMode};
use crate::reply::Output;

/// An answer in the making.
#[derive(Debug)]
pub struct Collected {
    mode: OutputMode,
    shape: CallShape,
    choices: Vec<Partial>,
    current: usize,
}

#[derive(Debug, Default)]
struct Partial {
    content: String,
    refusal: Option<String>,
    reasoning: String,
    calls: Vec<WholeCall>,
    finish: Option<FinishReason>,
}

// === impl Collected ===

impl Collected {
    /// An answer of so many choices, of which nothing is known yet.
    pub fn new(mode: OutputMode, shape: CallShape, choices: u32) -> Self {
        let choices = (0..choices).map(|_| Partial::default()).collect();
        Self { mode, shape, choices, current: 0 }
    }

    /// The choices as they are written; text that is not sent is added to the reports.
    pub fn into_choices(self, reports: &mut [ChoiceReport]) -> Vec<Choice> {
        let (mode, shape) = (self.mode, self.shape);
        let choices = self.choices.into_iter().zip(reports).zip(0..);
        choices
            .map(|((partial, report), index)| {
                let Partial { content, refusal, reasoning, calls, finish } = partial;
                let hidden = hides_text(mode, &calls);
                if hidden {
                    report.suppressed_bytes += content.len();
                }
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
                        legacy: shape == CallShape::FunctionCall,
                    },
                    logprobs: (),
                    finish_reason: finish.unwrap_or(FinishReason::Stop).as_str(),
                }
            })
            .collect()
    }

    fn partial(&mut self) -> &mut Partial {
        &mut self.choices[self.current]
    }
}

impl Output for Collected {
    fn text(&mut self, text: &str) {
        self.partial().content.push_str(text);
    }

    fn block(&mut self, xml: &str) {
        self.text(xml);
    }

    fn reasoning(&mut self, text: &str) {
        self.partial().reasoning.push_str(text);
    }

    fn call_end(&mut self) {}

    fn refusal(&mut self, text: &str) {
        self.partial().refusal = Some(text.to_owned());
    }

    fn call(&mut self, part: &CallPart<'_>) {
        let calls = &mut self.partial().calls;
        match (part.head, calls.last_mut()) {
            (Some(head), _) => calls.push(WholeCall {
                id: head.id.to_owned(),
                namespace: head.namespace.map(str::to_owned),
                name: head.name.to_owned(),
                kind: part.kind,
                text: part.text.to_owned(),
            }),
            (None, Some(call)) => call.text.push_str(part.text),
            (None, None) => {}
        }
    }
}

impl Answer for Collected {
    fn choose(&mut self, choice: u32) {
        self.current = usize::try_from(choice).unwrap_or(usize::MAX);
    }

    fn finish(&mut self, reason: FinishReason) {
        self.partial().finish = Some(reason);
    }

    fn is_full(&self) -> bool {
        false
    }

    fn has_spoken(&self) -> bool {
        self.choices.iter().any(Partial::has_spoken)
    }

    fn tells_everything(&self) -> bool {
        let partial = &self.choices[self.current];
        partial.content.is_empty() || !hides_text(self.mode, &partial.calls)
    }
}

/// A native client takes either text or calls.
fn hides_text(mode: OutputMode, calls: &[WholeCall]) -> bool {
    mode == OutputMode::OpenAiJson && !calls.is_empty()
}

// === impl Partial ===

impl Partial {
    fn has_spoken(&self) -> bool {
        !(self.content.is_empty() && self.reasoning.is_empty() && self.calls.is_empty())
            || self.refusal.is_some()
    }
}
