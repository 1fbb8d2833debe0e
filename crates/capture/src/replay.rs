//! A record, played again through the bridge.

mod chat;
mod inputs;
mod response;
mod seen;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bridge::{Answer, ChoiceReport, EndReason, Ended, Reply, TurnPolicy, api_error};
use codex_app_server::Failure;
use openai_wire::{ApiError, Usage};

use crate::record::{Record, Told, What};
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
    inputs: Arc<Inputs>,
    replies: Vec<Reply>,
    /// Choices that have not ended.
    open: usize,
    failure: Option<Failure>,
    /// When the turns are started.
    origin: Instant,
}

/// What has become of the events.
struct Played {
    /// Whether the head of a stream was made.
    head_sent: bool,
    ending: Ending,
    reports: Vec<ChoiceReport>,
}

/// How an answer ends.
enum Ending {
    /// It does not: the client has left, or the record says no more.
    Open,
    Done,
    /// Somebody has ended it who is not its client.
    Cancelled,
    Failed(ApiError),
}

/// Into the silence.
const KEEP_ALIVE: &str = "keep-alive";

// === impl Record ===

impl Record {
    /// Plays it again. `origin` is when its turns begin; any time will do.
    pub fn replay(&self, origin: Instant) -> Replayed {
        let player = Player::new(self, origin);
        match &self.header.response {
            Some(response) => response::respond(response, player),
            None if self.header.stream => chat::stream(player),
            None => chat::collect(player),
        }
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

    fn was_cancelled(&self) -> bool {
        self.reports().iter().any(|report| report.stop_reason == EndReason::Cancelled)
    }

    fn usage(&self) -> Option<Usage> {
        self.entries.iter().find_map(|entry| match entry.what {
            What::Usage(usage) => Some(usage),
            _ => None,
        })
    }
}

// === impl Replayed ===

impl Replayed {
    fn new(told: Told, reports: &[ChoiceReport], choices: Vec<Choice>) -> Self {
        Self { told, reports: reports.iter().map(Report::from).collect(), choices }
    }

    /// The client is told this instead of an answer.
    fn failed(error: &ApiError, reports: &[ChoiceReport], choices: Vec<Choice>) -> Self {
        let told = Told::Whole { status: error.status, body: error.to_json() };
        Self::new(told, reports, choices)
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
        Self { record, inputs, open: replies.len(), replies, failure: None, origin }
    }

    /// Plays everything that happened. `keep_alive` tells the client that there is somebody.
    fn play<A: Answer>(mut self, answer: &mut Seen<A>, keep_alive: impl Fn(&mut A)) -> Played {
        let mut head_sent = false;
        for entry in &self.record.entries {
            match entry.what {
                What::Head {} => head_sent = true,
                What::KeepAlive {} => keep_alive(&mut answer.answer),
                _ => self.step(entry.at, &entry.what, answer),
            }
            if self.has_ended() {
                break;
            }
        }
        let ending = match self.failure.take() {
            Some(failure) => Ending::Failed(api_error(&failure)),
            None if self.open == 0 => Ending::Done,
            None if self.record.was_cancelled() => Ending::Cancelled,
            None => Ending::Open,
        };
        Played { head_sent, ending, reports: self.conclude() }
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
}

#[cfg(test)]
mod tests;
