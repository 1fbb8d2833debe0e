//! A turn in Codex's own terms: checked, translated, and not yet given to any child.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::sync::watch;

use super::channel::{self, EventSender};
use super::event::{TurnEnd, TurnEvent};
use super::{Command, Consumer, InvalidTurn, Turn, TurnOptions, TurnRequest, Upstream};
use crate::alias::ToolAliases;
use crate::failure::Failure;
use crate::history::{self, HistoryItem, Role, Tool};
use crate::protocol::outgoing::{DynamicTool, ThreadStart, TurnStart};

/// The only provider of the configuration; a thread's overrides go below it.
const PROVIDER: &str = "model_providers.upstream";

/// What Codex will be asked.
#[derive(Debug)]
pub(crate) struct Plan {
    model: String,
    tools: Vec<Tool>,
    tool_names: Vec<String>,
    pub(crate) aliases: Arc<ToolAliases>,
    pub(crate) items: Vec<Box<RawValue>>,
    /// What the items were made of, if there is something among them that can be left out.
    expendable: Option<Vec<HistoryItem>>,
    /// Whether the items hold images, which Codex decodes.
    pub(crate) has_images: bool,
    effort: Option<String>,
    summary: Option<String>,
    output_schema: Option<Value>,
    upstream: Option<Upstream>,
}

/// A plan whose consumer already waits for its events.
#[derive(Debug)]
pub(crate) struct PlannedTurn {
    pub(crate) plan: Plan,
    pub(crate) options: TurnOptions,
    pub(crate) events: EventSender,
    pub(crate) commands: watch::Receiver<Command>,
    pub(crate) asked_at: Instant,
    /// What is the consumer's, to be let go when the turn has ended.
    pub(crate) consumer: Consumer,
}

/// Why a consumer does not want its turn any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Interrupted,
    ConsumerGone,
}

// === impl Plan ===

impl TryFrom<TurnRequest> for Plan {
    type Error = InvalidTurn;

    fn try_from(mut request: TurnRequest) -> Result<Self, InvalidTurn> {
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
        let has_images = request.history.iter().any(HistoryItem::has_images);
        let items = history::to_wire(&request.history, &mut aliases)?;
        let is_expendable = request.history.iter().any(HistoryItem::is_expendable);
        Ok(Self {
            model: request.model,
            tools: request.tools,
            tool_names,
            aliases: Arc::new(aliases),
            items,
            expendable: is_expendable.then_some(request.history),
            has_images,
            effort: request.effort,
            summary: request.summary,
            output_schema: request.output_schema,
            upstream: request.upstream,
        })
    }
}

impl Plan {
    /// Whether it goes where the login leads, and so is nothing without one.
    pub(crate) fn needs_login(&self) -> bool {
        self.upstream.is_none()
    }

    /// Leaves out reasoning that the upstream cannot read; false if there is none that may be left out.
    pub(crate) fn leave_reasoning_out(&mut self) -> bool {
        let Some(mut history) = self.expendable.take() else { return false };
        history.retain(|item| !item.is_expendable());
        // The names have their aliases already, and what was taken with more is taken with less.
        let mut aliases = ToolAliases::clone(&self.aliases);
        let Ok(items) = history::to_wire(&history, &mut aliases) else { return false };
        self.items = items;
        !self.items.is_empty()
    }

    pub(crate) fn dynamic_tools(&self) -> Vec<DynamicTool<'_>> {
        self.tools
            .iter()
            .zip(&self.tool_names)
            .map(|(tool, name)| DynamicTool {
                r#type: "function",
                name,
                description: &tool.description,
                input_schema: &tool.parameters,
            })
            .collect()
    }

    pub(crate) fn thread_start<'a>(
        &'a self,
        cwd: &'a str,
        dynamic_tools: &'a [DynamicTool<'a>],
    ) -> ThreadStart<'a> {
        ThreadStart {
            model: &self.model,
            cwd,
            ephemeral: true,
            environments: [],
            base_instructions: "",
            approval_policy: "never",
            sandbox: "read-only",
            experimental_raw_events: true,
            dynamic_tools,
            config: self.upstream.as_ref().map(upstream_config).unwrap_or_default(),
        }
    }

    pub(crate) fn turn_start<'a>(&'a self, thread_id: &'a str) -> TurnStart<'a> {
        TurnStart {
            thread_id,
            input: [],
            effort: self.effort.as_deref(),
            summary: self.summary.as_deref(),
            output_schema: self.output_schema.as_ref(),
        }
    }
}

// === impl PlannedTurn ===

impl PlannedTurn {
    /// Checks a request.
    pub(crate) fn new(
        request: TurnRequest,
        options: TurnOptions,
        consumer: Consumer,
    ) -> Result<(Self, Turn), InvalidTurn> {
        let secret = request.upstream.as_ref().and_then(|upstream| upstream.api_key.clone());
        let plan = Plan::try_from(request)?;
        let (events, receiver) =
            channel::channel(options.max_waiting_bytes, consumer.overflow.clone());
        let (control, commands) = watch::channel(Command::Run);
        let asked_at = Instant::now();
        let planned = Self { plan, options, events, commands, asked_at, consumer };
        Ok((planned, Turn::new(receiver, control, secret)))
    }

    pub(crate) fn fail(&self, failure: Failure) {
        self.report(TurnEvent::Failed(failure));
    }

    pub(crate) fn stopped(&self, stop: Stop) {
        match stop {
            Stop::Interrupted => self.report(TurnEvent::End(TurnEnd::Interrupted)),
            Stop::ConsumerGone => {}
        }
    }

    fn report(&self, last: TurnEvent) {
        // The last event always finds room.
        let _ = self.events.send(last);
    }

    /// Whether the consumer has already changed its mind.
    pub(crate) fn stop_wanted(&self) -> Option<Stop> {
        match (self.commands.has_changed(), *self.commands.borrow()) {
            (Err(_), _) => Some(Stop::ConsumerGone),
            (Ok(_), Command::Interrupt) => Some(Stop::Interrupted),
            (Ok(_), Command::Run) => None,
        }
    }

    /// Waits for a command that was not seen before.
    pub(crate) async fn next_stop(&mut self) -> Stop {
        command_to_stop(&mut self.commands).await
    }
}

/// Waits for a command that this receiver has not seen before.
pub(crate) async fn command_to_stop(commands: &mut watch::Receiver<Command>) -> Stop {
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
