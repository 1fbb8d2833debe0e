//! A conversation as a client has it, which sends everything that was said each time.

use codex_app_server::Continued;
use model_turn::{CallInput, HistoryItem, Role, ToolCallKind, ToolOutput, TurnRequest};
use testkit::{Outcome, TestPool, tools};

/// What every output says.
pub(crate) const OUTPUT: &str = "sunny";

/// What was said so far, and to whom.
#[derive(Clone)]
pub(crate) struct Conversation {
    request: TurnRequest,
}

// === impl Conversation ===

impl Conversation {
    /// Begins with what the owner says.
    pub(crate) fn begin(codex: &TestPool, owner: &str, text: &str) -> Self {
        let mut request = codex.ask(text);
        request.tools = tools(&["get_weather", "get_time", "lookup"]);
        request.owner = Some(owner.into());
        Self { request }
    }

    /// The same with another model.
    pub(crate) fn with_model(mut self, model: &str) -> Self {
        model.clone_into(&mut self.request.model);
        self
    }

    /// The owner says something more.
    pub(crate) fn say(&mut self, text: &str) {
        self.request.history.push(HistoryItem::text(Role::User, text));
    }

    /// Asks the model, and takes down what it says. Its calls have their outputs at once.
    pub(crate) async fn go_on(&mut self, codex: &TestPool) -> (Outcome, Continued) {
        self.go_on_with(codex, OUTPUT).await
    }

    /// The same with other outputs.
    pub(crate) async fn go_on_with(
        &mut self,
        codex: &TestPool,
        output: &str,
    ) -> (Outcome, Continued) {
        let mut turn = codex.pool.start_turn(self.request.clone()).unwrap();
        let outcome = Outcome::read(&mut turn).await;
        turn.keep();
        let history = &mut self.request.history;
        if !outcome.text.is_empty() {
            history.push(HistoryItem::text(Role::Assistant, &*outcome.text));
        }
        let call_ids = || outcome.calls.iter().map(|call| call.call_id.clone());
        history.extend(outcome.calls.iter().zip(call_ids()).map(|(call, call_id)| {
            let input = match call.kind {
                ToolCallKind::Custom => CallInput::Text(call.arguments.clone()),
                ToolCallKind::Function | ToolCallKind::Foreign => {
                    CallInput::Arguments(call.arguments.clone())
                }
            };
            HistoryItem::ToolCall { call_id, name: call.name.clone(), input }
        }));
        history.extend(call_ids().map(|call_id| {
            let output = ToolOutput::Text(output.to_owned());
            HistoryItem::ToolOutput { call_id, output }
        }));
        (outcome, turn.continued())
    }
}
