//! The calls of one choice: which are forwarded, and how they look.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use codex_app_server::turn::event::{ToolCall, ToolCallKind};
use codex_app_server::{Failure, InputDeviation, ToolName};
use openai_wire::{CallHead, CallKind, CallPart};
use serde_json::{Value, json};
use tool_call_aggregator::obsidian::{XmlOptions, render_obsidian_xml};
use tool_call_aggregator::{
    Arguments, ArgumentsValue, CallEvent, IdPolicy, Ingest, Limit, ParsedTextBlock, Position,
    SuffixSource, TextPatterns, TextScanner, ToolCallAggregator, ToolCallDelta, UseTool,
    backend_call_id,
};

use super::failures::{changed, too_large};
use crate::finish::InputDeviations;
use crate::policy::{DeclaredTools, OtherTool, OutputMode, TurnPolicy};

/// Spaces before each line of a rendered block.
const INDENT: usize = 2;

/// Every call of a choice that was forwarded.
#[derive(Debug)]
pub(super) struct Calls {
    aggregator: ToolCallAggregator,
    choice: u32,
    policy: Arc<TurnPolicy>,
    forwarded: usize,
    /// How many of them stood in the text.
    from_text: usize,
    /// How many calls were forwarded before they were whole.
    streamed: usize,
    /// How many values differ in the blocks that were made for calls.
    altered_values: usize,
    /// The call that is being forwarded.
    open: Option<OpenCall>,
    dropped: bool,
    deviations: InputDeviations,
    /// What was forwarded, to find repetitions; empty unless these are dropped.
    known: HashMap<NameAndValue, Sources>,
}

/// A call, as the model said it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spoken<'a> {
    namespace: Option<&'a str>,
    name: &'a str,
    kind: CallKind,
    /// Its arguments, or its input.
    text: &'a str,
    way: Way<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Way<'a> {
    Structured { call_id: &'a str, item_id: Option<&'a str> },
    Block { raw: &'a str, position: usize },
}

/// What became of a call.
pub(super) enum CallOutcome<'a> {
    /// It is forwarded.
    New {
        part: CallPart<'a>,
        /// Its block, where blocks are shown.
        xml: Option<String>,
    },
    /// It was said before in another way: as a block and as a structured call.
    Known,
    /// It is identical to an earlier one, and dropped.
    Repeated,
    /// There are more calls than allowed, and it is dropped.
    TooMany,
    /// It is over a limit of the aggregator, and dropped: it is missing or incomplete, and nobody
    /// may act on it.
    TooLarge(Limit),
    /// The backend says something else about a call that was forwarded.
    Changed,
}

/// A call that was forwarded in part.
#[derive(Debug)]
struct OpenCall {
    /// The backend's.
    call_id: String,
    kind: CallKind,
    /// Of arguments that were forwarded.
    bytes: usize,
}

/// Equal for identical calls.
type NameAndValue = (String, ArgumentsValue);

/// Where a call came from.
#[derive(Debug)]
struct Sources {
    structured: bool,
    as_block: bool,
}

// === impl Calls ===

impl Calls {
    pub(super) fn new(policy: &Arc<TurnPolicy>, choice: u32, id_suffix: SuffixSource) -> Self {
        let aggregator = ToolCallAggregator::builder()
            .id_policy(IdPolicy::BackendSuffix(id_suffix))
            .limits(policy.limits)
            .patterns(patterns(&policy.tools))
            .build();
        let policy = Arc::clone(policy);
        Self {
            aggregator,
            choice,
            policy,
            forwarded: 0,
            from_text: 0,
            streamed: 0,
            altered_values: 0,
            open: None,
            dropped: false,
            deviations: InputDeviations::default(),
            known: HashMap::new(),
        }
    }

    pub(super) fn scanner(&self) -> TextScanner {
        self.aggregator.scanner()
    }

    pub(super) fn count(&self) -> usize {
        self.forwarded
    }

    pub(super) fn count_of_text(&self) -> usize {
        self.from_text
    }

    pub(super) fn count_of_streamed(&self) -> usize {
        self.streamed
    }

    pub(super) fn deviations(&self) -> InputDeviations {
        self.deviations
    }

    /// A whole structured call has come.
    pub(super) fn note_deviation(&mut self, call: &ToolCall) {
        match call.deviation {
            None => {}
            Some(InputDeviation::Raw) => self.deviations.raw += 1,
            Some(InputDeviation::Malformed) => self.deviations.malformed += 1,
        }
    }

    pub(super) fn count_of_altered_values(&self) -> usize {
        self.altered_values
    }

    /// Whether a call was forwarded in part.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Whether that is the call with this id.
    pub(super) fn is_open_call(&self, call_id: &str) -> bool {
        self.open.as_ref().is_some_and(|open| open.call_id == call_id)
    }

    pub(super) fn has_dropped(&self) -> bool {
        self.dropped
    }

    /// Whether the backend knows each call again by the id that a client sends back.
    pub(super) fn ids_come_back(&self) -> bool {
        let records = self.aggregator.snapshot(self.choice);
        records.iter().all(|record| backend_call_id(&record.id) == record.backend_id)
    }

    /// Names and ids of what was forwarded.
    pub(super) fn names_and_ids(&self) -> (Vec<String>, Vec<String>) {
        let records = self.aggregator.snapshot(self.choice);
        let forwarded = records.into_iter().take(self.forwarded);
        forwarded.map(|record| (record.name, record.id)).unzip()
    }

    /// Begins to forward a call; `None` if that is decided when it is whole.
    pub(super) fn start<'a>(
        &'a mut self,
        call_id: &str,
        name: &'a ToolName,
        kind: CallKind,
    ) -> Option<CallPart<'a>> {
        let held = self.policy.mode == OutputMode::ObsidianXml || self.policy.dedup;
        if held || self.has_most() {
            return None;
        }
        let event =
            CallEvent { call_id: Some(call_id), name: Some(&name.name), ..CallEvent::default() };
        let mut deltas = self.aggregator.ingest(self.choice, &event).deltas;
        // One that is known already may be a repetition.
        let delta = deltas.next().filter(ToolCallDelta::is_first)?;
        self.open = Some(OpenCall { call_id: call_id.to_owned(), kind, bytes: 0 });
        self.streamed += 1;
        Some(part(&delta, name.namespace.as_deref(), kind))
    }

    /// More arguments of the open call.
    pub(super) fn extend(&mut self, arguments: &str) -> Result<Option<CallPart<'_>>, Failure> {
        let Some(open) = &mut self.open else { return Ok(None) };
        open.bytes += arguments.len();
        let kind = open.kind;
        let event = CallEvent {
            call_id: Some(&open.call_id),
            arguments: Arguments::Increment(arguments),
            ..CallEvent::default()
        };
        let Ingest { mut deltas, limit, .. } = self.aggregator.ingest(self.choice, &event);
        let mut more = || deltas.next().map(|delta| part(&delta, None, kind));
        limit.map_or_else(|| Ok(more()), |limit| Err(too_large(limit)))
    }

    /// The open call is whole: gives what is left to forward of it. [`Self::close`] follows.
    pub(super) fn complete(&mut self, call: &ToolCall) -> Result<Option<CallPart<'_>>, Failure> {
        let spoken = Spoken::structured(call);
        let (whole, kind) = (spoken.event(), spoken.kind);
        if call.arguments.is_empty() {
            if self.open.as_ref().is_some_and(|open| open.bytes > 0) {
                return Err(changed());
            }
            self.aggregator.ingest(self.choice, &whole);
            // For no arguments a client is sent some when there will be none.
            let last = self.aggregator.finish(self.choice).deltas.last();
            return Ok(last.map(|delta| part(&delta, None, kind)));
        }
        let Ingest { mut deltas, limit, .. } = self.aggregator.ingest(self.choice, &whole);
        match (limit, deltas.next()) {
            (Some(limit), _) => Err(too_large(limit)),
            (None, Some(delta)) if delta.replaced => Err(changed()),
            (None, rest) => Ok(rest.map(|delta| part(&delta, None, kind))),
        }
    }

    /// The open call is forwarded.
    pub(super) fn close(&mut self) {
        self.open = None;
        self.forwarded += 1;
    }

    fn has_most(&self) -> bool {
        self.policy.max_calls.is_some_and(|most| self.forwarded >= most.get())
    }

    pub(super) fn take<'a>(&'a mut self, spoken: Spoken<'a>) -> CallOutcome<'a> {
        let key = self.policy.dedup.then(|| spoken.name_and_value());
        if let Some(outcome) = key.as_ref().and_then(|key| self.repetition(key, spoken.way)) {
            return outcome;
        }
        let has_most = self.has_most();
        let Ingest { mut deltas, limit, .. } = self.aggregator.ingest(self.choice, &spoken.event());
        if let Some(limit) = limit {
            self.dropped = true;
            return CallOutcome::TooLarge(limit);
        }
        let Some(delta) = deltas.next() else {
            return CallOutcome::Known;
        };
        if !delta.is_first() {
            return CallOutcome::Changed;
        }
        if has_most {
            self.dropped = true;
            return CallOutcome::TooMany;
        }
        self.forwarded += 1;
        if let Way::Block { .. } = spoken.way {
            self.from_text += 1;
        }
        self.known.extend(key.map(|key| (key, Sources::of(spoken.way))));
        let (xml, altered) = spoken.xml(&self.policy).unzip();
        self.altered_values += altered.unwrap_or(0);
        CallOutcome::New { part: part(&delta, spoken.namespace, spoken.kind), xml }
    }

    /// Whether a call was forwarded before: dropped if it was said in the same way, and otherwise
    /// the same call.
    fn repetition(&mut self, key: &NameAndValue, way: Way<'_>) -> Option<CallOutcome<'static>> {
        let known = self.known.get_mut(key)?;
        let way = match way {
            Way::Structured { .. } => &mut known.structured,
            Way::Block { .. } => &mut known.as_block,
        };
        if !std::mem::replace(way, true) {
            return Some(CallOutcome::Known);
        }
        self.dropped = true;
        Some(CallOutcome::Repeated)
    }
}

// === impl Spoken ===

impl<'a> Spoken<'a> {
    pub(super) fn structured(call: &'a ToolCall) -> Self {
        let way = Way::Structured { call_id: &call.call_id, item_id: call.item_id.as_deref() };
        Self {
            namespace: call.name.namespace.as_deref(),
            name: &call.name.name,
            kind: call_kind(call.kind),
            text: &call.arguments,
            way,
        }
    }

    /// A block of a text that began `offset` bytes into everything that was said. `input` is that of a
    /// custom tool.
    pub(super) fn block(
        block: &'a ParsedTextBlock,
        offset: usize,
        other: Option<&'a OtherTool>,
        input: Option<&'a str>,
    ) -> Self {
        let way = Way::Block { raw: &block.raw, position: offset + block.start };
        Self {
            namespace: other.and_then(|tool| tool.namespace.as_deref()),
            name: other.map_or(&block.name, |tool| &tool.name),
            kind: if input.is_some() { CallKind::Custom } else { CallKind::Function },
            text: input.unwrap_or(&block.args_text),
            way,
        }
    }

    /// Bytes of visible text that it has.
    pub(super) fn text_bytes(self) -> usize {
        match self.way {
            Way::Structured { .. } => 0,
            Way::Block { raw, .. } => raw.len(),
        }
    }

    /// The model's own words, for counting.
    pub(super) fn words(self) -> [&'a str; 2] {
        match self.way {
            Way::Structured { .. } => [self.name, self.text],
            Way::Block { raw, .. } => [raw, ""],
        }
    }

    fn name_and_value(self) -> NameAndValue {
        let value = match self.kind {
            CallKind::Function => ArgumentsValue::of(self.text),
            // A text is another one with another blank, also if it is JSON.
            CallKind::Custom => ArgumentsValue::of(&Value::from(self.text).to_string()),
        };
        (self.qualified_name(), value)
    }

    /// As [`DeclaredTools`] names it.
    fn qualified_name(self) -> String {
        match self.namespace {
            Some(namespace) => format!("{namespace}.{}", self.name),
            None => self.name.to_owned(),
        }
    }

    fn event(self) -> CallEvent<'a> {
        match self.way {
            Way::Structured { call_id, item_id } => {
                CallEvent { item_id, ..CallEvent::whole(call_id, self.name, self.text) }
            }
            Way::Block { position, .. } => CallEvent {
                position: Some(Position::TextBlock(position)),
                name: Some(self.name),
                arguments: Arguments::Snapshot(self.text),
                complete: true,
                ..CallEvent::default()
            },
        }
    }

    /// The model's own block byte for byte, or one made for the call, and how many values differ in it.
    fn xml(self, policy: &TurnPolicy) -> Option<(String, usize)> {
        match (policy.mode, self.way) {
            (OutputMode::OpenAiJson, _) => None,
            (OutputMode::ObsidianXml, Way::Block { raw, .. }) => Some((raw.to_owned(), 0)),
            (OutputMode::ObsidianXml, Way::Structured { .. }) => {
                let name = self.qualified_name();
                let arguments = match self.kind {
                    CallKind::Function => Cow::from(self.text),
                    CallKind::Custom => Cow::from(json!({"input": self.text}).to_string()),
                };
                let options = XmlOptions {
                    escaping: policy.xml_escaping,
                    indent: INDENT,
                    schema: policy.tools.schema(&name),
                };
                let rendered = render_obsidian_xml((name.as_str(), &*arguments), &options);
                Some((rendered.xml, rendered.altered))
            }
        }
    }
}

// === impl Sources ===

impl Sources {
    fn of(way: Way<'_>) -> Self {
        let structured = matches!(way, Way::Structured { .. });
        Self { structured, as_block: !structured }
    }
}

/// What a client gets of a change.
fn part<'a>(delta: &ToolCallDelta<'a>, namespace: Option<&'a str>, kind: CallKind) -> CallPart<'a> {
    let head = CallHead { id: delta.id, namespace, name: delta.name };
    CallPart {
        index: delta.index,
        head: delta.is_first().then_some(head),
        kind,
        text: match kind {
            CallKind::Function => delta.as_function_call().arguments,
            // An empty text is one, too.
            CallKind::Custom => delta.appended,
        },
    }
}

/// How a client sees a kind of call. Calls of the upstream's own tools look like functions.
pub(super) fn call_kind(kind: ToolCallKind) -> CallKind {
    match kind {
        ToolCallKind::Function | ToolCallKind::Foreign => CallKind::Function,
        ToolCallKind::Custom => CallKind::Custom,
    }
}

/// The input of a custom tool that was called in a block.
pub(super) fn block_input(block: &ParsedTextBlock) -> String {
    match serde_json::from_str(&block.args_text) {
        Ok(Value::Object(mut members)) if members.len() == 1 => match members.remove("input") {
            Some(Value::String(input)) => input,
            _ => block.args_text.clone(),
        },
        _ => block.args_text.clone(),
    }
}

/// The built-in format, with the types that the request's own schemas give to values.
fn patterns(tools: &DeclaredTools) -> TextPatterns {
    let mut patterns = TextPatterns::none();
    // A set without formats takes any.
    let _ = patterns.register(UseTool::NAME, UseTool::with_schemas(tools.schemas()));
    patterns
}
