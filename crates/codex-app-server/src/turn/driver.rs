//! The task behind a turn: starts it, starts it again where that is allowed, and tidies up.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::sync::{oneshot, watch};

use super::channel::EventSender;
use super::event::{TurnEnd, TurnEvent};
use super::machine::{TurnLimits, TurnMachine};
use super::router::{Attempt, Route, Wire as _};
use super::{Command, InvalidTurn, TurnRequest, Upstream};
use crate::alias::ToolAliases;
use crate::backoff::Backoff;
use crate::client::ClientConfig;
use crate::connection::Connection;
use crate::failure::{Failure, FailureKind};
use crate::history::{self, HistoryItem, Role, Tool};
use crate::ids::ThreadId;
use crate::protocol::incoming::{ThreadStarted, TurnStartResult};
use crate::protocol::outgoing::{DynamicTool, ThreadInjectItems, ThreadStart, TurnStart};
use crate::request_error::RequestError;
use crate::stats::Counter;

/// First and longest pause before a turn is tried again.
const RETRY_PAUSE: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(5));

/// The only provider of the configuration; a thread's overrides go below it.
const PROVIDER: &str = "model_providers.upstream";

/// Everything that a turn needs, in Codex's own terms.
pub(crate) struct Driver {
    connection: Arc<Connection>,
    events: EventSender,
    commands: watch::Receiver<Command>,
    limits: TurnLimits,
    retries: u32,
    working_folder: String,
    model: String,
    tools: Vec<Tool>,
    tool_names: Vec<String>,
    aliases: Arc<ToolAliases>,
    items: Vec<Box<RawValue>>,
    effort: Option<String>,
    summary: Option<String>,
    output_schema: Option<Value>,
    upstream: Option<Upstream>,
}

// === impl Driver ===

impl Driver {
    pub(crate) fn new(
        connection: Arc<Connection>,
        mut request: TurnRequest,
        working_folder: &str,
        config: &ClientConfig,
        events: EventSender,
        commands: watch::Receiver<Command>,
    ) -> Result<Self, InvalidTurn> {
        let mut names = HashSet::new();
        for tool in &request.tools {
            if !names.insert(tool.name.as_str()) {
                return Err(InvalidTurn::DuplicateTool(tool.name.clone()));
            }
            if !tool.parameters.is_object() {
                return Err(InvalidTurn::ToolParameters(tool.name.clone()));
            }
        }
        if !request.instructions.is_empty() {
            let instructions = std::mem::take(&mut request.instructions);
            request.history.insert(0, HistoryItem::text(Role::Developer, instructions));
        }
        if request.history.is_empty() {
            return Err(InvalidTurn::Empty);
        }
        let mut aliases = ToolAliases::default();
        let tool_names = request.tools.iter().map(|tool| aliases.alias(&tool.name)).collect();
        let items = history::to_wire(&request.history, &mut aliases)?;
        Ok(Self {
            connection,
            events,
            commands,
            limits: config.limits,
            retries: config.retries,
            working_folder: working_folder.to_owned(),
            model: request.model,
            tools: request.tools,
            tool_names,
            aliases: Arc::new(aliases),
            items,
            effort: request.effort,
            summary: request.summary,
            output_schema: request.output_schema,
            upstream: request.upstream,
        })
    }

    pub(crate) async fn run(mut self) {
        let started_at = Instant::now();
        let mut backoff = Backoff::new(RETRY_PAUSE.0, RETRY_PAUSE.1);
        let mut retries_left = self.retries;
        loop {
            let failure = match self.attempt(started_at).await {
                Attempt::Finished => return,
                Attempt::FailedEarly(failure) => failure,
            };
            let pause = backoff.next_pause();
            let in_time = started_at.elapsed() + pause < self.limits.timeout;
            if retries_left == 0 || !in_time || !is_worth_a_retry(failure.kind) {
                return self.report(TurnEvent::Failed(failure));
            }
            retries_left -= 1;
            self.connection.count(Counter::Retry);
            tracing::info!(kind = ?failure.kind, ?pause, "trying a turn again");
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                command = next_command(&mut self.commands) => return self.stopped(command),
            }
        }
    }

    /// One thread, one turn, one request to the model.
    async fn attempt(&mut self, started_at: Instant) -> Attempt {
        let thread = match self.start_thread().await {
            Ok(thread) => thread,
            Err(error) => return Attempt::FailedEarly(error.into_failure()),
        };
        if let Err(error) = self.inject_history(&thread).await {
            self.connection.unsubscribe(&thread);
            return Attempt::FailedEarly(error.into_failure());
        }
        // Nothing was asked of the model yet, so a consumer that has gone costs nothing.
        if let Some(stop) = self.stop_wanted() {
            self.connection.unsubscribe(&thread);
            self.stopped(stop);
            return Attempt::Finished;
        }
        let (sender, attempt) = oneshot::channel();
        let now = Instant::now();
        let machine = TurnMachine::new(Arc::clone(&self.aliases), self.limits, started_at, now);
        let route = Route::new(thread.clone(), machine, self.events.clone(), sender);
        self.connection.router.insert(route);
        if let Err(error) = self.start_turn(&thread).await {
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
        self.watch(&thread, attempt).await
    }

    async fn start_thread(&self) -> Result<ThreadId, RequestError> {
        let dynamic_tools: Vec<_> = self
            .tools
            .iter()
            .zip(&self.tool_names)
            .map(|(tool, name)| DynamicTool {
                r#type: "function",
                name,
                description: &tool.description,
                input_schema: &tool.parameters,
            })
            .collect();
        let started: ThreadStarted = self
            .connection
            .request(&ThreadStart {
                model: &self.model,
                cwd: &self.working_folder,
                ephemeral: true,
                environments: [],
                base_instructions: "",
                approval_policy: "never",
                sandbox: "read-only",
                experimental_raw_events: true,
                dynamic_tools: &dynamic_tools,
                config: self.upstream.as_ref().map(upstream_config).unwrap_or_default(),
            })
            .await?;
        Ok(ThreadId::from(started.thread.id.as_str()))
    }

    async fn inject_history(&self, thread: &ThreadId) -> Result<(), RequestError> {
        let inject = ThreadInjectItems { thread_id: thread.as_str(), items: &self.items };
        self.connection.request::<_, IgnoredAny>(&inject).await.map(|_| ())
    }

    async fn start_turn(&self, thread: &ThreadId) -> Result<(), RequestError> {
        let thread_id = thread.as_str();
        let start = TurnStart {
            thread_id,
            input: [],
            effort: self.effort.as_deref(),
            summary: self.summary.as_deref(),
            output_schema: self.output_schema.as_ref(),
        };
        let started: TurnStartResult = self.connection.request(&start).await?;
        self.connection.router.step(thread_id, &*self.connection, |machine, now, steps| {
            machine.turn_known(&started.turn.id, now, steps);
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
                outcome = &mut attempt => return outcome.unwrap_or_else(|_| {
                    let words = "the turn was lost";
                    Attempt::FailedEarly(Failure::new(FailureKind::Unexpected, words))
                }),
                command = next_command(&mut self.commands) => {
                    let wire = &*self.connection;
                    match command {
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

    fn stop_wanted(&self) -> Option<Stop> {
        match (self.commands.has_changed(), *self.commands.borrow()) {
            (Err(_), _) => Some(Stop::ConsumerGone),
            (Ok(_), Command::Interrupt) => Some(Stop::Interrupted),
            (Ok(_), Command::Run) => None,
        }
    }

    fn stopped(&self, stop: Stop) {
        match stop {
            Stop::Interrupted => self.report(TurnEvent::End(TurnEnd::Interrupted)),
            Stop::ConsumerGone => {}
        }
    }

    fn report(&self, last: TurnEvent) {
        // The last event always finds room.
        let _ = self.events.send(last);
    }
}

/// Why a consumer does not want its turn any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    Interrupted,
    ConsumerGone,
}

/// Waits for a command that was not seen before.
async fn next_command(commands: &mut watch::Receiver<Command>) -> Stop {
    loop {
        if commands.changed().await.is_err() {
            return Stop::ConsumerGone;
        }
        match *commands.borrow_and_update() {
            Command::Interrupt => return Stop::Interrupted,
            Command::Run => {}
        }
    }
}

/// A turn that ran out of time has none left, and a child that has gone does not come back here.
fn is_worth_a_retry(kind: FailureKind) -> bool {
    kind.retry_can_help() && !matches!(kind, FailureKind::Timeout | FailureKind::ChildGone)
}

/// Points one thread at another upstream, and keeps the login away from it.
fn upstream_config(upstream: &Upstream) -> Map<String, Value> {
    let mut config = Map::new();
    let mut set = |key: &str, value: Value| {
        config.insert(format!("{PROVIDER}.{key}"), value);
    };
    set("base_url", upstream.base_url.as_str().into());
    set("requires_openai_auth", false.into());
    // Under the name "OpenAI" Codex adds fields of its own to every item.
    set("name", "upstream".into());
    if let Some(key) = &upstream.api_key {
        set("experimental_bearer_token", key.as_str().into());
    }
    config
}
