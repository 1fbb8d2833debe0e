//! Where an answer goes.

use codex_app_server::MessagePhase;
use codex_app_server::turn::event::ReasoningItem;
use openai_wire::CallPart;

/// Where an answer goes: to a stream, frame by frame, or into a message.
pub trait Output {
    /// The text that follows is another message than the text before it, or has a phase. The first
    /// message begins without this if it has none. Returns the text to separate the two with, if
    /// both are sent.
    fn message(&mut self, phase: Option<MessagePhase>) -> &'static str {
        let _ = phase;
        "\n\n"
    }
    /// More content.
    fn text(&mut self, text: &str);
    /// A whole block, in XML mode; its calls follow.
    fn block(&mut self, xml: &str);
    /// More of a reasoning summary.
    fn reasoning(&mut self, text: &str);
    /// What follows of the summaries is another part.
    fn reasoning_part(&mut self) {
        self.reasoning("\n\n");
    }
    /// An item of reasoning has ended. What was to be seen of its summary came before, if it came
    /// piece by piece.
    fn reasoning_item(&mut self, item: &ReasoningItem) {
        let _ = item;
    }
    /// A call, or more of one.
    fn call(&mut self, part: &CallPart<'_>);
    /// That call is whole.
    fn call_end(&mut self);
    /// The model refuses to answer, in these words.
    fn refusal(&mut self, text: &str);
}
