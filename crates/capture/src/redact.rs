//! A record without what was said.

mod answer;
mod json;
mod request;
mod response;
mod schema;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use model_turn::{Failure, ReasoningKind, ToolName, TurnEvent};
use tool_call_aggregator::obsidian;

use crate::mask::{Keys, Mask, MaskKey, Names};
use crate::record::{Api, Received, Record, Redaction, What};
use crate::replay::Replayed;
use crate::report::Report;
use json::JsonMask;
use schema::add_properties;

/// Words of the blocks that we read and write.
const GRAMMAR: [&str; 6] = ["use_tool", "name", "args", "arguments", "parameters", "tool_call"];

const BLOCK_TAG: &str = GRAMMAR[0];

/// How the upstream's ids of calls begin.
const CALL: &str = "call_";

/// Text that belongs together, however it was cut into events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Channel {
    Text {
        choice: u32,
    },
    Summary {
        choice: u32,
        item: usize,
        part: u32,
    },
    Reasoning {
        choice: u32,
        item: usize,
        part: u32,
    },
    /// Of a call that was streamed.
    Arguments {
        choice: u32,
        call: usize,
    },
}

/// Which text an event continues.
#[derive(Debug, Default)]
struct Continued {
    /// Items of reasoning that have ended, by their choices.
    items: HashMap<u32, usize>,
    /// Calls that were streamed, by their choices, and whether the last one is open.
    calls: HashMap<u32, (usize, bool)>,
}

// === impl Record ===

impl Record {
    /// Takes out everything that was said, and looks whether the rest still does the same.
    ///
    /// Words are replaced by others of the same length, in what the turns say equal ones by equal ones.
    /// What decides where an answer is cut is kept, so that the replay of a redacted record gives, byte for byte, what the
    /// redacted record says was sent: that is tried here, and noted in the header.
    #[must_use]
    pub fn redacted(&self, key: &MaskKey, origin: Instant) -> Self {
        let replayed = self.replay(origin);
        let names = Arc::new(names(self));
        let mut keys = Keys::new(key);
        let mut mask = Mask::new(&keys.fresh(), &names);
        let mut json = JsonMask::new(keys, names);
        let policy = &self.header.policy;
        let tag = policy.knows_blocks().then_some(BLOCK_TAG);
        for held in policy.stop_sequences.iter().map(String::as_str).chain(tag) {
            mask.heed(held);
        }
        let mut redacted = self.clone();
        redacted.mask_inputs(&mut mask, &mut json);
        let again = redacted.replay(origin);
        if self.begins(&replayed) && same_shape(&replayed, &again) {
            redacted.header.redaction = Redaction::Exact;
            redacted.put_outcome(&again);
        } else {
            redacted.header.redaction = Redaction::Inexact;
            redacted.mask_outcome(&mut mask, &mut json);
        }
        redacted
    }

    /// Masks everything that a replay is made of, and the request.
    fn mask_inputs(&mut self, mask: &mut Mask, json: &mut JsonMask) {
        let mut masked = HashMap::new();
        for (channel, text) in channels(self) {
            masked.insert(channel, mask.text(&text));
        }
        let mut places = HashMap::new();
        let mut continued = Continued::default();
        for entry in &mut self.entries {
            let What::Event { choice, event } = &mut entry.what else { continue };
            let channel = continued.channel(*choice, event);
            match event {
                TurnEvent::Text(text)
                | TurnEvent::Reasoning { text, .. }
                | TurnEvent::ToolCallArguments(text) => {
                    let Some(channel) = channel else { continue };
                    let place = places.entry(channel).or_insert(0_usize);
                    let end = *place + text.len();
                    masked[&channel][*place..end].clone_into(text);
                    *place = end;
                }
                TurnEvent::ToolCall(call) => {
                    call.call_id = mask_call_id(&call.call_id, mask);
                    // By the same rule: an item id that is the call id stays so.
                    call.item_id = call.item_id.take().map(|id| mask_call_id(&id, mask));
                    mask_name(&mut call.name, mask);
                    call.arguments = match channel {
                        Some(channel) => masked[&channel].clone(),
                        None => mask.text(&call.arguments),
                    };
                }
                TurnEvent::ToolCallStart { call_id, name, .. } => {
                    *call_id = mask_call_id(call_id, mask);
                    mask_name(name, mask);
                }
                TurnEvent::Refusal(text) => *text = mask.text(text),
                TurnEvent::ResponseEnd { response_id, .. } => *response_id = json.id(response_id),
                TurnEvent::ReasoningItem(item) => {
                    for text in item.summary.iter_mut().chain(&mut item.encrypted_content) {
                        *text = mask.text(text);
                    }
                }
                TurnEvent::Failed(failure) => mask_failure(failure, json),
                TurnEvent::MessageStart { .. } | TurnEvent::End(_) => {}
            }
        }
        let policy = &mut self.header.policy;
        for sequence in &mut policy.stop_sequences {
            *sequence = mask.text(sequence);
        }
        policy.tools.schemas_mut().for_each(|schema| json.schema(schema));
        json.request(&mut self.header.request, &self.header.model);
        match &mut self.header.api {
            Api::Chat => {}
            Api::Responses { response } => json.response(response),
        }
    }

    /// What was sent is what the replay sends: it has the same shape, and so the same places to cut.
    fn put_outcome(&mut self, replayed: &Replayed) {
        let mut rest = replayed.received.text();
        for entry in &mut self.entries {
            match &mut entry.what {
                What::Sent(sent) => {
                    let (now, later) = rest.split_at(sent.len());
                    now.clone_into(sent);
                    rest = later;
                }
                What::Answer { body, .. } => replayed.received.text().clone_into(body),
                What::End(reports) => {
                    for (report, again) in reports.iter_mut().zip(&replayed.reports) {
                        report.call_names.clone_from(&again.call_names);
                        report.call_ids.clone_from(&again.call_ids);
                    }
                }
                _ => {}
            }
        }
    }

    /// What was sent, masked by itself.
    fn mask_outcome(&mut self, mask: &mut Mask, json: &mut JsonMask) {
        let api = &self.header.api;
        for entry in &mut self.entries {
            match &mut entry.what {
                What::Sent(sent) => {
                    let frames = sent.split_inclusive("\n\n");
                    let masked = frames.map(|frame| match api {
                        Api::Chat => json.frame(frame, mask),
                        Api::Responses { .. } => json.response_frame(frame, mask),
                    });
                    *sent = masked.collect();
                }
                What::Answer { body, .. } => {
                    *body = match api {
                        Api::Chat => json.body(body, mask),
                        Api::Responses { .. } => json.response_body(body, mask),
                    };
                }
                What::End(reports) => {
                    for report in reports {
                        for name in report.call_names.iter_mut().chain(&mut report.call_ids) {
                            *name = mask.text(name);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

// === impl Continued ===

impl Continued {
    /// Events are given in their order.
    fn channel(&mut self, choice: u32, event: &TurnEvent) -> Option<Channel> {
        let items = self.items.entry(choice).or_default();
        let item = *items;
        match event {
            TurnEvent::Text(_) => Some(Channel::Text { choice }),
            TurnEvent::Reasoning { kind: ReasoningKind::Summary, part, .. } => {
                Some(Channel::Summary { choice, item, part: *part })
            }
            TurnEvent::Reasoning { kind: ReasoningKind::Raw, part, .. } => {
                Some(Channel::Reasoning { choice, item, part: *part })
            }
            TurnEvent::ReasoningItem(_) => {
                // Its parts are numbered anew in the next one.
                *items += 1;
                None
            }
            TurnEvent::ToolCallStart { .. } => {
                let (calls, is_open) = self.calls.entry(choice).or_default();
                *calls += 1;
                *is_open = true;
                None
            }
            TurnEvent::ToolCallArguments(_) => self.open_call(choice),
            TurnEvent::ToolCall(_) => {
                let call = self.open_call(choice);
                if let Some((_, is_open)) = self.calls.get_mut(&choice) {
                    *is_open = false;
                }
                call
            }
            TurnEvent::MessageStart { .. }
            | TurnEvent::Refusal(_)
            | TurnEvent::ResponseEnd { .. }
            | TurnEvent::Failed(_)
            | TurnEvent::End(_) => None,
        }
    }

    fn open_call(&self, choice: u32) -> Option<Channel> {
        let (call, is_open) = *self.calls.get(&choice)?;
        is_open.then_some(Channel::Arguments { choice, call })
    }
}

fn mask_name(name: &mut ToolName, mask: &mut Mask) {
    name.name = mask.text(&name.name);
    name.namespace = name.namespace.take().map(|namespace| mask.text(&namespace));
}

/// Names that mean something to the bridge: those of the declared tools and their parameters, and
/// where blocks are read or written also those of the blocks.
fn names(record: &Record) -> Names {
    let policy = &record.header.policy;
    let mut names = Vec::new();
    for (tool, schema) in policy.tools.iter() {
        names.push(tool.to_owned());
        add_properties(schema, &mut names);
    }
    for tool in policy.tools.others() {
        names.push(tool.name.name.clone());
        names.extend(tool.name.namespace.clone());
    }
    if policy.knows_blocks() {
        names.extend(GRAMMAR.map(str::to_owned));
        for (tool, parameters) in obsidian::tools() {
            names.push(tool.to_owned());
            for parameter in parameters {
                let also = parameter.also.iter().copied();
                names.extend(also.chain([parameter.name]).map(str::to_owned));
            }
        }
    }
    names.into_iter().collect()
}

/// Every channel's whole text, in the order in which they begin.
fn channels(record: &Record) -> Vec<(Channel, String)> {
    let mut texts: Vec<(Channel, String)> = Vec::new();
    let mut places = HashMap::new();
    let mut continued = Continued::default();
    for entry in &record.entries {
        let What::Event { choice, event } = &entry.what else { continue };
        let Some(channel) = continued.channel(*choice, event) else { continue };
        let place = *places.entry(channel).or_insert_with(|| {
            texts.push((channel, String::new()));
            texts.len() - 1
        });
        let whole = &mut texts[place].1;
        match event {
            TurnEvent::Text(text)
            | TurnEvent::Reasoning { text, .. }
            | TurnEvent::ToolCallArguments(text) => whole.push_str(text),
            // What was streamed of it is its beginning.
            TurnEvent::ToolCall(call) if call.arguments.starts_with(whole.as_str()) => {
                whole.clone_from(&call.arguments);
            }
            _ => {}
        }
    }
    texts
}

/// What follows on `call_` becomes part of the id that the client sees.
fn mask_call_id(id: &str, mask: &mut Mask) -> String {
    match id.strip_prefix(CALL) {
        Some(rest) => format!("{CALL}{}", mask.text(rest)),
        None => mask.text(id),
    }
}

/// An upstream may say anything, also what it was asked.
fn mask_failure(failure: &mut Failure, json: &mut JsonMask) {
    failure.message = json.text(&failure.message);
    if let Some(body) = &mut failure.upstream_body {
        json.error(body);
    }
}

/// Whether two replays differ in words alone.
fn same_shape(one: &Replayed, other: &Replayed) -> bool {
    let status = |received: &Received| match received {
        Received::Whole { status, .. } => Some(*status),
        Received::Stream(_) | Received::Nothing => None,
    };
    status(&one.received) == status(&other.received)
        && alike(one.received.text(), other.received.text())
        && one.reports.len() == other.reports.len()
        && one.reports.iter().zip(&other.reports).all(|(one, other)| {
            let words = |report: &Report| [report.call_names.as_slice(), &report.call_ids].concat();
            let renamed = Report {
                call_names: other.call_names.clone(),
                call_ids: other.call_ids.clone(),
                ..one.clone()
            };
            let (one, again) = (words(one), words(other));
            renamed == *other
                && one.len() == again.len()
                && one.iter().zip(&again).all(|(one, again)| alike(one, again))
        })
}

/// Whether two texts have letters and signs of the same length, and all else in common.
fn alike(one: &str, other: &str) -> bool {
    let stays = |letter: char| {
        letter.is_whitespace() || (letter.is_ascii() && !letter.is_ascii_alphanumeric())
    };
    let shape = |letter: char| (letter.len_utf8(), stays(letter).then_some(letter));
    one.chars().map(shape).eq(other.chars().map(shape))
}

#[cfg(test)]
mod tests;
