//! The turns behind one request, and what is made of their events as they come.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use bridge::{Answer, ChoiceReport, EndReason, Ended, Reply};
use codex_app_server::{Continued, Failure, FreshReason, Turn};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tokio_util::task::TaskTracker;

use super::turn_log::{Marks, TurnLog};
use crate::alarm::Alarm;
use crate::captures::Recording;
use crate::connections::Hangup;
use crate::request_trace::FirstToken;

/// One turn for each choice of a request.
///
/// Dropping it ends the turns that still run.
pub(crate) struct Session {
    choices: Vec<Choice>,
    /// Choices that have not ended.
    open: usize,
    alarm: Alarm,
    /// The client's connection.
    hangup: Hangup,
    /// Somebody else has ended the request, if anybody can.
    cancelled: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    /// Set while a step is made: if one panics, it stays so.
    stepping: bool,
    tasks: TaskTracker,
    log: Arc<TurnLog>,
    marks: Marks,
    /// How the last turn that has ended got its thread.
    continued: Option<Continued>,
    recording: Option<Arc<Recording>>,
    reported: bool,
}

struct Choice {
    /// `None` once its answer has ended.
    turn: Option<Turn>,
    reply: Reply,
}

/// What a step has brought.
#[derive(Debug)]
pub(super) enum Step {
    /// Something happened, and more is to come.
    More,
    /// It is time, as asked.
    Time,
    /// Nothing more is to come.
    Over(Outcome),
}

/// How the turns of a request ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// Every choice has ended.
    Done,
    /// Somebody has ended it who is not its client.
    Cancelled,
    /// A choice has failed, and with it the request.
    Failed(Failure),
}

// === impl Session ===

impl Session {
    pub(super) fn new(
        choices: impl IntoIterator<Item = (Turn, Reply)>,
        hangup: Hangup,
        cancelled: Option<CancellationToken>,
        tasks: TaskTracker,
        log: Arc<TurnLog>,
        recording: Option<Arc<Recording>>,
    ) -> Self {
        let choices: Vec<_> =
            choices.into_iter().map(|(turn, reply)| Choice { turn: Some(turn), reply }).collect();
        Self {
            open: choices.len(),
            choices,
            alarm: Alarm::default(),
            hangup,
            cancelled: cancelled.map(|token| Box::pin(token.cancelled_owned())),
            stepping: false,
            tasks,
            log,
            marks: Marks::default(),
            continued: None,
            recording,
            reported: false,
        }
    }

    /// Takes every event that is ready; otherwise waits for one, or until `wake_at`.
    pub(super) fn poll_step(
        &mut self,
        answer: &mut impl Answer,
        wake_at: Option<Instant>,
        context: &mut Context<'_>,
    ) -> Poll<Step> {
        self.stepping = true;
        let step = self.step(answer, wake_at, context);
        self.stepping = false;
        step
    }

    fn step(
        &mut self,
        answer: &mut impl Answer,
        wake_at: Option<Instant>,
        context: &mut Context<'_>,
    ) -> Poll<Step> {
        if self.open == 0 {
            return Poll::Ready(Step::Over(Outcome::Done));
        }
        if let Some(cancelled) = &mut self.cancelled
            && cancelled.as_mut().poll(context).is_ready()
        {
            return Poll::Ready(Step::Over(Outcome::Cancelled));
        }
        let now = Instant::now();
        let mut happened = false;
        for index in 0..self.choices.len() {
            let failure = self.take_events(index, answer, now, &mut happened, context);
            if happened {
                self.marks.first_event.get_or_insert(now);
            }
            if self.marks.first_token.is_none() && answer.has_spoken() {
                self.marks.first_token = Some(FirstToken { choice: index, at: now });
            }
            if let Some(failure) = failure {
                return Poll::Ready(Step::Over(Outcome::Failed(failure)));
            }
        }
        if self.open == 0 {
            return Poll::Ready(Step::Over(Outcome::Done));
        }
        if happened {
            return Poll::Ready(Step::More);
        }
        if wake_at.is_some_and(|at| at <= now) {
            return Poll::Ready(Step::Time);
        }
        let deadlines = self.choices.iter().filter_map(|choice| choice.reply.deadline());
        match deadlines.chain(wake_at).min() {
            Some(at) => self.wait_until(at, context),
            None => Poll::Pending,
        }
    }

    /// Takes everything that the turns say.
    pub(crate) async fn collect(&mut self, answer: &mut impl Answer) -> Outcome {
        loop {
            match poll_fn(|context| self.poll_step(answer, None, context)).await {
                Step::More | Step::Time => {}
                Step::Over(outcome) => return outcome,
            }
        }
    }

    /// How its turns got their threads. Several have one each.
    pub(crate) fn continued(&self) -> Continued {
        let running = self.choices.iter().find_map(|choice| choice.turn.as_ref());
        running
            .map(Turn::continued)
            .or(self.continued)
            .unwrap_or(Continued::Fresh(FreshReason::Off))
    }

    /// The record of the request, if there is one.
    pub(crate) fn recording(&self) -> Option<&Recording> {
        self.recording.as_deref()
    }

    /// Whether every choice has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.open == 0
    }

    /// Says what became of each choice; those that have not ended do so now, for the given reason.
    pub(crate) fn conclude(&mut self, unfinished: EndReason) -> Vec<ChoiceReport> {
        self.conclude_with(unfinished, |_| ()).1
    }

    /// The same, for somebody who has to add to the reports before they are logged.
    pub(crate) fn conclude_with<T>(
        &mut self,
        unfinished: EndReason,
        complete: impl FnOnce(&mut [ChoiceReport]) -> T,
    ) -> (T, Vec<ChoiceReport>) {
        self.reported = true;
        let continued = self.continued();
        self.continued = Some(continued);
        let choices = std::mem::take(&mut self.choices).into_iter();
        let mut reports: Vec<_> = choices
            .map(|mut choice| {
                choice.reply.abandon(unfinished);
                choice.reply.report()
            })
            .collect();
        let completed = complete(&mut reports);
        if let Some(recording) = &self.recording {
            recording.end(&reports);
        }
        self.log.turns_ended(&reports, self.marks, continued);
        (completed, reports)
    }

    fn take_events(
        &mut self,
        index: usize,
        answer: &mut impl Answer,
        now: Instant,
        happened: &mut bool,
        context: &mut Context<'_>,
    ) -> Option<Failure> {
        let choice = &mut self.choices[index];
        let turn = choice.turn.as_mut()?;
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        answer.choose(index);
        let mut ended = None;
        while ended.is_none() {
            if answer.is_full() {
                // What is left is taken as soon as the client has taken this.
                context.waker().wake_by_ref();
                *happened = true;
                return None;
            }
            match turn.poll_next(context) {
                Poll::Ready(Some(event)) => {
                    *happened = true;
                    if let Some(recording) = &self.recording {
                        recording.event(index, &event, now);
                    }
                    ended = choice.reply.on_event(event, now, answer);
                }
                // What came in time was taken before the time is looked at.
                Poll::Ready(None) | Poll::Pending => match choice.reply.on_time(now, answer) {
                    None => return None,
                    timely => {
                        if let Some(recording) = &self.recording {
                            recording.clock(index, now);
                        }
                        ended = timely;
                    }
                },
            }
        }
        *happened = true;
        let turn = choice.turn.take();
        self.continued = turn.as_ref().map(Turn::continued).or(self.continued);
        self.open -= 1;
        match ended? {
            Ended::Failed(failure) => Some(failure),
            Ended::Finished(reason) => {
                if let Some(turn) = turn
                    && !choice.reply.was_cut()
                {
                    // Before the client learns the end: its next request may come at once.
                    if choice.reply.told_everything() && answer.tells_everything() {
                        turn.keep();
                    }
                    self.let_end(turn, context);
                }
                answer.finish(reason);
                None
            }
        }
    }

    /// Lets a turn that ends by itself do so: dropping it would interrupt it.
    fn let_end(&self, mut turn: Turn, context: &mut Context<'_>) {
        while let Poll::Ready(Some(_)) = turn.poll_next(context) {}
        if !turn.has_ended() {
            self.tasks.spawn(async move { while turn.next().await.is_some() {} });
        }
    }

    fn wait_until(&mut self, at: Instant, context: &mut Context<'_>) -> Poll<Step> {
        if self.alarm.poll_until(at, context).is_ready() {
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.reported {
            return;
        }
        self.conclude(if self.stepping {
            EndReason::Failed
        } else if self.hangup.0.is_cancelled() {
            EndReason::SlowClient
        } else {
            EndReason::ClientGone
        });
    }
}
