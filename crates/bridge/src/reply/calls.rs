//! The calls of one choice: which are forwarded, and how they look.

use std::collections::HashMap;
use std::sync::Arc;

use codex_app_server::Failure;
use codex_app_server::turn::event::ToolCall;
use tool_call_aggregator::obsidian::{XmlOptions, to_obsidian_xml};
use tool_call_aggregator::{
    Arguments, ArgumentsValue, CallEvent, IdPolicy, Ingest, Limit, ParsedTextBlock, Position,
    SuffixSource, TextPatterns, TextScanner, ToolCallAggregator, ToolCallDelta, UseTool,
    backend_call_id,
};

use super::failures::{changed, too_large};
use crate::policy::{DeclaredTools, OutputMode, TurnPolicy};

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
    /// The call that is being forwarded.
    open: Option<OpenCall>,
    dropped: bool,
    /// What was forwarded, to find repetitions; empty unless these are dropped.
    known: HashMap<NameAndValue, Sources>,
}

/// A call, as the model said it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spoken<'a> {
    name: &'a str,
    arguments: &'a str,
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
        delta: ToolCallDelta<'a>,
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
            open: None,
            dropped: false,
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
    pub(super) fn start(&mut self, call_id: &str, name: &str) -> Option<ToolCallDelta<'_>> {
        let held = self.policy.mode == OutputMode::ObsidianXml || self.policy.dedup;
        if held || self.has_most() {
            return None;
        }
        let event = CallEvent { call_id: Some(call_id), name: Some(name), ..CallEvent::default() };
        let mut deltas = self.aggregator.ingest(self.choice, &event).deltas;
        // One that is known already may be a repetition.
        let delta = deltas.next().filter(ToolCallDelta::is_first)?;
        self.open = Some(OpenCall { call_id: call_id.to_owned(), bytes: 0 });
        self.streamed += 1;
        Some(delta)
    }

    /// More arguments of the open call.
    pub(super) fn extend(&mut self, arguments: &str) -> Result<Option<ToolCallDelta<'_>>, Failure> {
        let Some(open) = &mut self.open else { return Ok(None) };
        open.bytes += arguments.len();
        let event = CallEvent {
            call_id: Some(&open.call_id),
            arguments: Arguments::Increment(arguments),
            ..CallEvent::default()
        };
        let Ingest { mut deltas, limit, .. } = self.aggregator.ingest(self.choice, &event);
        limit.map_or_else(|| Ok(deltas.next()), |limit| Err(too_large(limit)))
    }

    /// The open call is whole: gives what is left to forward of it. [`Self::close`] follows.
    pub(super) fn complete(
        &mut self,
        call: &ToolCall,
    ) -> Result<Option<ToolCallDelta<'_>>, Failure> {
        let whole = Spoken::structured(call).event();
        if call.arguments.is_empty() {
            if self.open.as_ref().is_some_and(|open| open.bytes > 0) {
                return Err(changed());
            }
            self.aggregator.ingest(self.choice, &whole);
            // For no arguments a client is sent some when there will be none.
            return Ok(self.aggregator.finish(self.choice).deltas.last());
        }
        let Ingest { mut deltas, limit, .. } = self.aggregator.ingest(self.choice, &whole);
        match (limit, deltas.next()) {
            (Some(limit), _) => Err(too_large(limit)),
            (None, Some(delta)) if delta.replaced => Err(changed()),
            (None, rest) => Ok(rest),
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

    pub(super) fn take(&mut self, spoken: Spoken<'_>) -> CallOutcome<'_> {
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
        CallOutcome::New { delta, xml: spoken.xml(&self.policy) }
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
        Self { name: &call.name, arguments: &call.arguments, way }
    }

    /// A block of a text that began `offset` bytes into everything that was said.
    pub(super) fn block(block: &'a ParsedTextBlock, offset: usize) -> Self {
        let way = Way::Block { raw: &block.raw, position: offset + block.start };
        Self { name: &block.name, arguments: &block.args_text, way }
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
            Way::Structured { .. } => [self.name, self.arguments],
            Way::Block { raw, .. } => [raw, ""],
        }
    }

    fn name_and_value(self) -> NameAndValue {
        (self.name.to_owned(), ArgumentsValue::of(self.arguments))
    }

    fn event(self) -> CallEvent<'a> {
        match self.way {
            Way::Structured { call_id, item_id } => {
                CallEvent { item_id, ..CallEvent::whole(call_id, self.name, self.arguments) }
            }
            Way::Block { position, .. } => CallEvent {
                position: Some(Position::TextBlock(position)),
                name: Some(self.name),
                arguments: Arguments::Snapshot(self.arguments),
                complete: true,
                ..CallEvent::default()
            },
        }
    }

    /// The model's own block byte for byte, or one made for the call.
    fn xml(self, policy: &TurnPolicy) -> Option<String> {
        match (policy.mode, self.way) {
            (OutputMode::OpenAiJson, _) => None,
            (OutputMode::ObsidianXml, Way::Block { raw, .. }) => Some(raw.to_owned()),
            (OutputMode::ObsidianXml, Way::Structured { .. }) => {
                let options = XmlOptions {
                    escaping: policy.xml_escaping,
                    indent: INDENT,
                    schema: policy.tools.schema(self.name),
                };
                Some(to_obsidian_xml((self.name, self.arguments), &options))
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

/// The built-in format, with the types that the request's own schemas give to values.
fn patterns(tools: &DeclaredTools) -> TextPatterns {
    let mut patterns = TextPatterns::none();
    // A set without formats takes any.
    let _ = patterns.register(UseTool::NAME, UseTool::with_schemas(tools.schemas()));
    patterns
}
