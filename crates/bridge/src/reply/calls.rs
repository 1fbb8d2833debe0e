//! The calls of one choice: which are forwarded, and how they look.

use std::borrow::Cow;
use std::collections::HashMap;
use std::mem;
use std::sync::Arc;

use model_turn::{Failure, InputDeviation, ToolCall, ToolCallKind, ToolName};
use openai_wire::{CallHead, CallPart};
use serde_json::{Value, json};
use tool_call_aggregator::obsidian::{XmlOptions, render_obsidian_xml};
use tool_call_aggregator::{
    Arguments, ArgumentsValue, CallEvent, IdPolicy, Ingest, Position, SuffixSource, TextPatterns,
    TextScanner, ToolCallAggregator, ToolCallDelta, UseTool, backend_call_id,
};

use super::ending::Ending;
use super::failures::{changed, too_large};
use crate::declared_tools::DeclaredTools;
use crate::finish::{EndReason, InputDeviations};
use crate::policy::{OutputMode, TurnPolicy};

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
    deviations: InputDeviations,
    /// What was forwarded, to find repetitions; empty unless these are dropped.
    known: HashMap<NameAndValue, Forms>,
}

/// A call's block in the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block<'a> {
    /// The block, byte for byte.
    pub(super) raw: &'a str,
    /// Where it begins in all of the text.
    pub(super) start: usize,
}

/// How a call has come so far.
#[derive(Debug, Default)]
struct Forms {
    structured: bool,
    block: bool,
}

/// A call that was forwarded in part.
#[derive(Debug)]
struct OpenCall {
    /// The backend's.
    call_id: String,
    kind: ToolCallKind,
    has_text: bool,
}

/// Equal for identical calls.
type NameAndValue = (String, ArgumentsValue);

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
        let mut records = self.aggregator.records(self.choice);
        records.all(|record| backend_call_id(&record.id) == record.backend_id)
    }

    /// Names and ids of what was forwarded.
    pub(super) fn names_and_ids(&self) -> (Vec<String>, Vec<String>) {
        let forwarded = self.aggregator.records(self.choice).take(self.forwarded);
        forwarded.map(|record| (record.name.clone(), record.id.clone())).unzip()
    }

    /// Begins to forward a call; `None` if that is decided when it is whole.
    pub(super) fn start<'a>(
        &'a mut self,
        call_id: &str,
        name: &'a ToolName,
        kind: ToolCallKind,
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
        self.open = Some(OpenCall { call_id: call_id.to_owned(), kind, has_text: false });
        self.streamed += 1;
        Some(part(&delta, name.namespace.as_deref(), kind))
    }

    /// More arguments of the open call.
    pub(super) fn extend(&mut self, arguments: &str) -> Result<Option<CallPart<'_>>, Failure> {
        let Some(open) = &mut self.open else { return Ok(None) };
        open.has_text |= !arguments.is_empty();
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
        let (event, kind) = (event(call, None), call.kind);
        if call.arguments.is_empty() {
            if self.open.as_ref().is_some_and(|open| open.has_text) {
                return Err(changed());
            }
            self.aggregator.ingest(self.choice, &event);
            // For no arguments a client is sent some when there will be none.
            let last = self.aggregator.finish(self.choice).deltas.last();
            return Ok(last.map(|delta| part(&delta, None, kind)));
        }
        let Ingest { mut deltas, limit, .. } = self.aggregator.ingest(self.choice, &event);
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

    /// What to forward of a call: nothing if it was forwarded before, as a block or as a structured
    /// call. An error is how the choice has to end.
    pub(super) fn take<'a>(
        &'a mut self,
        call: &'a ToolCall,
        block: Option<Block<'_>>,
    ) -> Result<Option<CallPart<'a>>, Ending> {
        let key = self.policy.dedup.then(|| name_and_value(call));
        if key.as_ref().is_some_and(|key| self.is_known(key, block.is_some())) {
            return Ok(None);
        }
        let has_most = self.has_most();
        let Ingest { mut deltas, limit, .. } =
            self.aggregator.ingest(self.choice, &event(call, block));
        if let Some(limit) = limit {
            self.dropped = true;
            return Err(match self.forwarded {
                // Without any call the answer would look whole.
                0 => Ending::Failed(too_large(limit)),
                _ => Ending::Finished(EndReason::CallCap),
            });
        }
        let Some(delta) = deltas.next() else {
            return Ok(None);
        };
        if !delta.is_first() {
            return Err(Ending::Failed(changed()));
        }
        if has_most {
            self.dropped = true;
            return Err(Ending::Finished(EndReason::CallCap));
        }
        self.forwarded += 1;
        self.from_text += usize::from(block.is_some());
        if let Some(key) = key {
            *self.known.entry(key).or_default().of(block.is_some()) = true;
        }
        Ok(Some(part(&delta, call.name.namespace.as_deref(), call.kind)))
    }

    /// Whether a call was forwarded before. In the same form it is another one, which is dropped.
    fn is_known(&mut self, key: &NameAndValue, is_block: bool) -> bool {
        let Some(forms) = self.known.get_mut(key) else {
            return false;
        };
        self.dropped |= mem::replace(forms.of(is_block), true);
        true
    }
}

// === impl Forms ===

impl Forms {
    fn of(&mut self, is_block: bool) -> &mut bool {
        if is_block { &mut self.block } else { &mut self.structured }
    }
}

/// A whole call, as the aggregator takes it: a block has a position instead of ids.
fn event<'a>(call: &'a ToolCall, block: Option<Block<'_>>) -> CallEvent<'a> {
    CallEvent {
        call_id: Some(&call.call_id),
        item_id: call.item_id.as_deref(),
        position: block.map(|block| Position::TextBlock(block.start)),
        name: Some(&call.name.name),
        arguments: Arguments::Snapshot(&call.arguments),
        complete: true,
    }
}

fn name_and_value(call: &ToolCall) -> NameAndValue {
    let value = if call.kind.is_custom() {
        // A text is another one with another blank, also if it is JSON.
        ArgumentsValue::of(&Value::from(call.arguments.as_str()).to_string())
    } else {
        ArgumentsValue::of(&call.arguments)
    };
    (call.name.qualified(), value)
}

/// The block that is made for a structured call, and how many values differ in it.
pub(super) fn rendered(call: &ToolCall, policy: &TurnPolicy) -> (String, usize) {
    let name = call.name.qualified();
    let arguments = if call.kind.is_custom() {
        Cow::from(json!({"input": call.arguments}).to_string())
    } else {
        Cow::from(&call.arguments)
    };
    let options = XmlOptions {
        escaping: policy.xml_escaping,
        indent: INDENT,
        schema: policy.tools.schema(&name),
    };
    let rendered = render_obsidian_xml((name.as_str(), &*arguments), &options);
    (rendered.xml, rendered.altered)
}

/// What a client gets of a change.
fn part<'a>(
    delta: &ToolCallDelta<'a>,
    namespace: Option<&'a str>,
    kind: ToolCallKind,
) -> CallPart<'a> {
    let head = CallHead { id: delta.id, namespace, name: delta.name };
    CallPart {
        index: delta.index,
        head: delta.is_first().then_some(head),
        kind,
        // An empty text is an input, too.
        text: if kind.is_custom() { delta.appended } else { delta.new_arguments() },
    }
}

/// The built-in format, with the types that the request's own schemas give to values.
fn patterns(tools: &DeclaredTools) -> TextPatterns {
    let mut patterns = TextPatterns::none();
    // A set without formats takes any.
    let _ = patterns.register(UseTool::NAME, UseTool::with_schemas(tools.schemas()));
    patterns
}
