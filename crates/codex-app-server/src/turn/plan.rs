//! A turn in Codex's own terms: checked, translated, and not yet given to any child.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value};
use tokio::sync::watch;

use super::channel::{self, EventSender};
use super::event::{TurnEnd, TurnEvent};
use super::keeping::Keeping;
use super::thread_link::ThreadLink;
use super::{Command, Consumer, InvalidTurn, Turn, TurnOptions, TurnRequest, Upstream};
use crate::alias::ToolAliases;
use crate::catalog::DEMO_MODEL;
use crate::continuity::kept_threads::{Found, KeptThreads};
use crate::continuity::trail::Trail;
use crate::continuity::transcript::{FingerprintKey, Transcript};
use crate::continuity::{Continued, FreshReason};
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
    /// The history, each item in JSON.
    pub(crate) items: Vec<Box<str>>,
    /// What the items were made of, if there is something among them that can be left out.
    expendable: Option<Vec<HistoryItem>>,
    /// Whether the items hold images, which Codex decodes.
    pub(crate) has_images: bool,
    effort: Option<String>,
    summary: Option<String>,
    output_schema: Option<Value>,
    upstream: Option<Upstream>,
    /// Whether arguments are wanted before their call is whole.
    pub(crate) early_arguments: bool,
    /// What was said at every point of the history, if its thread may be kept.
    trail: Option<Trail>,
    /// Names of the tools towards Codex.
    offered: Arc<HashSet<String>>,
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
    /// What the consumer learns of its thread.
    pub(crate) link: Arc<ThreadLink>,
    /// The thread of an earlier turn, to go on in.
    pub(crate) found: Option<Found>,
}

/// Why a consumer does not want its turn any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Interrupted,
    ConsumerGone,
}

// === impl Plan ===

impl Plan {
    /// Checks and translates a request; with a key its thread may be kept for its owner.
    fn new(mut request: TurnRequest, key: Option<FingerprintKey>) -> Result<Self, InvalidTurn> {
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
        let tool_names: Vec<_> =
            request.tools.iter().map(|tool| aliases.alias(&tool.name)).collect();
        let has_images = request.history.iter().any(HistoryItem::has_images);
        let mut trail = key.zip(request.owner.clone()).and_then(|(key, owner)| {
            let tools = dynamic_tools(&request.tools, &tool_names);
            let setting = setting(&request, &owner, &tools).ok()?;
            Some(Trail::begin(key, owner, &setting))
        });
        let items = history::to_wire(&request.history, &mut aliases, |item, json| {
            if let Some(trail) = &mut trail {
                trail.add(item, json);
            }
        })?;
        let is_expendable = request.history.iter().any(HistoryItem::is_expendable);
        Ok(Self {
            model: request.model,
            tools: request.tools,
            offered: if trail.is_some() {
                Arc::new(tool_names.iter().cloned().collect())
            } else {
                Arc::default()
            },
            tool_names,
            aliases: Arc::new(aliases),
            items,
            expendable: is_expendable.then_some(request.history),
            has_images,
            effort: request.effort,
            summary: request.summary,
            output_schema: request.output_schema,
            upstream: request.upstream,
            early_arguments: request.early_arguments,
            trail,
        })
    }

    /// Whether it goes where the login leads, and so is nothing without one.
    pub(crate) fn needs_login(&self) -> bool {
        self.upstream.is_none()
    }

    /// Whether the built-in model is asked, which sees nothing of value.
    pub(crate) fn is_for_demo(&self) -> bool {
        self.model == DEMO_MODEL
    }

    /// Leaves out reasoning that the upstream cannot read; false if there is none that may be left out.
    pub(crate) fn leave_reasoning_out(&mut self) -> bool {
        let Some(mut history) = self.expendable.take() else { return false };
        history.retain(|item| !item.is_expendable());
        // The names have their aliases already, and what was taken with more is taken with less.
        let mut aliases = ToolAliases::clone(&self.aliases);
        let Ok(items) = history::to_wire(&history, &mut aliases, |_, _| {}) else { return false };
        self.items = items;
        // What is noted down would not be what the thread has.
        self.trail = None;
        !self.items.is_empty()
    }

    /// What a turn notes down that begins with the whole history in its thread, or that goes on from
    /// what the thread has had.
    pub(crate) fn keeping(&self, thread: Option<&Transcript>) -> Option<Keeping> {
        let whole = self.trail.as_ref()?.transcript().clone();
        let transcript = match thread {
            Some(thread) => whole.with_thoughts_of(thread),
            None => whole,
        };
        Some(Keeping::new(transcript, Arc::clone(&self.offered)))
    }

    /// The same for a turn that is resumed: Codex tells what it makes of the outputs.
    pub(crate) fn keeping_on(&self, thread: &Transcript) -> Option<Keeping> {
        self.trail.as_ref()?;
        Some(Keeping::new(thread.clone(), Arc::clone(&self.offered)))
    }

    pub(crate) fn dynamic_tools(&self) -> Vec<DynamicTool<'_>> {
        dynamic_tools(&self.tools, &self.tool_names)
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
    /// Checks a request, and finds the thread that it can go on in.
    pub(crate) fn new(
        request: TurnRequest,
        options: TurnOptions,
        consumer: Consumer,
        kept: Option<&Arc<KeptThreads>>,
    ) -> Result<(Self, Turn), InvalidTurn> {
        let secret = request.upstream.as_ref().and_then(|upstream| upstream.api_key.clone());
        let owner = request.owner.clone();
        let plan = Plan::new(request, kept.map(|kept| kept.key()))?;
        let keeper = kept.cloned().zip(owner);
        let (events, receiver) =
            channel::channel(options.max_waiting_bytes, consumer.overflow.clone());
        let (control, commands) = watch::channel(Command::Run);
        let asked_at = Instant::now();
        let found = match (kept, &plan.trail) {
            (Some(kept), Some(trail)) => kept.find(trail, &plan.items),
            _ => Err(FreshReason::Off),
        };
        let link = Arc::new(ThreadLink::new(keeper));
        // Until a thread that was found is really gone on with.
        let reason = found.as_ref().err().copied().unwrap_or(FreshReason::NotReady);
        link.tell(Continued::Fresh(reason));
        let found = found.ok();
        let turn = Turn::new(receiver, control, Arc::clone(&link), secret);
        let planned = Self { plan, options, events, commands, asked_at, consumer, link, found };
        Ok((planned, turn))
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

fn dynamic_tools<'a>(tools: &'a [Tool], names: &'a [String]) -> Vec<DynamicTool<'a>> {
    tools
        .iter()
        .zip(names)
        .map(|(tool, name)| DynamicTool {
            r#type: "function",
            name,
            description: &tool.description,
            input_schema: &tool.parameters,
        })
        .collect()
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

/// Everything that the model sees, and where it is asked, beside the conversation.
fn setting(
    request: &TurnRequest,
    owner: &str,
    tools: &[DynamicTool<'_>],
) -> serde_json::Result<Vec<u8>> {
    let upstream = request.upstream.as_ref();
    let upstream = upstream.map(|upstream| (&upstream.base_url, &upstream.api_key));
    let TurnRequest { model, effort, summary, output_schema, .. } = request;
    serde_json::to_vec(&(owner, model, effort, summary, output_schema, upstream, tools))
}
