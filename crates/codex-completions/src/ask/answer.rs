//! An answer, as it is shown.

use std::io;

use anstyle::Style;
use codex_app_server::Turn;
use model_turn::{Failure, ReasoningKind, TokenUsage, ToolCall, TurnEnd, TurnEvent};
use serde_json::{Value, json};

use crate::cli::Question;
use crate::console;
use crate::progress;

const REASONING: Style = Style::new().dimmed();
const CALL: Style = Style::new().bold();

/// How an answer is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// For a person: text as it comes, a line for each call.
    Text,
    /// One JSON object at the end.
    Json,
    /// Each event as a line of JSON, as it comes.
    Raw,
}

/// Everything of an answer.
#[derive(Default)]
struct Whole {
    text: String,
    reasoning: String,
    /// Which part of the reasoning came last.
    part: Option<(ReasoningKind, u32)>,
    calls: Vec<ToolCall>,
    refusal: Option<String>,
    usage: Option<TokenUsage>,
}

/// An answer for a person.
struct Page {
    shows_reasoning: bool,
    is_line_open: bool,
    /// Bytes that were shown of the arguments of a call that is still being written.
    streamed: Option<usize>,
}

/// Shows an answer to its end.
///
/// # Errors
/// If it cannot be written; the failure of the turn itself is the `Some`.
pub(super) async fn show(mut turn: Turn, form: Form) -> io::Result<Option<Failure>> {
    let mut whole = Whole::default();
    let shows_reasoning = console::stdout().is_terminal();
    let mut page = Page { shows_reasoning, is_line_open: false, streamed: None };
    let mut next = progress::during("Waiting for the model", turn.next()).await;
    while let Some(event) = next {
        match form {
            Form::Text => page.show(&event)?,
            Form::Json => {}
            Form::Raw => {
                let line = serde_json::to_string(&event).map_err(io::Error::from)?;
                writeln!(console::stdout(), "{line}")?;
            }
        }
        let end = match event {
            TurnEvent::End(end) => Some(Ok(end)),
            TurnEvent::Failed(failure) => Some(Err(failure)),
            event => {
                whole.add(event);
                None
            }
        };
        if let Some(end) = end {
            if form == Form::Json {
                writeln!(console::stdout(), "{:#}", whole.to_json(&end))?;
            }
            return Ok(end.err());
        }
        next = turn.next().await;
    }
    // Every turn has a last event.
    Err(io::ErrorKind::UnexpectedEof.into())
}

// === impl Form ===

impl Form {
    pub(super) fn of(question: &Question) -> Self {
        match (question.json, question.raw) {
            (true, _) => Self::Json,
            (_, true) => Self::Raw,
            (false, false) => Self::Text,
        }
    }
}

// === impl Page ===

impl Page {
    /// Text goes to standard output as it comes; reasoning is for people at a terminal.
    fn show(&mut self, event: &TurnEvent) -> io::Result<()> {
        let out = console::stdout();
        match event {
            TurnEvent::Text(text) => {
                self.is_line_open = !text.ends_with('\n');
                write!(out, "{text}")?;
            }
            TurnEvent::Reasoning { text, .. } if self.shows_reasoning => {
                self.is_line_open = !text.ends_with('\n');
                out.write_styled(REASONING, text)?;
            }
            TurnEvent::ToolCallStart { name, .. } => self.open_call(&name.to_string())?,
            TurnEvent::ToolCallArguments(text) => {
                self.streamed = self.streamed.map(|bytes| bytes + text.len());
                write!(out, "{text}")?;
            }
            TurnEvent::ToolCall(call) => {
                if self.streamed.is_none() {
                    self.open_call(&call.name.to_string())?;
                }
                let rest = call.arguments.get(self.streamed.take().unwrap_or_default()..);
                self.is_line_open = false;
                writeln!(console::stdout(), "{}", rest.unwrap_or_default())?;
            }
            TurnEvent::Refusal(text) => {
                self.close_line()?;
                self.is_line_open = true;
                write!(out, "{text}")?;
            }
            TurnEvent::MessageStart { .. } | TurnEvent::End(_) | TurnEvent::Failed(_) => {
                self.close_line()?;
            }
            TurnEvent::Reasoning { .. } | TurnEvent::ReasoningItem(_) => {}
            TurnEvent::ResponseEnd { usage, .. } => {
                if let Some(usage) = usage {
                    tracing::info!(?usage, "the response has ended");
                }
            }
        }
        out.flush()
    }

    fn open_call(&mut self, name: &str) -> io::Result<()> {
        self.close_line()?;
        self.is_line_open = true;
        self.streamed = Some(0);
        let out = console::stdout();
        write!(out, "→ ")?;
        out.write_styled(CALL, name)?;
        write!(out, " ")
    }

    fn close_line(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.is_line_open) {
            writeln!(console::stdout())?;
        }
        Ok(())
    }
}

// === impl Whole ===

impl Whole {
    fn add(&mut self, event: TurnEvent) {
        match event {
            TurnEvent::Text(text) => self.text += &text,
            TurnEvent::MessageStart { .. } => open_paragraph(&mut self.text),
            TurnEvent::Reasoning { kind, part, text } => {
                if self.part.replace((kind, part)) != Some((kind, part)) {
                    open_paragraph(&mut self.reasoning);
                }
                self.reasoning += &text;
            }
            TurnEvent::ToolCall(call) => self.calls.push(call),
            TurnEvent::Refusal(text) => self.refusal = Some(text),
            TurnEvent::ResponseEnd { usage, .. } => self.usage = usage,
            TurnEvent::ReasoningItem(_) => self.part = None,
            TurnEvent::ToolCallStart { .. }
            | TurnEvent::ToolCallArguments(_)
            | TurnEvent::End(_)
            | TurnEvent::Failed(_) => {}
        }
    }

    fn to_json(&self, end: &Result<TurnEnd, Failure>) -> Value {
        let call = |call: &ToolCall| json!({"id": call.call_id, "name": call.name.to_string(), "arguments": call.arguments});
        let usage = self.usage.map(|usage| {
            json!({
                "input_tokens": usage.input_tokens,
                "cached_input_tokens": usage.cached_input_tokens,
                "output_tokens": usage.output_tokens,
                "reasoning_output_tokens": usage.reasoning_output_tokens,
                "total_tokens": usage.total_tokens,
            })
        });
        let (end, failure) = match end {
            Ok(TurnEnd::Completed) => ("completed", None),
            Ok(TurnEnd::ToolCalls) => ("tool_calls", None),
            Ok(TurnEnd::Interrupted) => ("interrupted", None),
            Err(failure) => ("failed", Some(&failure.message)),
        };
        json!({
            "text": self.text,
            "refusal": self.refusal,
            "reasoning": self.reasoning,
            "tool_calls": self.calls.iter().map(call).collect::<Vec<_>>(),
            "usage": usage,
            "end": end,
            "failure": failure,
        })
    }
}

/// Between two messages, or two parts of the reasoning.
fn open_paragraph(text: &mut String) {
    if !text.is_empty() {
        text.push_str("\n\n");
    }
}
