//! A turn in Codex's own terms: checked, translated, and not yet given to any child.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use model_turn::{
    Failure, HistoryItem, InvalidTurn, JsonSchema, Role, Tool, ToolInput, ToolName, TurnEnd,
    TurnEvent, TurnRequest, Upstream,
};
use serde_json::{Map, Value, json};
use tokio::sync::watch;

use super::channel::{self, EventSender};
use super::keeping::Keeping;
use super::thread_link::ThreadLink;
use super::{Command, Consumer, Turn, TurnOptions};
use crate::catalog::DEMO_MODEL;
use crate::continuity::kept_threads::{Found, KeptThreads};
use crate::continuity::trail::Trail;
use crate::continuity::transcript::{FingerprintKey, Transcript};
use crate::continuity::{Continued, FreshReason};
use crate::history;
use crate::protocol::outgoing::{DynamicTool, ThreadStart, TurnStart};
use crate::tool_names::ToolNames;

/// The only provider of the configuration; a thread's overrides go below it.
const PROVIDER: &str = "model_providers.upstream";

/// What Codex will be asked.
#[derive(Debug)]
pub(crate) struct Plan {
    model: String,
    tools: Vec<OfferedTool>,
    pub(crate) names: Arc<ToolNames>,
    /// The history, each item in JSON.
    pub(crate) items: Vec<Box<str>>,
    /// What the items were made of, if there is something among them that can be left out.
    expendable: Option<Vec<HistoryItem>>,
    /// Whether the items hold images, which Codex decodes.
    pub(crate) has_images: bool,
    effort: Option<String>,
    summary: Option<String>,
    verbosity: Option<String>,
    service_tier: Option<String>,
    output_schema: Option<Value>,
    upstream: Option<Upstream>,
    /// Whether arguments are wanted before their call is whole.
    pub(crate) early_arguments: bool,
    /// What was said at every point of the history, if its thread may be kept.
    trail: Option<Trail>,
}

/// A tool as it is declared to Codex.
#[derive(Debug)]
struct OfferedTool {
    /// Towards Codex.
    name: ToolName,
    namespace_description: Arc<str>,
    description: String,
    parameters: JsonSchema,
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
        let mut names = ToolNames::default();
        let tools = std::mem::take(&mut request.tools).into_iter();
        let tools = tools
            .map(|tool| OfferedTool::new(tool, &mut names))
            .collect::<Result<Vec<_>, InvalidTurn>>()?;
        if !request.instructions.is_empty() {
            let instructions = std::mem::take(&mut request.instructions);
            request.history.insert(0, HistoryItem::text(Role::Developer, instructions));
        }
        if request.history.is_empty() {
            return Err(InvalidTurn::Empty);
        }
        let has_images = request.history.iter().any(HistoryItem::has_images);
        let mut trail = key.zip(request.owner.clone()).and_then(|(key, owner)| {
            let setting = setting(&request, &owner, &dynamic_tools(&tools)).ok()?;
            Some(Trail::begin(key, owner, &setting))
        });
        let items = history::to_wire(&request.history, &mut names, |item, json| {
            if let Some(trail) = &mut trail {
                trail.add(item, json);
            }
        })?;
        let is_expendable = request.history.iter().any(HistoryItem::is_expendable);
        Ok(Self {
            model: request.model,
            tools,
            names: Arc::new(names),
            items,
            expendable: is_expendable.then_some(request.history),
            has_images,
            effort: request.effort,
            summary: request.summary,
            verbosity: request.verbosity,
            service_tier: request.service_tier,
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
        let mut names = ToolNames::clone(&self.names);
        let Ok(items) = history::to_wire(&history, &mut names, |_, _| {}) else { return false };
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
        Some(Keeping::new(transcript, Arc::clone(&self.names)))
    }

    /// The same for a turn that is resumed: Codex tells what it makes of the outputs.
    pub(crate) fn keeping_on(&self, thread: &Transcript) -> Option<Keeping> {
        self.trail.as_ref()?;
        Some(Keeping::new(thread.clone(), Arc::clone(&self.names)))
    }

    pub(crate) fn dynamic_tools(&self) -> Vec<DynamicTool<'_>> {
        dynamic_tools(&self.tools)
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
            service_tier: self.service_tier.as_deref(),
            config: self.config(),
        }
    }

    /// What the thread has otherwise than the configuration.
    fn config(&self) -> Map<String, Value> {
        let mut config = self.upstream.as_ref().map(upstream_config).unwrap_or_default();
        if let Some(verbosity) = &self.verbosity {
            config.insert("model_verbosity".to_owned(), verbosity.as_str().into());
        }
        config
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
        let asked_at = ambient::now();
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

/// Longest description of a namespace that Codex accepts, in characters.
const MAX_NAMESPACE_DESCRIPTION: usize = 1_024;

/// The parameters of the function that stands for a custom tool.
static CUSTOM_PARAMETERS: LazyLock<JsonSchema> = LazyLock::new(|| {
    JsonSchema::from(json!({
        "type": "object",
        "properties": {"input": {"type": "string", "description": "The whole input, as it is."}},
        "required": ["input"],
        "additionalProperties": false,
    }))
});

// === impl OfferedTool ===

impl OfferedTool {
    fn new(tool: Tool, names: &mut ToolNames) -> Result<Self, InvalidTurn> {
        let Some(name) = names.declare(&tool) else {
            return Err(InvalidTurn::DuplicateTool(tool.name.to_string()));
        };
        let parameters = match tool.input {
            ToolInput::Json(schema) if schema.is_object() => schema,
            ToolInput::Json(_) => return Err(InvalidTurn::ToolParameters(tool.name.to_string())),
            ToolInput::Text => CUSTOM_PARAMETERS.clone(),
        };
        // Messages speak of the tool by its own name.
        let description = if name.name == tool.name.name {
            tool.description
        } else {
            format!("This is the tool `{}`. {}", tool.name.name, tool.description)
        };
        let namespace_description = tool.namespace_description;
        Ok(Self { name, namespace_description, description, parameters })
    }

    fn function<'a>(&'a self, description: Cow<'a, str>) -> DynamicTool<'a> {
        let (name, input_schema) = (&self.name.name, &self.parameters);
        DynamicTool::Function { name, description, input_schema }
    }

    /// The descriptions of its namespace and of itself, as the first tool in it. Codex refuses a long
    /// description of a namespace, so that the tool has it.
    fn first_of_namespace(&self) -> (Cow<'_, str>, Cow<'_, str>) {
        let (namespace, tool) = (&*self.namespace_description, self.description.as_str());
        match namespace.char_indices().nth(MAX_NAMESPACE_DESCRIPTION) {
            None => (namespace.into(), tool.into()),
            Some(_) => (
                "Described with its first tool.".into(),
                format!("{tool}\n\nAll tools of this namespace: {namespace}").into(),
            ),
        }
    }
}

/// The tools of a namespace stand together, where its first one was declared.
fn dynamic_tools(tools: &[OfferedTool]) -> Vec<DynamicTool<'_>> {
    let mut offered = Vec::with_capacity(tools.len());
    let mut namespaces: HashMap<&str, usize> = HashMap::new();
    for tool in tools {
        let Some(name) = tool.name.namespace.as_deref() else {
            offered.push(tool.function(tool.description.as_str().into()));
            continue;
        };
        let place = *namespaces.entry(name).or_insert(offered.len());
        if let Some(DynamicTool::Namespace { tools, .. }) = offered.get_mut(place) {
            tools.push(tool.function(tool.description.as_str().into()));
        } else {
            let (description, first) = tool.first_of_namespace();
            let tools = vec![tool.function(first)];
            offered.push(DynamicTool::Namespace { name, description, tools });
        }
    }
    offered
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
    let TurnRequest { model, effort, summary, verbosity, service_tier, output_schema, .. } =
        request;
    let asked = (model, effort, summary, verbosity, service_tier, output_schema);
    serde_json::to_vec(&(owner, asked, upstream, tools))
}
