//! A record without what was said.

mod json;

use std::collections::HashMap;
use std::time::Instant;

use codex_app_server::Failure;
use codex_app_server::turn::event::{ReasoningKind, TurnEvent};
use serde_json::Value;
use tool_call_aggregator::obsidian;

use crate::mask::{Mask, MaskKey, Names};
use crate::record::{Record, Redaction, Told, What};
use crate::replay::{Replayed, Verdict};
use crate::report::Report;
use json::JsonMask;

/// Words of the blocks that we read and write.
const GRAMMAR: [&str; 6] = ["use_tool", "name", "args", "arguments", "parameters", "tool_call"];

const BLOCK_TAG: &str = GRAMMAR[0];

/// Text that belongs together, however it was cut into events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Channel {
    Text { choice: u32 },
    Summary { choice: u32, part: u32 },
    Reasoning { choice: u32, part: u32 },
}

// === impl Record ===

impl Record {
    /// Takes out everything that was said, and looks whether the rest still does the same.
    ///
    /// Words are replaced by others of the same length, equal ones by equal ones. What decides where an
    /// answer is cut is kept, so that the replay of a redacted record gives, byte for byte, what the
    /// redacted record says was sent: that is tried here, and noted in the header.
    #[must_use]
    pub fn redacted(&self, key: &MaskKey, origin: Instant) -> Self {
        let replayed = self.replay(origin);
        let names = names(self);
        let mut mask = Mask::new(key, names);
        let policy = &self.header.policy;
        let tag = policy.knows_blocks().then_some(BLOCK_TAG);
        for held in policy.stop_sequences.iter().map(String::as_str).chain(tag) {
            mask.heed(held);
        }
        let mut redacted = self.clone();
        redacted.mask_inputs(&mut mask);
        let again = redacted.replay(origin);
        let is_faithful = !matches!(self.compare(&replayed), Verdict::OtherAnswer { .. });
        if is_faithful && same_shape(&replayed, &again) {
            redacted.header.redaction = Redaction::Exact;
            redacted.put_outcome(&again);
        } else {
            redacted.header.redaction = Redaction::Inexact;
            redacted.mask_outcome(&mut mask);
        }
        redacted
    }

    /// Masks everything that a replay is made of.
    fn mask_inputs(&mut self, mask: &mut Mask) {
        let mut masked = HashMap::new();
        for (channel, text) in channels(self) {
            masked.insert(channel, mask.text(&text));
        }
        let mut places = HashMap::new();
        for entry in &mut self.entries {
            let What::Event { choice, event } = &mut entry.what else { continue };
            let channel = channel_of(*choice, event);
            match event {
                TurnEvent::Text(text) | TurnEvent::Reasoning { text, .. } => {
                    let Some(channel) = channel else { continue };
                    let place = places.entry(channel).or_insert(0_usize);
                    let end = *place + text.len();
                    masked[&channel][*place..end].clone_into(text);
                    *place = end;
                }
                TurnEvent::ToolCall(call) => {
                    mask_id(&mut call.call_id, mask);
                    call.name = mask.text(&call.name);
                    call.arguments = mask.text(&call.arguments);
                }
                TurnEvent::ResponseEnd { response_id, .. } => mask_id(response_id, mask),
                TurnEvent::Failed(failure) => mask_failure(failure, mask),
                TurnEvent::End(_) => {}
            }
        }
        let policy = &mut self.header.policy;
        for sequence in &mut policy.stop_sequences {
            *sequence = mask.text(sequence);
        }
        for schema in policy.tools.values_mut() {
            JsonMask(mask).schema(schema);
        }
        JsonMask(mask).known(&mut self.header.request);
    }

    /// What was sent is what the replay sends: it has the same shape, and so the same places to cut.
    fn put_outcome(&mut self, replayed: &Replayed) {
        let mut rest = replayed.told.text();
        for entry in &mut self.entries {
            match &mut entry.what {
                What::Sent(sent) => {
                    let (now, later) = rest.split_at(sent.len());
                    now.clone_into(sent);
                    rest = later;
                }
                What::Answer { body, .. } => replayed.told.text().clone_into(body),
                What::End(reports) => {
                    for (report, again) in reports.iter_mut().zip(&replayed.reports) {
                        report.call_names.clone_from(&again.call_names);
                    }
                }
                _ => {}
            }
        }
    }

    /// What was sent, masked by itself.
    fn mask_outcome(&mut self, mask: &mut Mask) {
        for entry in &mut self.entries {
            match &mut entry.what {
                What::Sent(sent) => {
                    let frames = sent.split_inclusive("\n\n").map(|frame| mask_frame(frame, mask));
                    *sent = frames.collect();
                }
                What::Answer { body, .. } => *body = mask_json(body, mask),
                What::End(reports) => {
                    for name in reports.iter_mut().flat_map(|report| &mut report.call_names) {
                        *name = mask.text(name);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Names that mean something to the bridge: those of the declared tools and their parameters, and
/// where blocks are read or written also those of the blocks.
fn names(record: &Record) -> Names {
    let policy = &record.header.policy;
    let mut names: Vec<String> = policy.tools.keys().cloned().collect();
    for schema in policy.tools.values() {
        add_properties(schema, &mut names);
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
    names.retain(|name| !name.is_empty());
    names.into_iter().collect()
}

fn add_properties(schema: &Value, names: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            for (key, value) in members {
                if let ("properties", Value::Object(properties)) = (key.as_str(), value) {
                    names.extend(properties.keys().cloned());
                }
                add_properties(value, names);
            }
        }
        Value::Array(entries) => entries.iter().for_each(|entry| add_properties(entry, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Every channel's whole text, in the order in which they begin.
fn channels(record: &Record) -> Vec<(Channel, String)> {
    let mut texts: Vec<(Channel, String)> = Vec::new();
    let mut places = HashMap::new();
    for entry in &record.entries {
        let What::Event { choice, event } = &entry.what else { continue };
        let Some(channel) = channel_of(*choice, event) else { continue };
        let (TurnEvent::Text(text) | TurnEvent::Reasoning { text, .. }) = event else { continue };
        let place = *places.entry(channel).or_insert_with(|| {
            texts.push((channel, String::new()));
            texts.len() - 1
        });
        texts[place].1.push_str(text);
    }
    texts
}

fn channel_of(choice: u32, event: &TurnEvent) -> Option<Channel> {
    match event {
        TurnEvent::Text(_) => Some(Channel::Text { choice }),
        TurnEvent::Reasoning { kind: ReasoningKind::Summary, part, .. } => {
            Some(Channel::Summary { choice, part: *part })
        }
        TurnEvent::Reasoning { kind: ReasoningKind::Raw, part, .. } => {
            Some(Channel::Reasoning { choice, part: *part })
        }
        TurnEvent::ToolCall(_)
        | TurnEvent::ResponseEnd { .. }
        | TurnEvent::Failed(_)
        | TurnEvent::End(_) => None,
    }
}

fn mask_id(id: &mut String, mask: &mut Mask) {
    if !json::is_id(id) {
        *id = mask.text(id);
    }
}

/// An upstream may say anything, also what it was asked.
fn mask_failure(failure: &mut Failure, mask: &mut Mask) {
    failure.message = mask.text(&failure.message);
    if let Some(body) = &mut failure.upstream_body {
        JsonMask(mask).known(body);
    }
}

fn mask_frame(frame: &str, mask: &mut Mask) -> String {
    match frame.strip_prefix("data: ").and_then(|data| data.strip_suffix("\n\n")) {
        Some(data) if data.starts_with('{') => format!("data: {}\n\n", mask_json(data, mask)),
        // Comments and the end are ours.
        _ => frame.to_owned(),
    }
}

fn mask_json(text: &str, mask: &mut Mask) -> String {
    let Ok(mut value) = serde_json::from_str(text) else { return mask.text(text) };
    JsonMask(mask).known(&mut value);
    value.to_string()
}

/// Whether two replays differ in words alone.
fn same_shape(one: &Replayed, other: &Replayed) -> bool {
    let status = |told: &Told| match told {
        Told::Whole { status, .. } => Some(*status),
        Told::Stream(_) | Told::Nothing => None,
    };
    status(&one.told) == status(&other.told)
        && alike(one.told.text(), other.told.text())
        && one.reports.len() == other.reports.len()
        && one.reports.iter().zip(&other.reports).all(|(one, other)| {
            let names = one.call_names.iter().zip(&other.call_names);
            let renamed = Report { call_names: other.call_names.clone(), ..one.clone() };
            renamed == *other && names.into_iter().all(|(one, other)| alike(one, other))
        })
}

/// Whether two texts have letters of the same length, and all else in common.
fn alike(one: &str, other: &str) -> bool {
    let shape = |letter: char| (letter.len_utf8(), (!letter.is_alphanumeric()).then_some(letter));
    one.chars().map(shape).eq(other.chars().map(shape))
}

#[cfg(test)]
mod tests;
