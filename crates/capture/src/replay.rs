//! A record, played again through the bridge.

mod inputs;
mod seen;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bridge::{
    Answer, ChoiceReport, Collected, EndReason, Ended, Frames, Reply, TurnPolicy, api_error,
};
use codex_app_server::Failure;
use openai_wire::chat::completion::ChatCompletion;
use openai_wire::chat::stream::{ChunkWriter, UsageFrame, done, error_frame};
use openai_wire::{Usage, comment};

use crate::record::{Header, Record, Told, What};
use crate::report::Report;
use inputs::Inputs;
use seen::Seen;
pub use seen::{Call, Choice};

/// What a replay has brought.
#[derive(Debug, Clone, PartialEq)]
pub struct Replayed {
    /// What a client would be told.
    pub told: Told,
    /// What became of each choice.
    pub reports: Vec<Report>,
    /// What each choice says.
    pub choices: Vec<Choice>,
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
    /// The answer is the same, but not what is told about it.
    OtherReport,
}

/// The choices of an answer while it is played.
struct Player<'r> {
    record: &'r Record,
    replies: Vec<Reply>,
    /// Choices that have not ended.
    open: usize,
    failure: Option<Failure>,
    /// When the turns are started.
    origin: Instant,
}

// === impl Record ===

impl Record {
    /// Plays it again. `origin` is when its turns begin; any time will do.
    pub fn replay(&self, origin: Instant) -> Replayed {
        let mut player = Player::new(self, origin);
        if self.header.stream { player.stream() } else { player.collect() }
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
        recorded == replayed.told || (recorded.is_open() && is_start())
    }
}

// === impl Replayed ===

impl Replayed {
    fn new(told: Told, reports: &[ChoiceReport], choices: Vec<Choice>) -> Self {
        Self { told, reports: reports.iter().map(Report::from).collect(), choices }
    }
}

// === impl Player ===

impl<'r> Player<'r> {
    fn new(record: &'r Record, origin: Instant) -> Self {
        let header = &record.header;
        let policy = Arc::new(TurnPolicy::from(&header.policy));
        let inputs = Arc::new(Inputs::of(record));
        let reply = |choice| {
            let tokenizer = Some(Inputs::tokenizer(&inputs));
            Reply::new(Arc::clone(&policy), choice, tokenizer, Inputs::suffixes(&inputs))
        };
        let replies: Vec<_> = (0..header.choices).map(reply).collect();
        Self { record, open: replies.len(), replies, failure: None, origin }
    }

    fn stream(&mut self) -> Replayed {
        let Header { id, created, model, policy, choices, .. } = &self.record.header;
        let policy = TurnPolicy::from(policy);
        let wanted = self.record.header.include_usage;
        let usage = if wanted { UsageFrame::Wanted } else { UsageFrame::Unwanted };
        let writer = ChunkWriter::new(id, *created, model, usage);
        let mut frames = Seen::new(Frames::new(writer, policy.shape, *choices), *choices);
        let nothing_said = frames.answer.buffer.len();
        let mut head_sent = false;
        for entry in &self.record.entries {
            match entry.what {
                What::Head {} => head_sent = true,
                What::KeepAlive {} => comment("keep-alive", &mut frames.answer.buffer),
                _ => self.step(entry.at, &entry.what, &mut frames),
            }
            if self.has_ended() {
                break;
            }
        }
        let ended = self.has_ended();
        let failure = self.failure.take().map(|failure| api_error(&failure));
        let reports = self.conclude();
        let (answer, choices) = frames.into_parts();
        let Frames { writer, mut buffer, .. } = answer;
        if let Some(error) = &failure {
            if !head_sent && buffer.len() == nothing_said {
                let told = Told::Whole { status: error.status, body: error.to_json() };
                return Replayed::new(told, &reports, choices);
            }
            error_frame(error, &mut buffer);
        }
        if ended {
            comment(&bridge::telemetry(&reports, policy.stop_after_tools), &mut buffer);
            if let Some(usage) = self.usage().filter(|_| failure.is_none()) {
                writer.usage(&usage, &mut buffer);
            }
            done(&mut buffer);
        }
        let told = Told::Stream(String::from_utf8_lossy(&buffer).into_owned());
        Replayed::new(told, &reports, choices)
    }

    fn collect(&mut self) -> Replayed {
        let Header { id, created, model, policy, choices, .. } = &self.record.header;
        let policy = TurnPolicy::from(policy);
        let mut message = Seen::new(Collected::new(policy.mode, policy.shape, *choices), *choices);
        for entry in &self.record.entries {
            self.step(entry.at, &entry.what, &mut message);
            if self.has_ended() {
                break;
            }
        }
        let ended = self.has_ended();
        let failure = self.failure.take().map(|failure| api_error(&failure));
        let mut reports = self.conclude();
        let (answer, seen) = message.into_parts();
        let choices = answer.into_choices(&mut reports);
        let told = match failure {
            Some(error) => Told::Whole { status: error.status, body: error.to_json() },
            None if !ended => Told::Nothing,
            None => {
                let completion = ChatCompletion {
                    id,
                    object: "chat.completion",
                    created: *created,
                    model,
                    choices,
                    usage: self.usage().unwrap_or_default(),
                };
                let body = serde_json::to_string(&completion).unwrap_or_default();
                Told::Whole { status: 200, body }
            }
        };
        Replayed::new(told, &reports, seen)
    }

    fn step(&mut self, at: u64, what: &What, answer: &mut impl Answer) {
        let now = self.origin + Duration::from_micros(at);
        let ended = match what {
            What::Event { choice, event } => {
                let Some(reply) = self.replies.get_mut(*choice as usize) else { return };
                answer.choose(*choice);
                reply.on_event(event.clone(), now, answer)
            }
            What::Clock { choice } => {
                let Some(reply) = self.replies.get_mut(*choice as usize) else { return };
                answer.choose(*choice);
                reply.on_time(now, answer)
            }
            _ => None,
        };
        match ended {
            None => {}
            Some(Ended::Failed(failure)) => self.failure = Some(failure),
            Some(Ended::Finished(reason)) => {
                answer.finish(reason);
                self.open -= 1;
            }
        }
    }

    fn has_ended(&self) -> bool {
        self.open == 0 || self.failure.is_some()
    }

    /// What has not ended does so for the reason that was recorded.
    fn conclude(&mut self) -> Vec<ChoiceReport> {
        let recorded = self.record.reports();
        let replies = std::mem::take(&mut self.replies).into_iter().enumerate();
        replies
            .map(|(choice, mut reply)| {
                let reason =
                    recorded.get(choice).map_or(EndReason::Failed, |report| report.stop_reason);
                reply.abandon(reason);
                reply.report()
            })
            .collect()
    }

    fn usage(&self) -> Option<Usage> {
        self.record.entries.iter().find_map(|entry| match entry.what {
            What::Usage(usage) => Some(usage),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests;
