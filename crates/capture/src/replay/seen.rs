//! An answer, watched: what each choice says in the end.

use bridge::{Answer, FinishReason, Output};
use codex_app_server::MessagePhase;
use codex_app_server::turn::event::ReasoningItem;
use openai_wire::CallPart;

/// What a choice says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// Its content.
    pub content: String,
    /// Its refusal.
    pub refusal: Option<String>,
    /// Its reasoning summary.
    pub reasoning: String,
    /// Its calls.
    pub calls: Vec<Call>,
    /// Why it ended, if it did.
    pub finish: Option<FinishReason>,
}

/// A call that is forwarded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The id that the client sees.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// Its arguments, or its input.
    pub arguments: String,
}

/// An answer and what was seen on the way to it.
pub(super) struct Seen<A> {
    pub(super) answer: A,
    choices: Vec<Choice>,
    current: usize,
}

// === impl Seen ===

impl<A> Seen<A> {
    pub(super) fn new(answer: A, choices: u32) -> Self {
        Self { answer, choices: (0..choices).map(|_| Choice::default()).collect(), current: 0 }
    }

    pub(super) fn into_parts(self) -> (A, Vec<Choice>) {
        (self.answer, self.choices)
    }

    fn choice(&mut self) -> &mut Choice {
        &mut self.choices[self.current]
    }
}

impl<A: Answer> Output for Seen<A> {
    fn message(&mut self, phase: Option<MessagePhase>) -> &'static str {
        self.answer.message(phase)
    }

    fn text(&mut self, text: &str) {
        self.choice().content.push_str(text);
        self.answer.text(text);
    }

    fn block(&mut self, xml: &str) {
        self.choice().content.push_str(xml);
        self.answer.block(xml);
    }

    fn reasoning(&mut self, text: &str) {
        self.choice().reasoning.push_str(text);
        self.answer.reasoning(text);
    }

    fn reasoning_part(&mut self) {
        self.choice().reasoning.push_str("\n\n");
        self.answer.reasoning_part();
    }

    fn reasoning_item(&mut self, item: &ReasoningItem) {
        self.answer.reasoning_item(item);
    }

    fn call(&mut self, part: &CallPart<'_>) {
        let calls = &mut self.choice().calls;
        match (part.head, calls.last_mut()) {
            (Some(head), _) => calls.push(Call {
                id: head.id.to_owned(),
                name: head.name.to_owned(),
                arguments: part.text.to_owned(),
            }),
            (None, Some(call)) => call.arguments.push_str(part.text),
            (None, None) => {}
        }
        self.answer.call(part);
    }

    fn call_end(&mut self) {
        self.answer.call_end();
    }

    fn refusal(&mut self, text: &str) {
        self.choice().refusal = Some(text.to_owned());
        self.answer.refusal(text);
    }
}

impl<A: Answer> Answer for Seen<A> {
    fn choose(&mut self, choice: u32) {
        self.current = choice as usize;
        self.answer.choose(choice);
    }

    fn finish(&mut self, reason: FinishReason) {
        self.choice().finish = Some(reason);
        self.answer.finish(reason);
    }

    fn is_full(&self) -> bool {
        self.answer.is_full()
    }

    fn has_spoken(&self) -> bool {
        self.answer.has_spoken()
    }
}
