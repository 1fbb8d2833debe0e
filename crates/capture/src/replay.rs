//! A record, played again through the same [`Answer`] that it was recorded from.

mod inputs;
mod seen;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bridge::{
    Answer, AnswerOptions, ChatHead, ChatMessage, ChatStream, Collected, EndReason, Input, Output,
    ResponseItems, Want, api_error,
};

use crate::record::{Header, Record, Told, What};
use crate::report::Report;
use inputs::Inputs;
use seen::Seen;

/// What a replay has brought.
#[derive(Debug, Clone, PartialEq)]
pub struct Replayed {
    /// What a client would get.
    pub told: Told,
    /// What became of each choice.
    pub reports: Vec<Report>,
    /// What each choice has.
    pub choices: Vec<Collected>,
}

/// How a replay compares with what was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is the same, to the byte.
    Same,
    /// It is the same as far as the client has taken it, or as far as the record goes.
    SameSoFar {
        /// Bytes that were not taken, or not recorded.
        missing: usize,
    },
    /// The answer is another one.
    OtherAnswer {
        /// The first byte that differs.
        at: usize,
    },
    /// The answer is the same, but not what is reported about it.
    OtherReport,
}

// === impl Record ===

impl Record {
    /// Plays it again. `origin` is when its turns begin; any time will do.
    pub fn replay(&self, origin: Instant) -> Replayed {
        let Header { stream, policy, .. } = &self.header;
        let inputs = Arc::new(Inputs::of(self));
        if let Some(response) = &self.header.response {
            let (writer, encrypted) = (response.writer(&self.header), response.encrypted());
            let ids = Inputs::item_ids(&inputs);
            return self.play(ResponseItems::new(writer, encrypted, ids, *stream), &inputs, origin);
        }
        let head = ChatHead {
            id: &self.header.id,
            created: self.header.created,
            model: &self.header.model,
            choices: self.header.choices,
            include_usage: self.header.include_usage,
        };
        if *stream {
            self.play(ChatStream::new(&head, policy.shape), &inputs, origin)
        } else {
            self.play(ChatMessage::new(&head, policy.mode, policy.shape), &inputs, origin)
        }
    }

    fn play<O: Output>(&self, output: O, inputs: &Arc<Inputs>, origin: Instant) -> Replayed {
        let Header { policy, choices, stream, include_usage, .. } = &self.header;
        let options = AnswerOptions {
            policy: Arc::new(policy.clone()),
            choices: *choices,
            stream: *stream,
            // Every response has them, whatever older records say.
            include_usage: *include_usage || self.header.response.is_some(),
            // It was recorded when comments were sent.
            keep_alive: None,
            tokenizer: Some(Inputs::tokenizer(inputs)),
            id_suffix: Inputs::suffixes(inputs),
        };
        let mut answer = Answer::new(Seen::new(output, *choices), options, origin);
        for (at, input) in self.inputs() {
            answer.step(input, origin + Duration::from_micros(at));
        }
        if answer.wants() == Want::Events {
            // It was recorded to here, or it ends later under another setting.
            let choices = &answer.output().choices;
            let open = choices.iter().position(|choice| choice.finish.is_none()).unwrap_or(0);
            let report = self.reports().get(open);
            let reason = report.map_or(EndReason::Failed, |report| report.stop_reason);
            answer.step(Input::Abandon(reason), origin);
        }
        let bytes = answer.take_bytes(origin);
        let text = || String::from_utf8_lossy(&bytes).into_owned();
        let told = match answer.refusal().map(api_error) {
            Some(error) => Told::Whole { status: error.status, body: error.to_json() },
            None if *stream => Told::Stream(text()),
            None if bytes.is_empty() => Told::Nothing,
            None => Told::Whole { status: 200, body: text() },
        };
        Replayed {
            told,
            reports: answer.reports().iter().map(Report::from).collect(),
            choices: answer.into_output().choices,
        }
    }

    /// The inputs of the answer, in order. An answer ignores those that come too late.
    fn inputs(&self) -> impl Iterator<Item = (u64, Input)> {
        let last = self.entries.last().map_or(0, |entry| entry.at);
        let recorded =
            self.entries.iter().filter_map(|entry| Some((entry.at, entry.what.input()?)));
        recorded.chain(self.ending().map(move |input| (last, input)))
    }

    /// What followed once the turns were over. In records of 0.1 only a report says that it was cancelled.
    fn ending(&self) -> impl Iterator<Item = Input> {
        let mut usage = None;
        let (mut at, mut stored) = (self.header.created, false);
        for entry in &self.entries {
            match entry.what {
                What::Usage(counts) => usage = Some(counts),
                What::Closed { completed_at, kept } => {
                    (at, stored) = (completed_at.unwrap_or(at), kept);
                }
                _ => {}
            }
        }
        let mut reports = self.reports().iter();
        let cancelled = reports.any(|report| report.stop_reason == EndReason::Cancelled);
        let end = [Input::Settle { usage, at }, Input::Stored(stored)];
        cancelled.then_some(Input::Cancel).into_iter().chain(end)
    }

    /// Compares a replay with what was recorded.
    pub fn compare(&self, replayed: &Replayed) -> Verdict {
        let recorded = self.told();
        let (ours, theirs) = (recorded.text(), replayed.told.text());
        let same = ours.bytes().zip(theirs.bytes()).take_while(|(a, b)| a == b).count();
        // A part is as good as the whole only where it is known why there is no more.
        let may_be_part = self.is_cut() || self.client_left();
        if recorded != replayed.told && !(may_be_part && self.begins(replayed)) {
            return Verdict::OtherAnswer { at: same };
        }
        if !self.is_cut() && self.reports() != replayed.reports {
            return Verdict::OtherReport;
        }
        match theirs.len() - same {
            0 if !self.is_cut() => Verdict::Same,
            missing => Verdict::SameSoFar { missing },
        }
    }

    /// Whether what was recorded is a replay's answer, or its beginning.
    pub(crate) fn begins(&self, replayed: &Replayed) -> bool {
        let recorded = self.told();
        let is_start = || replayed.told.text().starts_with(recorded.text());
        recorded == replayed.told || (self.is_open(&recorded) && is_start())
    }
}

// === impl What ===

impl What {
    /// An input as it is recorded. `settled_at` is the time of [`Input::Settle`], which is recorded when
    /// it is also known whether the answer is stored.
    pub fn of(input: &Input, settled_at: u64) -> Option<Self> {
        Some(match input {
            Input::Event { choice, event } => Self::Event { choice: *choice, event: event.clone() },
            Input::Deadline { choice } => Self::Clock { choice: *choice },
            Input::Head => Self::Head {},
            Input::Silence => Self::KeepAlive {},
            Input::Cancel => Self::Cancel {},
            Input::Abandon(reason) => Self::Abandon(*reason),
            Input::Settle { usage, .. } => Self::Usage((*usage)?),
            Input::Stored(kept) => Self::Closed { completed_at: Some(settled_at), kept: *kept },
        })
    }

    /// The input that was recorded as this, while the turns ran.
    fn input(&self) -> Option<Input> {
        Some(match self {
            Self::Event { choice, event } => Input::Event { choice: *choice, event: event.clone() },
            Self::Clock { choice } => Input::Deadline { choice: *choice },
            Self::Head {} => Input::Head,
            Self::KeepAlive {} => Input::Silence,
            Self::Cancel {} => Input::Cancel,
            Self::Abandon(reason) => Input::Abandon(*reason),
            Self::Usage(_)
            | Self::Closed { .. }
            | Self::Suffix(_)
            | Self::Tokens(_)
            | Self::Sent(_)
            | Self::Answer { .. }
            | Self::Cut { .. }
            | Self::End(_) => return None,
        })
    }
}

#[cfg(test)]
mod tests;
