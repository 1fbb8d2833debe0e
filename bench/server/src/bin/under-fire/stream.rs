//! A stream, compared piece by piece with what is due, as it comes.

use conformance::reading::{Call, CallKind, ChatStream, Piece, Strict, Telemetry, Terms};

use crate::errors::{Place, check_error};
use crate::expected::{Expected, Progress, start_of};

/// What an answer has said of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said {
    /// Everything, exactly as it was to be.
    Whole { calls: usize },
    /// Whole calls, and that something is missing behind them.
    Truncated { calls: usize },
    /// That it failed.
    Failed { code: String },
}

/// A stream that is being read.
pub(crate) struct StreamCheck<'a> {
    stream: ChatStream<Strict>,
    choices: Vec<Progress<'a>>,
    failed: Option<String>,
    telemetry: Telemetry,
}

// === impl StreamCheck ===

impl<'a> StreamCheck<'a> {
    pub(crate) fn new(expected: &'a Expected, terms: Terms) -> Self {
        let choices = terms.choices.unwrap_or_default();
        Self {
            stream: ChatStream::new(terms, Strict::default()),
            choices: std::iter::repeat_with(|| expected.progress()).take(choices).collect(),
            failed: None,
            telemetry: Telemetry::default(),
        }
    }

    /// Takes bytes as they come.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<(), String> {
        let pieces = self.stream.take(bytes);
        self.stream.outcome().map_err(|fault| fault.shortened().to_string())?;
        for piece in pieces {
            let shown = start_of(&piece);
            self.take_piece(piece).map_err(|wrong| format!("{wrong}; in {shown}"))?;
        }
        Ok(())
    }

    /// The body has come to its end.
    pub(crate) fn finish(self) -> Result<Said, String> {
        let completion = self.stream.finish().map_err(|fault| fault.shortened().to_string())?;
        if let Some(code) = self.failed {
            return Ok(Said::Failed { code });
        }
        if let Some(usage) = &completion.usage {
            check_usage(usage)?;
        }
        let truncated = self.telemetry.tool_call_truncated;
        for (index, (progress, choice)) in self.choices.iter().zip(&completion.choices).enumerate()
        {
            let of_choice = self.telemetry.per_choice.get(index);
            let truncated = of_choice.map_or(truncated, |told| told.tool_call_truncated);
            check_end(progress, choice.finish.as_deref(), truncated)?;
        }
        let calls = self.telemetry.tool_call_count;
        Ok(if truncated { Said::Truncated { calls } } else { Said::Whole { calls } })
    }

    fn take_piece(&mut self, piece: Piece) -> Result<(), String> {
        match piece {
            Piece::Text(choice, text) => self.progress(choice)?.take_text(&text),
            Piece::Reasoning(choice, text) => self.progress(choice)?.take_reasoning(&text),
            Piece::Call { choice, index, begun, arguments } => {
                let progress = self.progress(choice)?;
                let due = progress.calls;
                let prefix = format!("tool_{choice}_{due}_");
                let is_right =
                    |call: &Call| call.kind == CallKind::Function && call.id.starts_with(&prefix);
                if index != due || !begun.as_ref().is_none_or(is_right) {
                    return Err(format!("call {index} where {due} is due"));
                }
                progress.take_call(begun.as_ref().map(|call| call.name.as_str()), &arguments)
            }
            Piece::Error(error) => {
                self.failed = Some(check_error(&error, Place::Stream)?);
                Ok(())
            }
            Piece::Telemetry(telemetry) => {
                self.telemetry = telemetry;
                self.check_telemetry()
            }
            Piece::Finish(..) => Ok(()),
            Piece::Refusal(..) => Err("a refusal".to_owned()),
        }
    }

    fn progress(&mut self, choice: u64) -> Result<&mut Progress<'a>, String> {
        let choice = usize::try_from(choice).ok().and_then(|at| self.choices.get_mut(at));
        choice.ok_or_else(|| "a choice that was not asked for".to_owned())
    }

    fn check_telemetry(&self) -> Result<(), String> {
        let Telemetry { tool_call_count, stop_after_tools_mode, per_choice, .. } = &self.telemetry;
        let seen: Vec<usize> = self.choices.iter().map(|progress| progress.calls).collect();
        let told: Vec<usize> = match seen[..] {
            [_] => vec![*tool_call_count],
            _ => per_choice.iter().map(|choice| choice.tool_call_count).collect(),
        };
        let sum: usize = seen.iter().sum();
        if seen != told || sum != *tool_call_count || stop_after_tools_mode != "burst" {
            return Err(format!("{seen:?} calls were sent"));
        }
        Ok(())
    }
}

/// Only a choice that says so may lack anything, and only behind a whole call.
fn check_end(progress: &Progress<'_>, finish: Option<&str>, truncated: bool) -> Result<(), String> {
    let calls = progress.calls;
    let due = if calls > 0 { "tool_calls" } else { "stop" };
    if finish != Some(due) {
        return Err(format!("it ends as {finish:?} with {calls} calls"));
    }
    if progress.is_torn() {
        return Err("it ends well with half a block".to_owned());
    }
    match progress.missing() {
        Some(missing) if !truncated => Err(format!("it ends as whole, but {missing}")),
        _ if truncated && calls == 0 => Err("it is truncated, and has no call".to_owned()),
        _ => Ok(()),
    }
}

/// The counts add up, as the reader has seen, and something was asked.
pub(crate) fn check_usage(usage: &serde_json::Value) -> Result<(), String> {
    let is_asked = usage["prompt_tokens"].as_u64().is_some_and(|tokens| tokens > 0);
    if is_asked { Ok(()) } else { Err(format!("usage {usage}")) }
}

#[cfg(test)]
mod tests;
