//! A record, played again through the same [`Answer`] that it was recorded from.

mod inputs;
mod seen;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bridge::{
    Answer, AnswerOptions, ChatHead, ChatMessage, ChatStream, Collected, EndReason, Input, Output,
    ResponseItems, Want, api_error,
};

use crate::record::{Api, Entry, Header, Received, Record, What};
use crate::report::Report;
use inputs::Inputs;
use seen::Seen;

/// What a replay has brought.
#[derive(Debug, Clone, PartialEq)]
pub struct Replayed {
    /// What a client would get.
    pub received: Received,
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
        let Header { api, stream, policy, .. } = &self.header;
        let inputs = Arc::new(Inputs::of(self));
        let head = ChatHead {
            id: &self.header.id,
            created: self.header.created,
            model: &self.header.model,
            choices: self.header.choices,
            include_usage: self.header.include_usage,
        };
        match api {
            Api::Chat if *stream => {
                self.play(ChatStream::new(&head, policy.shape), &inputs, origin)
            }
            Api::Chat => {
                self.play(ChatMessage::new(&head, policy.mode, policy.shape), &inputs, origin)
            }
            Api::Responses { response } => {
                let (writer, encrypted) = (response.writer(&self.header), response.encrypted());
                let ids = Inputs::item_ids(&inputs);
                self.play(ResponseItems::new(writer, encrypted, ids, *stream), &inputs, origin)
            }
        }
    }

    fn play<O: Output>(&self, output: O, inputs: &Arc<Inputs>, origin: Instant) -> Replayed {
        let Header { policy, choices, stream, .. } = &self.header;
        let options = AnswerOptions {
            policy: Arc::new(policy.clone()),
            choices: *choices,
            stream: *stream,
            // It was recorded when comments were sent.
            keep_alive: None,
            tokenizer: Some(Inputs::tokenizer(inputs)),
            id_suffix: Inputs::suffixes(inputs),
        };
        let mut answer = Answer::new(Seen::new(output, *choices), options, origin);
        for Entry { at, what } in &self.entries {
            if let Some(input) = what.input() {
                answer.step(input, origin + Duration::from_micros(*at));
            }
        }
        // It was recorded to here, or it ends later under another setting.
        while let Some(input) = self.missing_input(&answer) {
            answer.step(input, origin);
        }
        let bytes = answer.take_bytes(origin);
        let text = || String::from_utf8_lossy(&bytes).into_owned();
        let received = match answer.refusal().map(api_error) {
            Some(error) => Received::Whole { status: error.status, body: error.to_json() },
            None if *stream => Received::Stream(text()),
            None if bytes.is_empty() => Received::Nothing,
            None => Received::Whole { status: 200, body: text() },
        };
        Replayed {
            received,
            reports: answer.reports().iter().map(Report::from).collect(),
            choices: answer.into_output().choices,
        }
    }

    /// An input that the rest of an answer needs, where the record has none.
    fn missing_input<O: Output>(&self, answer: &Answer<Seen<O>>) -> Option<Input> {
        match answer.wants() {
            Want::Events => {
                let choices = &answer.output().choices;
                let open = choices.iter().position(|choice| choice.finish.is_none()).unwrap_or(0);
                let report = self.reports().get(open);
                let reason = report.map_or(EndReason::Failed, |report| report.stop_reason);
                Some(Input::Abandon(reason))
            }
            Want::Settlement => Some(Input::Settle { usage: None, at: self.header.created }),
            Want::Storage => Some(Input::Stored(false)),
            Want::Nothing => None,
        }
    }

    /// Compares a replay with what was recorded.
    pub fn compare(&self, replayed: &Replayed) -> Verdict {
        let recorded = self.received();
        let (ours, theirs) = (recorded.text(), replayed.received.text());
        let same = ours.bytes().zip(theirs.bytes()).take_while(|(a, b)| a == b).count();
        // A part is as good as the whole only where it is known why there is no more.
        let may_be_part = self.is_cut() || self.client_left();
        if recorded != replayed.received && !(may_be_part && self.begins(replayed)) {
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
        match self.received() {
            Received::Stream(frames) => replayed.received.text().starts_with(&frames),
            Received::Nothing => true,
            whole @ Received::Whole { .. } => whole == replayed.received,
        }
    }
}

// === impl What ===

impl What {
    /// An input as it is recorded.
    pub fn of(input: &Input) -> Self {
        match input {
            Input::Event { choice, event } => Self::Event { choice: *choice, event: event.clone() },
            Input::Deadline { choice } => Self::Clock { choice: *choice },
            Input::Head => Self::Head {},
            Input::Silence => Self::KeepAlive {},
            Input::Cancel => Self::Cancel {},
            Input::Abandon(reason) => Self::Abandon(*reason),
            Input::Settle { usage, at } => Self::Settle { usage: *usage, at: *at },
            Input::Stored(stored) => Self::Stored(*stored),
        }
    }

    /// The input that was recorded as this.
    fn input(&self) -> Option<Input> {
        Some(match self {
            Self::Event { choice, event } => Input::Event { choice: *choice, event: event.clone() },
            Self::Clock { choice } => Input::Deadline { choice: *choice },
            Self::Head {} => Input::Head,
            Self::KeepAlive {} => Input::Silence,
            Self::Cancel {} => Input::Cancel,
            Self::Abandon(reason) => Input::Abandon(*reason),
            Self::Settle { usage, at } => Input::Settle { usage: *usage, at: *at },
            Self::Stored(stored) => Input::Stored(*stored),
            Self::Suffix(_)
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
