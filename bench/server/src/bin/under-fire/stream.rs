//! A stream, read as strictly as the strictest client does, frame by frame as it comes.

use std::borrow::Cow;

use serde::Deserialize;

use crate::errors::{ErrorBody, Place};
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

/// What is asked of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Terms<'a> {
    pub(crate) model: &'a str,
    pub(crate) choices: usize,
    pub(crate) usage: bool,
}

/// A stream that is being read.
pub(crate) struct StreamCheck<'a> {
    terms: Terms<'a>,
    choices: Vec<ChoiceCheck<'a>>,
    /// A frame that is not complete.
    begun: Vec<u8>,
    /// Of the first frame, and so of all.
    envelope: Option<(String, u64)>,
    stage: Stage,
    failed: Option<String>,
    telemetry: Telemetry,
}

struct ChoiceCheck<'a> {
    progress: Progress<'a>,
    has_role: bool,
    finish: Option<String>,
}

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Speaking,
    Telemetry,
    Usage,
    DoneMark,
    Done,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Chunk<'a> {
    id: &'a str,
    object: &'a str,
    created: u64,
    model: &'a str,
    #[serde(borrow)]
    choices: Vec<ChunkChoice<'a>>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChunkChoice<'a> {
    index: usize,
    #[serde(borrow)]
    delta: Delta<'a>,
    finish_reason: Option<&'a str>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Delta<'a> {
    role: Option<&'a str>,
    #[serde(borrow)]
    content: Option<Cow<'a, str>>,
    #[serde(borrow)]
    reasoning_content: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tool_calls: Option<Vec<CallDelta<'a>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallDelta<'a> {
    index: usize,
    /// With the first frame of a call, as the type and the name.
    id: Option<&'a str>,
    r#type: Option<&'a str>,
    #[serde(borrow)]
    function: Function<'a>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Function<'a> {
    name: Option<&'a str>,
    #[serde(borrow)]
    arguments: Cow<'a, str>,
}

/// The token counts, which must add up.
#[derive(Debug, Deserialize)]
#[expect(clippy::struct_field_names, reason = "as on the wire")]
pub(crate) struct Usage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Telemetry {
    tool_call_count: usize,
    tool_call_truncated: bool,
    stop_after_tools_mode: String,
    #[serde(default)]
    per_choice: Vec<CallTelemetry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CallTelemetry {
    tool_call_count: usize,
    tool_call_truncated: bool,
}

// === impl StreamCheck ===

impl<'a> StreamCheck<'a> {
    pub(crate) fn new(expected: &'a Expected, terms: Terms<'a>) -> Self {
        let choice =
            || ChoiceCheck { progress: expected.progress(), has_role: false, finish: None };
        Self {
            terms,
            choices: std::iter::repeat_with(choice).take(terms.choices).collect(),
            begun: Vec::new(),
            envelope: None,
            stage: Stage::Speaking,
            failed: None,
            telemetry: Telemetry::default(),
        }
    }

    /// Takes bytes as they come.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<(), String> {
        let mut received = std::mem::take(&mut self.begun);
        received.extend_from_slice(bytes);
        let mut rest = received.as_slice();
        while let Some(end) = memchr::memmem::find(rest, b"\n\n") {
            let frame = std::str::from_utf8(&rest[..end]).map_err(|error| error.to_string())?;
            self.frame(frame).map_err(|wrong| format!("{wrong}; in {}", start_of(frame)))?;
            rest = &rest[end + 2..];
        }
        self.begun = rest.to_vec();
        Ok(())
    }

    /// The body has come to its end.
    pub(crate) fn finish(self) -> Result<Said, String> {
        if self.stage != Stage::Done || !self.begun.is_empty() {
            return Err(format!("the stream ends where {:?} is due", self.stage));
        }
        if let Some(code) = self.failed {
            return Ok(Said::Failed { code });
        }
        let truncated = self.telemetry.tool_call_truncated;
        for (index, choice) in self.choices.iter().enumerate() {
            let of_choice = self.telemetry.per_choice.get(index);
            choice.check_end(of_choice.map_or(truncated, |told| told.tool_call_truncated))?;
        }
        let calls = self.telemetry.tool_call_count;
        Ok(if truncated { Said::Truncated { calls } } else { Said::Whole { calls } })
    }

    fn frame(&mut self, frame: &str) -> Result<(), String> {
        if frame.contains('\n') {
            return Err("a frame of several lines".to_owned());
        }
        if let Some(comment) = frame.strip_prefix(": ") {
            return self.comment(comment);
        }
        let data = frame.strip_prefix("data: ").ok_or("neither data nor a comment")?;
        match self.stage {
            Stage::Speaking if data.starts_with(r#"{"error":"#) => {
                let error: ErrorBody = read(data)?;
                self.failed = Some(error.check(Place::Stream)?);
                self.stage = Stage::Telemetry;
                Ok(())
            }
            Stage::Speaking => self.chunk(&read(data)?),
            Stage::Usage => self.usage(&read(data)?),
            Stage::DoneMark if data == "[DONE]" => {
                self.stage = Stage::Done;
                Ok(())
            }
            Stage::Telemetry | Stage::DoneMark | Stage::Done => {
                Err(format!("data where {:?} is due", self.stage))
            }
        }
    }

    fn comment(&mut self, comment: &str) -> Result<(), String> {
        match self.stage {
            Stage::Speaking if comment == "keep-alive" => Ok(()),
            Stage::Telemetry => {
                self.telemetry = read(comment)?;
                self.check_telemetry()?;
                let has_usage = self.terms.usage && self.failed.is_none();
                self.stage = if has_usage { Stage::Usage } else { Stage::DoneMark };
                Ok(())
            }
            stage => Err(format!("a comment where {stage:?} is due")),
        }
    }

    fn check_telemetry(&self) -> Result<(), String> {
        let Telemetry { tool_call_count, stop_after_tools_mode, per_choice, .. } = &self.telemetry;
        let seen: Vec<usize> = self.choices.iter().map(|choice| choice.progress.calls).collect();
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

    fn chunk(&mut self, chunk: &Chunk<'_>) -> Result<(), String> {
        self.check_envelope(chunk)?;
        let [choice] = &chunk.choices[..] else { return Err("not one choice".to_owned()) };
        let of = self.choices.get_mut(choice.index).ok_or("a choice that nobody asked for")?;
        of.take(choice)?;
        if self.choices.iter().all(|choice| choice.finish.is_some()) {
            self.stage = Stage::Telemetry;
        }
        Ok(())
    }

    fn usage(&mut self, chunk: &Chunk<'_>) -> Result<(), String> {
        self.check_envelope(chunk)?;
        let usage = chunk.usage.as_ref().ok_or("no usage")?;
        if !chunk.choices.is_empty() {
            return Err("a choice beside the usage".to_owned());
        }
        usage.check()?;
        self.stage = Stage::DoneMark;
        Ok(())
    }

    fn check_envelope(&mut self, chunk: &Chunk<'_>) -> Result<(), String> {
        let Chunk { id, object, created, model, usage, .. } = chunk;
        let first = self.envelope.get_or_insert_with(|| ((*id).to_owned(), *created));
        let is_same = first.0 == *id && first.1 == *created && id.starts_with("chatcmpl-");
        if !is_same || *object != "chat.completion.chunk" || *model != self.terms.model {
            return Err("another envelope".to_owned());
        }
        if usage.is_some() && self.stage != Stage::Usage {
            return Err("usage too early".to_owned());
        }
        Ok(())
    }
}

// === impl ChoiceCheck ===

impl ChoiceCheck<'_> {
    fn take(&mut self, choice: &ChunkChoice<'_>) -> Result<(), String> {
        if self.finish.is_some() {
            return Err("something behind the finish frame".to_owned());
        }
        let Delta { role, content, reasoning_content, tool_calls } = &choice.delta;
        match (role, content, reasoning_content, tool_calls, choice.finish_reason) {
            (Some("assistant"), Some(content), None, None, None)
                if !self.has_role && content.is_empty() =>
            {
                self.has_role = true;
                Ok(())
            }
            _ if !self.has_role => Err("no role before it".to_owned()),
            (None, Some(content), None, None, None) if !content.is_empty() => {
                self.progress.take_text(content)
            }
            (None, None, Some(reasoning), None, None) if !reasoning.is_empty() => {
                self.progress.take_reasoning(reasoning)
            }
            (None, None, None, Some(calls), None) => self.call(choice.index, calls),
            (None, None, None, None, Some(reason)) => {
                self.finish = Some(reason.to_owned());
                Ok(())
            }
            _ => Err("a frame that is neither text nor reasoning nor a call nor an end".to_owned()),
        }
    }

    fn call(&mut self, choice: usize, calls: &[CallDelta<'_>]) -> Result<(), String> {
        let [call] = calls else { return Err("not one call".to_owned()) };
        let due = self.progress.calls;
        let prefix = format!("tool_{choice}_{due}_");
        let Function { name, arguments } = &call.function;
        let is_right = match (call.id, call.r#type, name) {
            (Some(id), Some("function"), Some(_)) => id.starts_with(&prefix),
            (None, None, None) => true,
            _ => false,
        };
        if call.index != due || !is_right {
            return Err(format!("call {} where {due} is due", call.index));
        }
        self.progress.take_call(*name, arguments)
    }

    /// Only a choice that says so may lack anything, and only behind a whole call.
    fn check_end(&self, truncated: bool) -> Result<(), String> {
        let calls = self.progress.calls;
        let due = if calls > 0 { "tool_calls" } else { "stop" };
        if self.finish.as_deref() != Some(due) {
            return Err(format!("it ends as {:?} with {calls} calls", self.finish));
        }
        if self.progress.is_torn() {
            return Err("it ends well with half a block".to_owned());
        }
        match self.progress.missing() {
            Some(missing) if !truncated => Err(format!("it ends as whole, but {missing}")),
            _ if truncated && calls == 0 => Err("it is truncated, and has no call".to_owned()),
            _ => Ok(()),
        }
    }
}

// === impl Usage ===

impl Usage {
    pub(crate) fn check(&self) -> Result<(), String> {
        let Self { prompt_tokens, completion_tokens, total_tokens } = self;
        let adds_up = prompt_tokens + completion_tokens == *total_tokens;
        if adds_up && *prompt_tokens > 0 { Ok(()) } else { Err(format!("{self:?}")) }
    }
}

fn read<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, String> {
    serde_json::from_str(json).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
