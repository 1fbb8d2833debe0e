//! One answer as a state machine, from the first event of its turns to its last byte.

mod chat_message;
mod chat_stream;
mod collected;
mod input;
mod response_items;
mod telemetry;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use model_turn::Failure;
use openai_wire::Usage;
use tool_call_aggregator::SuffixSource;

pub use chat_message::ChatMessage;
pub use chat_stream::{ChatHead, ChatStream};
pub use collected::Collected;
pub use input::{Input, Milestones, Release, Want};
pub use response_items::ResponseItems;
use telemetry::telemetry;
pub use telemetry::{call_count, is_truncated};

use crate::failure::api_error;
use crate::finish::{ChoiceReport, EndReason};
use crate::output::{AnswerEnd, Output};
use crate::policy::{StopAfterTools, TurnPolicy};
use crate::reply::{Ended, Reply, Tokenizer};

/// Frames that are ready together leave together, up to about this size.
const FULL: usize = 64 * 1024;

/// How long the first event may take before the head of a stream leaves without it.
const HEAD_AFTER: Duration = Duration::from_secs(10);

/// An answer in the making: events of its turns and the time go in, bytes come out.
///
/// Its driver looks at [`Answer::wants`], gives it the next [`Input`], and takes the bytes.
#[derive(Debug)]
pub struct Answer<O> {
    output: O,
    /// Empty once the turns are over.
    replies: Vec<Reply>,
    stream: Option<Stream>,
    stop_after_tools: StopAfterTools,
    started: Instant,
    milestones: Milestones,
    phase: Phase,
    reports: Vec<ChoiceReport>,
}

/// Options of an answer.
pub struct AnswerOptions {
    /// What becomes of the events.
    pub policy: Arc<TurnPolicy>,
    /// How many answers there are in one.
    pub choices: u32,
    /// Whether it is streamed.
    pub stream: bool,
    /// Silence in a stream after which a comment is sent.
    pub keep_alive: Option<Duration>,
    /// Needed where the policy limits tokens.
    pub tokenizer: Option<Arc<dyn Tokenizer>>,
    /// Makes ids unique.
    pub id_suffix: SuffixSource,
}

#[derive(Debug)]
struct Stream {
    /// Whether the head is sent: a later failure is a frame.
    head_sent: bool,
    /// Bytes that are there before any event.
    opening_bytes: usize,
    keep_alive: Option<Duration>,
    last_sent: Instant,
}

#[derive(Debug)]
enum Phase {
    Running,
    Settling(AnswerEnd),
    Storing,
    Done,
    /// The client gets an error instead.
    Refused(Failure),
    /// The client does not take the rest.
    Abandoned,
}

// === impl Answer ===

impl<O: Output> Answer<O> {
    /// An answer whose turns are started now.
    pub fn new(mut output: O, options: AnswerOptions, now: Instant) -> Self {
        let AnswerOptions { policy, choices, stream, keep_alive, tokenizer, id_suffix } = options;
        let reply = |choice| {
            let (policy, id_suffix) = (Arc::clone(&policy), Arc::clone(&id_suffix));
            Reply::new(policy, choice, tokenizer.clone(), id_suffix)
        };
        let replies: Vec<_> = (0..choices).map(reply).collect();
        let opening_bytes = output.buffer().len();
        Self {
            replies,
            stream: stream.then_some(Stream {
                head_sent: false,
                opening_bytes,
                keep_alive,
                last_sent: now,
            }),
            output,
            stop_after_tools: policy.stop_after_tools,
            started: now,
            milestones: Milestones::default(),
            phase: Phase::Running,
            reports: Vec::new(),
        }
    }

    /// What it waits for.
    pub fn wants(&self) -> Want {
        match self.phase {
            Phase::Running => Want::Events,
            Phase::Settling(_) => Want::Settlement,
            Phase::Storing => Want::Storage,
            Phase::Done | Phase::Refused(_) | Phase::Abandoned => Want::Nothing,
        }
    }

    /// Takes an input. Returns what becomes of a turn whose choice has ended with it.
    pub fn step(&mut self, input: Input, now: Instant) -> Option<Release> {
        match (input, &mut self.phase) {
            (Input::Event { choice, event }, Phase::Running) => {
                self.milestones.first_event.get_or_insert(now);
                return self.step_choice(choice, now, |reply, out| reply.on_event(event, now, out));
            }
            (Input::Deadline { choice }, Phase::Running) => {
                return self.step_choice(choice, now, |reply, out| reply.on_time(now, out));
            }
            (Input::Head, _) => {
                if let Some(stream) = &mut self.stream {
                    stream.head_sent = true;
                    stream.last_sent = now;
                }
            }
            (Input::Silence, Phase::Running) => {
                if let Some(stream) = &mut self.stream {
                    stream.last_sent = now;
                    self.output.keep_alive();
                }
            }
            (Input::Cancel, Phase::Running) => self.end(AnswerEnd::Cancelled),
            (Input::Abandon(reason), Phase::Running) => {
                self.conclude(reason);
                self.phase = Phase::Abandoned;
            }
            (Input::Settle { usage, at }, &mut Phase::Settling(end)) => {
                self.settle(end, usage, at);
            }
            (Input::Stored(stored), Phase::Storing) => self.close(stored),
            // It comes too late.
            _ => {}
        }
        None
    }

    /// Whether the deadline of a choice has passed.
    pub fn is_due(&self, choice: u32, now: Instant) -> bool {
        let deadline = self.replies.get(choice as usize).and_then(Reply::deadline);
        deadline.is_some_and(|deadline| deadline <= now)
    }

    /// When it wants an input at the latest: a choice's deadline, or the end of a stream's silence.
    pub fn deadline(&self) -> Option<Instant> {
        self.replies.iter().filter_map(Reply::deadline).chain(self.silent_until()).min()
    }

    /// When a stream has been silent for too long: its head is due, or else [`Input::Silence`].
    pub fn silent_until(&self) -> Option<Instant> {
        let stream = self.stream.as_ref()?;
        match (stream.head_sent, &self.phase) {
            (false, Phase::Running) => Some(self.started + HEAD_AFTER),
            (true, Phase::Running) => Some(stream.last_sent + stream.keep_alive?),
            _ => None,
        }
    }

    /// Whether the head of a stream is sent.
    pub fn has_head(&self) -> bool {
        self.stream.as_ref().is_some_and(|stream| stream.head_sent)
    }

    /// Whether it takes no more events until its bytes are taken.
    pub fn is_full(&mut self) -> bool {
        self.stream.is_some() && self.output.buffer().len() >= FULL
    }

    /// Whether there are bytes to take: those of a whole answer are ready together.
    pub fn has_bytes(&mut self) -> bool {
        (self.stream.is_some() || self.is_written()) && !self.output.buffer().is_empty()
    }

    /// Takes the bytes that are ready.
    pub fn take_bytes(&mut self, now: Instant) -> Bytes {
        if let Some(stream) = &mut self.stream {
            stream.last_sent = now;
        }
        self.output.buffer().split().freeze()
    }

    /// The failure that the client gets instead of an answer.
    pub fn refusal(&self) -> Option<&Failure> {
        match &self.phase {
            Phase::Refused(failure) => Some(failure),
            _ => None,
        }
    }

    /// Whether its last byte is written.
    pub fn is_written(&self) -> bool {
        matches!(self.phase, Phase::Done)
    }

    /// What became of each choice, once the turns are over.
    pub fn reports(&self) -> &[ChoiceReport] {
        &self.reports
    }

    /// Timestamps of its milestones.
    pub fn milestones(&self) -> Milestones {
        self.milestones
    }

    /// The answer on its wire.
    pub fn output(&self) -> &O {
        &self.output
    }

    /// The same, of an answer that has ended.
    pub fn into_output(self) -> O {
        self.output
    }

    fn step_choice(
        &mut self,
        choice: u32,
        now: Instant,
        step: impl FnOnce(&mut Reply, &mut O) -> Option<Ended>,
    ) -> Option<Release> {
        let reply = self.replies.get_mut(choice as usize)?;
        self.output.choose(choice);
        let ended = step(reply, &mut self.output);
        if self.milestones.first_token.is_none() && self.output.has_content() {
            self.milestones.first_token = Some((choice, now));
        }
        match ended? {
            Ended::Failed(failure) => {
                self.fail(failure);
                Some(Release::Interrupt)
            }
            Ended::Finished(reason) => {
                let release = match (reply.was_cut(), reply.forwarded_everything()) {
                    (true, _) => Release::Interrupt,
                    (false, true) if self.output.hidden_bytes() == 0 => Release::Keep,
                    (false, _) => Release::LetEnd,
                };
                self.output.finish(reason);
                if self.replies.iter().all(Reply::has_ended) {
                    self.end(AnswerEnd::Completed);
                }
                Some(release)
            }
        }
    }

    fn settle(&mut self, end: AnswerEnd, usage: Option<Usage>, at: u64) {
        self.output.complete(end, usage.as_ref(), at);
        if O::STORED {
            self.phase = Phase::Storing;
        } else {
            self.close(false);
        }
    }

    fn end(&mut self, end: AnswerEnd) {
        // Of an answer that is complete, every choice has a reason of its own.
        self.conclude(EndReason::Cancelled);
        self.report_hidden();
        self.phase = Phase::Settling(end);
    }

    fn fail(&mut self, failure: Failure) {
        self.conclude(EndReason::Failed);
        self.report_hidden();
        let buffered = self.output.buffer().len();
        let has_begun = |stream: &Stream| stream.head_sent || buffered > stream.opening_bytes;
        if self.stream.as_ref().is_some_and(has_begun) {
            self.output.fail(&api_error(&failure));
            self.close(false);
        } else {
            self.phase = Phase::Refused(failure);
        }
    }

    fn report_hidden(&mut self) {
        for (choice, report) in (0..).zip(&mut self.reports) {
            self.output.choose(choice);
            report.suppressed_bytes += self.output.hidden_bytes();
        }
    }

    fn close(&mut self, stored: bool) {
        let comment = || telemetry(&self.reports, self.stop_after_tools);
        let telemetry = self.stream.as_ref().map(|_| comment()).unwrap_or_default();
        self.output.close(stored, &telemetry);
        self.phase = Phase::Done;
    }

    /// The turns are over: what has not ended does so for this reason.
    fn conclude(&mut self, unfinished: EndReason) {
        let conclude = |mut reply: Reply| {
            reply.abandon(unfinished);
            reply.report()
        };
        self.reports = std::mem::take(&mut self.replies).into_iter().map(conclude).collect();
    }
}
