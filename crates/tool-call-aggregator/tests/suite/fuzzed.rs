//! What the fuzzer checks, for any bytes. The fuzz targets are made of this file, and the inputs that
//! they have found are taken through it again by `fuzz_corpus`.

use std::collections::HashMap;

use serde_json::{Map, Value};
use tool_call_aggregator::{
    FragmentMode, Ingest, Limits, RepeatPolicy, ScanEvent, TextCalls, TextPatterns, TextScanner,
    ToolCallAggregator,
};

use crate::reference::{Grammar, parse};
use crate::scan::{patterns, scan};

/// The words of every wire, so that random objects look like events.
pub(crate) const KEYS: &[&str] = &[
    "type",
    "method",
    "params",
    "msg",
    "item",
    "delta",
    "message",
    "choices",
    "index",
    "id",
    "call_id",
    "callId",
    "item_id",
    "output_index",
    "tool_calls",
    "toolCalls",
    "function",
    "function_call",
    "name",
    "tool",
    "arguments",
    "input",
    "response",
    "output",
    "content",
    "text",
    "sequence_number",
    "response_id",
    "choice_index",
    "parallel_tool_calls",
    "turnId",
    "role",
    "status",
    "object",
];

/// Texts that mean something on some wire.
pub(crate) const WORDS: &[&str] = &[
    "",
    "a",
    "b",
    "call_1",
    "fc_1",
    "{",
    "}",
    "{\"a\":1}",
    "é🙂",
    "function_call",
    "function",
    "dynamicToolCall",
    "custom_tool_call",
    "message",
    "agentMessage",
    "output_text",
    "response",
    "response.output_item.added",
    "response.output_item.done",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.completed",
    "response.created",
    "item/tool/call",
    "item/completed",
    "<use_tool><name>x</name></use_tool>",
    "<use_tool>",
    "auto-compact-0",
];

const GRAMMARS: [&[Grammar]; 4] = [
    &[Grammar::UseTool],
    &[Grammar::UseTool, Grammar::ToolCall],
    &[Grammar::ToolCall],
    &[Grammar::UseTool, Grammar::ToolCall, Grammar::Bracket],
];

/// Takes the rest as a text, cut as the first bytes say: it must be read as the reference reads it
/// whole, and no limit may make the outcome depend on the cuts.
pub(crate) fn text(data: &[u8]) {
    let Some(([kind, step, jitter, limit], input)) = data.split_first_chunk() else { return };
    let text = String::from_utf8_lossy(input);
    // The reference leaves half a surrogate pair to serde_json, which refuses it.
    if text.contains("\\ud") || text.contains("\\uD") {
        return;
    }
    let grammars = GRAMMARS[usize::from(*kind) % GRAMMARS.len()];
    let patterns = patterns(grammars);
    let chunks = cut(input, *step, *jitter);
    assert_eq!(scan(&patterns, chunks.iter().copied()), parse(&text, grammars));
    let limits = Limits { held_bytes: 10 + usize::from(*limit) % 120, ..Limits::default() };
    let whole = within(&patterns, limits, &[input]);
    assert_eq!(within(&patterns, limits, &chunks), whole);
    assert_eq!(whole.0, text);
}

fn cut(mut input: &[u8], step: u8, jitter: u8) -> Vec<&[u8]> {
    let mut chunks = Vec::new();
    let mut state = u32::from(jitter);
    while !input.is_empty() {
        state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        let length = 1 + usize::try_from(state >> 16).unwrap_or(0) % (1 + usize::from(step));
        let (chunk, rest) = input.split_at(length.min(input.len()));
        chunks.push(chunk);
        input = rest;
    }
    chunks
}

/// Everything that came out, in one text, and the places of the blocks.
fn within(
    patterns: &TextPatterns,
    limits: Limits,
    chunks: &[&[u8]],
) -> (String, Vec<(usize, usize)>) {
    let mut scanner = TextScanner::with_limits(patterns, limits);
    let (mut passed, mut blocks) = (String::new(), Vec::new());
    let mut take = |event: ScanEvent<'_>| match event {
        ScanEvent::Text(text) => passed.push_str(text),
        ScanEvent::BlockOpened { .. } => {}
        ScanEvent::Block(block) => {
            passed.push_str(&block.raw);
            blocks.push((block.start, block.end));
        }
    };
    for chunk in chunks {
        scanner.push_bytes(chunk).for_each(&mut take);
    }
    scanner.finish().for_each(&mut take);
    (passed, blocks)
}

/// Takes the rest as events: JSON lines, or objects made of the wires' words.
pub(crate) fn events(data: &[u8]) {
    let Some(([kind, options], input)) = data.split_first_chunk() else { return };
    let mut checked = Checked::new(*options);
    if kind % 2 == 0 {
        for line in input.split(|byte| *byte == b'\n') {
            if let Ok(event) = serde_json::from_slice(line) {
                checked.ingest(&event, None, kind % 4 == 0);
            }
        }
    } else {
        let mut bytes = input.iter().copied();
        while bytes.len() > 0 {
            let head = bytes.next().unwrap_or_default();
            let event = made_of(&mut bytes, 5);
            let choice = u32::from(head % 3);
            checked.ingest(&event, (choice > 0).then_some(choice), head & 4 > 0);
        }
    }
    checked.finish();
}

fn made_of(bytes: &mut impl Iterator<Item = u8>, depth: usize) -> Value {
    let head = usize::from(bytes.next().unwrap_or_default());
    let count = head / 8 % 6;
    match head % 8 {
        0 => Value::Null,
        1 => Value::from(head & 8 > 0),
        2 => Value::from(count),
        3 => Value::from(WORDS[usize::from(bytes.next().unwrap_or_default()) % WORDS.len()]),
        4 if depth > 0 => (0..count).map(|_| made_of(bytes, depth - 1)).collect(),
        5..=7 if depth > 0 => {
            let mut members = Map::new();
            for _ in 0..count {
                let key = KEYS[usize::from(bytes.next().unwrap_or_default()) % KEYS.len()];
                members.insert(key.to_owned(), made_of(bytes, depth - 1));
            }
            Value::from(members)
        }
        _ => Value::from("x"),
    }
}

/// An aggregator and a client that has received all of its deltas.
pub(crate) struct Checked {
    calls: ToolCallAggregator,
    held: HashMap<(u32, usize), Held>,
}

/// What the client holds of a call.
#[derive(Default)]
struct Held {
    id: String,
    arguments: String,
    /// The arguments by the frames alone; `None` once a frame could not be written.
    by_frames: Option<String>,
}

impl Checked {
    pub(crate) fn new(options: u8) -> Self {
        let mut builder = ToolCallAggregator::builder();
        if options & 1 > 0 {
            builder = builder.fragments(FragmentMode::Cumulative);
        }
        if options & 2 > 0 {
            builder = builder.repeat_policy(RepeatPolicy::DropImmediateRepeats);
        }
        if options & 4 > 0 {
            builder = builder.limits(Limits {
                calls: 3,
                name_bytes: 8,
                argument_bytes: 64,
                held_bytes: 32,
            });
        }
        Self { calls: builder.build(), held: HashMap::new() }
    }

    /// Takes an event; the client must then hold what the snapshots say.
    pub(crate) fn ingest(&mut self, event: &Value, choice: Option<u32>, is_message: bool) {
        let ingest = if is_message {
            self.calls.ingest_message(event, choice, TextCalls::EmitIfMissing)
        } else {
            self.calls.ingest_delta(event, choice)
        };
        if let Some(choice) = choice {
            assert!(ingest.deltas.clone().all(|delta| delta.choice == choice));
        }
        receive(&mut self.held, ingest);
        self.compare(|held, on_the_wire| {
            held == on_the_wire || (held.is_empty() && on_the_wire == "{}")
        });
    }

    /// Ends the turn: now the client must hold `{}` for no arguments.
    pub(crate) fn finish(&mut self) {
        let choices: Vec<u32> = self.calls.choices().collect();
        for choice in choices {
            receive(&mut self.held, self.calls.finish(choice));
        }
        self.compare(|held, on_the_wire| held == on_the_wire);
    }

    fn compare(&self, is_right: impl Fn(&str, &str) -> bool) {
        let mut known = 0;
        for choice in self.calls.choices() {
            for (index, record) in self.calls.snapshot(choice).into_iter().enumerate() {
                assert!(!record.name.is_empty());
                let held = &self.held[&(choice, index)];
                assert_eq!((&held.id, &held.arguments), (&record.id, &record.arguments));
                // A call that was cut off is never completed, not even by `{}`.
                let is_cut_off = self.calls.is_cut_off(choice, index);
                if let Some(by_frames) = held.by_frames.as_ref().filter(|_| !is_cut_off) {
                    let on_the_wire = record.as_function_call().arguments;
                    assert!(is_right(by_frames, on_the_wire), "{by_frames:?}, not {on_the_wire:?}");
                }
                known += 1;
            }
        }
        assert_eq!(known, self.held.len());
    }
}

fn receive(held: &mut HashMap<(u32, usize), Held>, ingest: Ingest<'_>) {
    assert_eq!(ingest.deltas.len(), ingest.deltas.clone().count());
    assert_eq!(ingest.updated, ingest.deltas.len() > 0);
    for delta in ingest.deltas {
        let place = (delta.choice, delta.index);
        assert_eq!(delta.is_first(), !held.contains_key(&place));
        let call = held.entry(place).or_insert_with(|| Held {
            id: delta.id.to_owned(),
            by_frames: Some(String::new()),
            ..Held::default()
        });
        assert_eq!(call.id, delta.id);
        if delta.replaced {
            call.arguments.clear();
        }
        call.arguments.push_str(delta.appended);
        assert_eq!(call.arguments, delta.arguments);
        assert_eq!(delta.sendable().is_err(), delta.replaced);
        match serde_json::to_value(delta) {
            Ok(frame) => {
                if let Some(text) = &mut call.by_frames {
                    text.push_str(frame["function"]["arguments"].as_str().unwrap_or("?"));
                }
            }
            Err(_) => call.by_frames = None,
        }
        assert!(!delta.replaced || call.by_frames.is_none());
    }
}
