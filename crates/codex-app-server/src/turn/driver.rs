//! The task behind a turn: starts it, starts it again where that is allowed, and tidies up.

use std::sync::Arc;
use std::time::Duration;

use model_turn::{Failure, FailureKind};
use serde::de::IgnoredAny;
use tokio::sync::{SemaphorePermit, oneshot};

use super::keeping::Keeping;
use super::machine::{LogUse, TurnMachine};
use super::plan::{PlannedTurn, Stop};
use super::router::{Attempt, Route, Wire as _};
use super::set_up::{SetUps, Waiting};
use crate::backoff::Backoff;
use crate::connection::Connection;
use crate::continuity::kept_thread::{KeptThread, ThreadState};
use crate::continuity::kept_threads::{Found, GoingOn};
use crate::continuity::{Continued, FreshReason};
use crate::ids::ThreadId;
use crate::login_watch::LoginWatch;
use crate::protocol::incoming::{ThreadStarted, TurnStartResult};
use crate::protocol::outgoing::{Request as _, ThreadInjectItems, ThreadStart, TurnStart};
use crate::request_error::RequestError;
use crate::stats::Counter;

/// First and longest pause before a turn is tried again.
const RETRY_PAUSE: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(5));

/// A turn and the child that it was given to.
pub(crate) struct Driver {
    pub(crate) turn: PlannedTurn,
    pub(crate) connection: Arc<Connection>,
    /// The empty folder that the child stands in.
    pub(crate) working_folder: String,
    pub(crate) login: Arc<LoginWatch>,
    pub(crate) set_ups: Arc<SetUps>,
}

// === impl Driver ===

impl Driver {
    pub(crate) async fn run(mut self) {
        if self.turn.plan.needs_login() && !self.login.file().exists() {
            // Codex would ask the upstream all the same, and report what the network says.
            let words = "not signed in to Codex";
            return self.turn.fail(Failure::new(FailureKind::Unauthorized, words));
        }
        let consumer = std::mem::take(&mut self.turn.consumer);
        let mut waiting = Waiting::new(consumer, self.turn.commands.clone());
        let mut backoff = Backoff::new(RETRY_PAUSE.0, RETRY_PAUSE.1);
        let mut retries_left = self.turn.options.retries;
        loop {
            let failure = match self.attempt(&mut waiting).await {
                Attempt::Finished => return,
                Attempt::FailedEarly(failure) => failure,
            };
            self.turn.link.hold(None);
            // The thread has reasoning that a history need not have: that may be what is refused.
            if failure.is_about_the_input() && self.turn.link.gone_on_in_vain() {
                tracing::info!(kind = ?failure.kind, "trying a turn again, in a thread of its own");
                continue;
            }
            if failure.is_about_reasoning() && self.turn.plan.leave_reasoning_out() {
                self.connection.count(Counter::ReasoningRefused);
                tracing::info!(
                    "trying a turn again, without reasoning that the upstream cannot read"
                );
                continue;
            }
            let pause = backoff.next_pause();
            let in_time =
                ambient::since(self.turn.asked_at) + pause < self.turn.options.limits.timeout;
            if retries_left == 0 || !in_time || !is_worth_a_retry(failure.kind) {
                return self.turn.fail(failure);
            }
            // A command that came during the attempt was seen then, and does not come again.
            if let Some(stop) = self.turn.stop_wanted() {
                return self.turn.stopped(stop);
            }
            self.turn.link.gone_on_in_vain();
            retries_left -= 1;
            self.connection.count(Counter::Retry);
            tracing::info!(kind = ?failure.kind, ?pause, "trying a turn again");
            tokio::select! {
                biased;
                () = self.connection.pause(pause) => {}
                stop = self.turn.next_stop() => return self.turn.stopped(stop),
            }
        }
    }

    /// One turn, one request to the model.
    async fn attempt(&mut self, waiting: &mut Waiting) -> Attempt {
        if let Some(found) = self.turn.found.take() {
            match self.go_on(found, waiting).await {
                Ok(attempt) => return attempt,
                Err(reason) => self.turn.link.tell(Continued::Fresh(reason)),
            }
            if let Some(stop) = self.turn.stop_wanted() {
                self.turn.stopped(stop);
                return Attempt::Finished;
            }
        }
        self.start_fresh(waiting).await
    }

    /// Goes on in the thread of an earlier turn; an error says why that cannot be, in which case the
    /// model was not asked.
    async fn go_on(
        &mut self,
        Found { kept, how }: Found,
        waiting: &mut Waiting,
    ) -> Result<Attempt, FreshReason> {
        let set_ups = Arc::clone(&self.set_ups);
        let state = waiting.see_through(&set_ups, kept.settled()).await?;
        let transcript = &kept.said().ok_or(FreshReason::NotReady)?.transcript;
        let thread = kept.thread().clone();
        match (state, how) {
            (ThreadState::Idle, GoingOn::Inject(news)) => {
                let place = match self.place_for_images(&set_ups).await {
                    Ok(place) => place,
                    Err(outcome) => return Ok(outcome),
                };
                let items: Vec<_> =
                    news.iter().map(|index| &*self.turn.plan.items[*index]).collect();
                let injected = waiting.see_through(&set_ups, self.inject(&thread, &items)).await;
                drop(place);
                injected.map_err(|_| FreshReason::Failed)?;
                if self.turn.stop_wanted().is_some() {
                    return Err(FreshReason::Failed);
                }
                let keeping = self.turn.plan.keeping(Some(transcript));
                kept.hand_over();
                self.turn.link.tell(Continued::Reused);
                Ok(self.run_turn(&thread, keeping, waiting).await)
            }
            (ThreadState::Held, GoingOn::Answer(answers)) => {
                if self.turn.stop_wanted().is_some() {
                    return Err(FreshReason::NotReady);
                }
                let keeping = self.turn.plan.keeping_on(transcript);
                let (route, attempt) = self.new_route(&thread, keeping);
                let calls = self.connection.router.resume(route).ok_or(FreshReason::NotReady)?;
                kept.hand_over();
                self.turn.link.tell(Continued::Resumed);
                for answer in answers {
                    let call = calls.iter().find(|call| call.call_id == answer.call_id);
                    if let Some(call) = call {
                        let answering = self.connection.answer(&call.request, &answer.result);
                        waiting.see_through(&set_ups, answering).await;
                    }
                }
                Ok(self.watch(&thread, attempt).await)
            }
            _ => Err(FreshReason::NotReady),
        }
    }

    /// The same with a thread of its own, which is given the whole history.
    async fn start_fresh(&mut self, waiting: &mut Waiting) -> Attempt {
        let set_ups = Arc::clone(&self.set_ups);
        let place = match self.place_for_images(&set_ups).await {
            Ok(place) => place,
            Err(outcome) => return outcome,
        };
        let thread = match waiting.see_through(&set_ups, self.start_thread()).await {
            Ok(thread) => thread,
            Err(error) => return Attempt::FailedEarly(error.into_failure()),
        };
        if self.is_given_up(&thread) {
            return Attempt::Finished;
        }
        let items: Vec<_> = self.turn.plan.items.iter().map(|item| &**item).collect();
        if let Err(error) = waiting.see_through(&set_ups, self.inject(&thread, &items)).await {
            self.connection.unsubscribe(&thread);
            return Attempt::FailedEarly(error.into_failure());
        }
        drop(place);
        if self.is_given_up(&thread) {
            return Attempt::Finished;
        }
        let keeping = self.turn.plan.keeping(None);
        self.run_turn(&thread, keeping, waiting).await
    }

    /// Where the events of a turn go. Its consumer has the thread from now on, if it may be kept.
    fn new_route(
        &self,
        thread: &ThreadId,
        keeping: Option<Keeping>,
    ) -> (Route, oneshot::Receiver<Attempt>) {
        let (sender, attempt) = oneshot::channel();
        let PlannedTurn { plan, options, asked_at, events, link, .. } = &self.turn;
        let names = Arc::clone(&plan.names);
        let kept = keeping.is_some().then(|| {
            KeptThread::new(&self.connection, thread.clone(), &self.login, plan.needs_login())
        });
        let fate = kept.as_ref().map(|kept| Arc::clone(kept.fate()));
        let log_use = match (self.connection.log_trust().is_on(), plan.early_arguments) {
            (false, _) => LogUse::Nothing,
            (true, false) => LogUse::Refusals,
            (true, true) => LogUse::Everything,
        };
        let now = ambient::now();
        let machine = TurnMachine::new(names, options.limits, log_use, keeping, *asked_at, now);
        link.hold(kept);
        (Route::new(thread.clone(), machine, events.clone(), sender, fate), attempt)
    }

    /// Starts the turn of a thread, and sees it through.
    async fn run_turn(
        &mut self,
        thread: &ThreadId,
        keeping: Option<Keeping>,
        waiting: &mut Waiting,
    ) -> Attempt {
        let (route, attempt) = self.new_route(thread, keeping);
        self.connection.router.insert(route);
        let set_ups = Arc::clone(&self.set_ups);
        if let Err(error) = waiting.see_through(&set_ups, self.start_turn(thread)).await {
            let running = error.may_have_been_heard();
            let failure = error.into_failure();
            let wire = &*self.connection;
            wire.router.step(thread.as_str(), wire, |machine, now, steps| {
                if running {
                    machine.fail(failure, now, steps);
                } else {
                    machine.never_started(failure, steps);
                }
            });
        }
        self.watch(thread, attempt).await
    }

    /// Waits until Codex may be given a history with images; others do not wait.
    async fn place_for_images<'a>(
        &mut self,
        set_ups: &'a SetUps,
    ) -> Result<Option<SemaphorePermit<'a>>, Attempt> {
        if !self.turn.plan.has_images {
            return Ok(None);
        }
        let limit = self.turn.options.limits.timeout;
        let time_left = limit.saturating_sub(ambient::since(self.turn.asked_at));
        tokio::select! {
            biased;
            place = tokio::time::timeout(time_left, set_ups.images.acquire()) => {
                // It is never closed.
                place.map(Result::ok).map_err(|_| {
                    let words = format!("Codex did not come to the images within {limit:?}");
                    Attempt::FailedEarly(Failure::new(FailureKind::Timeout, words))
                })
            }
            stop = self.turn.next_stop() => {
                self.turn.stopped(stop);
                Err(Attempt::Finished)
            }
        }
    }

    /// Lets go of a thread that nobody wants any more. Nothing was asked of the model yet, so that
    /// costs nothing.
    fn is_given_up(&self, thread: &ThreadId) -> bool {
        let stop = self.turn.stop_wanted();
        if let Some(stop) = stop {
            self.connection.unsubscribe(thread);
            self.turn.stopped(stop);
        }
        stop.is_some()
    }

    async fn start_thread(&self) -> Result<ThreadId, RequestError> {
        let plan = &self.turn.plan;
        let tools = plan.dynamic_tools();
        let request = plan.thread_start(&self.working_folder, &tools);
        let starting = self.connection.start::<ThreadStarted>(ThreadStart::METHOD, &request);
        starting.await.map(|id| ThreadId::from(id.as_str()))
    }

    async fn inject(&self, thread: &ThreadId, items: &[&str]) -> Result<(), RequestError> {
        let inject = ThreadInjectItems { thread_id: thread.as_str(), items };
        self.connection.request::<_, IgnoredAny>(&inject).await.map(|_| ())
    }

    async fn start_turn(&self, thread: &ThreadId) -> Result<(), RequestError> {
        let thread_id = thread.as_str();
        let request = self.turn.plan.turn_start(thread_id);
        let starting = self.connection.start::<TurnStartResult>(TurnStart::METHOD, &request);
        let turn_id = starting.await?;
        self.connection.router.step(thread_id, &*self.connection, |machine, now, steps| {
            machine.turn_known(&turn_id, now, steps);
        });
        Ok(())
    }

    /// Waits for the attempt's outcome, and passes on what the consumer wants meanwhile.
    async fn watch(
        &mut self,
        thread: &ThreadId,
        mut attempt: oneshot::Receiver<Attempt>,
    ) -> Attempt {
        loop {
            tokio::select! {
                biased;
                outcome = &mut attempt => {
                    return outcome.unwrap_or_else(|_| {
                        let words = "the turn was lost";
                        Attempt::FailedEarly(Failure::new(FailureKind::Unexpected, words))
                    });
                }
                stop = self.turn.next_stop() => {
                    let wire = &*self.connection;
                    match stop {
                        Stop::Interrupted => {
                            wire.router.step(thread.as_str(), wire, TurnMachine::interrupt);
                        }
                        Stop::ConsumerGone => {
                            wire.router.step(thread.as_str(), wire, TurnMachine::abandon);
                            return Attempt::Finished;
                        }
                    }
                }
            }
        }
    }
}

/// A turn that ran out of time has none left, and a child that has gone does not come back here.
fn is_worth_a_retry(kind: FailureKind) -> bool {
    use FailureKind::{ChildGone, Stopping, Timeout};
    kind.retry_can_help() && !matches!(kind, Timeout | ChildGone | Stopping)
}
