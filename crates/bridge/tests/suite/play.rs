//! Plays a script, and tells what a client gets to see of it.
//!
//! Whatever is played, the report agrees with what was sent, calls are counted from 0 without a gap,
//! and nothing comes after the end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bridge::{
    AnswerOptions, CallShape, ChatHead, ChatMessage, ChoiceReport, EndReason, Ended, Input, Output,
    OutputMode, Piece, Preamble, Reply, StopAfterTools, TextBlocks, Tokenizer, TurnPolicy, Want,
};
use bytes::BytesMut;
use model_turn::{FailureKind, TurnEvent};
use openai_wire::{ApiError, CallHead, CallPart, FinishReason};
use serde_json::{Value, json};
use tool_call_aggregator::Limits;
use tool_call_aggregator::obsidian::{XmlEscaping, XmlOptions, to_obsidian_xml};

use crate::script::Line;

const CHOICE: u32 = 2;

/// What ids of calls in text end in.
const SUFFIX: &str = "text";

/// Separates messages here, since no text has it.
pub(crate) const BREAK: &str = "¶";

/// Something that was sent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Sent {
    /// Content; what follows each other without anything between is one text.
    Text(String),
    Block(String),
    Reasoning(String),
    Refusal(String),
    Call {
        index: usize,
        name: String,
        arguments: String,
    },
}

/// What became of a turn.
#[derive(Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) sent: Vec<Sent>,
    /// What the client was told at the end.
    pub(crate) told: Option<Result<FinishReason, FailureKind>>,
    pub(crate) end: EndReason,
    pub(crate) truncated: bool,
    pub(crate) suppressed: usize,
}

/// The same, with all that is known about it.
#[derive(Debug, PartialEq)]
pub(crate) struct Played {
    pub(crate) sent: Vec<Sent>,
    /// Content as it came, text by text.
    pub(crate) chunks: Vec<String>,
    pub(crate) ended: Option<Ended>,
    pub(crate) report: ChoiceReport,
    /// Whether the response's end was heard before the answer ended, or with it.
    pub(crate) response_ended: bool,
    pub(crate) forwarded_everything: bool,
}

#[derive(Debug, Default)]
struct Recorder {
    sent: Vec<Sent>,
    chunks: Vec<String>,
    ids: Vec<String>,
    /// Whether the last call is not whole.
    call_open: bool,
    content_bytes: usize,
    last_call_end: Option<usize>,
    /// Stays empty.
    buffer: BytesMut,
}

/// A token for each word; a word begins with its space.
pub(crate) struct Words;

/// Calls as `tool_calls`, blocks of any name, no limits.
pub(crate) fn json() -> TurnPolicy {
    TurnPolicy {
        mode: OutputMode::OpenAiJson,
        shape: CallShape::ToolCalls,
        stop_after_tools: StopAfterTools::Burst { grace: None },
        suppress_tail: true,
        preamble: Preamble::Sent,
        max_calls: None,
        dedup: false,
        delimiter: String::new(),
        text_blocks: TextBlocks::Any,
        xml_escaping: XmlEscaping::Verbatim,
        reasoning: true,
        limits: Limits::default(),
        max_held_bytes: 1024,
        max_answer_bytes: usize::MAX,
        tools: [("a".to_owned(), json!({})), ("b".to_owned(), json!({}))].into_iter().collect(),
        stop_sequences: Vec::new(),
        max_tokens: None,
    }
}

/// The same, with blocks in the content.
pub(crate) fn xml() -> TurnPolicy {
    TurnPolicy { mode: OutputMode::ObsidianXml, ..json() }
}

pub(crate) fn play(policy: TurnPolicy, script: &[Line]) -> Answer {
    play_whole(policy, script).into()
}

pub(crate) fn play_whole(policy: TurnPolicy, script: &[Line]) -> Played {
    let mut reply =
        Reply::new(Arc::new(policy), CHOICE, Some(Arc::new(Words)), Arc::new(|| SUFFIX.to_owned()));
    let mut out = Recorder::default();
    let mut now = Instant::now();
    let mut ended = None;
    let mut sent_before_end = 0;
    let mut response_ended = false;
    for line in script {
        let step = match line {
            Line::Event(event) => {
                response_ended |= ended.is_none() && matches!(event, TurnEvent::ResponseEnd { .. });
                reply.on_event(event.clone(), now, &mut out)
            }
            Line::Wait(milliseconds) => {
                now += Duration::from_millis(*milliseconds);
                reply
                    .deadline()
                    .filter(|due| *due <= now)
                    .and_then(|due| reply.on_time(due, &mut out))
            }
        };
        if ended.is_some() {
            assert_eq!((&step, reply.deadline()), (&None, None), "there is one end");
        } else {
            assert_eq!(step.is_some(), reply.has_ended());
            ended = step;
            sent_before_end = out.chunks.len() + out.sent.len();
        }
    }
    assert_eq!(sent_before_end, out.chunks.len() + out.sent.len(), "nothing follows the end");
    let forwarded_everything = reply.forwarded_everything();
    let report = reply.report();
    out.agrees_with(&report);
    let (sent, chunks) = (out.sent, out.chunks);
    Played { sent, chunks, ended, report, response_ended, forwarded_everything }
}

/// A chat completion that is not streamed, of so many choices that all say the same.
pub(crate) fn whole(policy: &TurnPolicy, choices: u32, script: &[Line]) -> Value {
    let head = ChatHead { id: "id", created: 7, model: "m", choices, include_usage: false };
    let message = ChatMessage::new(&head, policy.mode, policy.shape);
    let options = AnswerOptions {
        policy: Arc::new(policy.clone()),
        choices,
        stream: false,
        keep_alive: None,
        tokenizer: None,
        id_suffix: Arc::new(|| SUFFIX.to_owned()),
    };
    let now = Instant::now();
    let mut answer = bridge::Answer::new(message, options, now);
    for choice in 0..choices {
        for line in script {
            let Line::Event(event) = line else { continue };
            answer.step(Input::Event { choice, event: event.clone() }, now);
        }
    }
    answer.step(Input::Settle { usage: None, at: 9 }, now);
    assert_eq!(answer.wants(), Want::Nothing);
    serde_json::from_slice(&answer.take_bytes(now)).unwrap()
}

pub(crate) fn text(text: &str) -> Sent {
    Sent::Text(text.to_owned())
}

pub(crate) fn shown(block: &str) -> Sent {
    Sent::Block(block.to_owned())
}

/// The block that is made for a structured call.
pub(crate) fn rendered(name: &str, arguments: &str) -> Sent {
    let options = XmlOptions { escaping: XmlEscaping::Verbatim, indent: 2, schema: None };
    Sent::Block(to_obsidian_xml((name, arguments), &options))
}

pub(crate) fn reasoning(text: &str) -> Sent {
    Sent::Reasoning(text.to_owned())
}

pub(crate) fn called(index: usize, name: &str, arguments: &str) -> Sent {
    Sent::Call { index, name: name.to_owned(), arguments: arguments.to_owned() }
}

/// An answer of which nothing is missing.
pub(crate) fn answer(sent: impl Into<Vec<Sent>>, finish: FinishReason, end: EndReason) -> Answer {
    Answer { sent: sent.into(), told: Some(Ok(finish)), end, truncated: false, suppressed: 0 }
}

/// An answer that ended as it should, without calls.
pub(crate) fn completed(sent: impl Into<Vec<Sent>>) -> Answer {
    answer(sent, FinishReason::Stop, EndReason::Completed)
}

/// An answer that ended as it should, with calls.
pub(crate) fn with_calls(sent: impl Into<Vec<Sent>>) -> Answer {
    answer(sent, FinishReason::ToolCalls, EndReason::ToolCalls)
}

/// An answer that ended in an error.
pub(crate) fn failed(sent: impl Into<Vec<Sent>>, kind: FailureKind) -> Answer {
    let ended = answer(sent, FinishReason::Stop, EndReason::Failed).truncated();
    Answer { told: Some(Err(kind)), ..ended }
}

// === impl Answer ===

impl Answer {
    pub(crate) fn truncated(self) -> Self {
        Self { truncated: true, ..self }
    }

    pub(crate) fn suppressing(self, text: &str) -> Self {
        Self { suppressed: text.len(), ..self }
    }
}

impl From<Played> for Answer {
    fn from(played: Played) -> Self {
        Self {
            sent: played.sent,
            told: played.ended.map(|ended| match ended {
                Ended::Finished(reason) => Ok(reason),
                Ended::Failed(failure) => Err(failure.kind),
            }),
            end: played.report.end,
            truncated: played.report.truncated,
            suppressed: played.report.suppressed_bytes,
        }
    }
}

// === impl Recorder ===

impl Recorder {
    fn agrees_with(&self, report: &ChoiceReport) {
        let mut names = Vec::new();
        for sent in &self.sent {
            if let Sent::Call { index, name, .. } = sent {
                assert_eq!(*index, names.len(), "calls are counted without a gap");
                names.push(name.clone());
            }
        }
        // Half a call is none.
        names.truncate(names.len() - usize::from(self.call_open));
        let ids = &self.ids[..names.len()];
        let reported =
            (report.call_count, &report.call_names, &report.call_ids[..], report.last_call_end);
        assert_eq!(reported, (names.len(), &names, ids, self.last_call_end));
    }
}

impl Recorder {
    fn text(&mut self, text: &str) {
        assert!(!text.is_empty());
        self.chunks.push(text.to_owned());
        self.content_bytes += text.len();
        match self.sent.last_mut() {
            Some(Sent::Text(before)) => before.push_str(text),
            _ => self.sent.push(Sent::Text(text.to_owned())),
        }
    }

    fn block(&mut self, xml: &str) {
        self.content_bytes += xml.len();
        self.sent.push(Sent::Block(xml.to_owned()));
    }

    fn reasoning(&mut self, text: &str) {
        match self.sent.last_mut() {
            Some(Sent::Reasoning(before)) => before.push_str(text),
            _ => self.sent.push(Sent::Reasoning(text.to_owned())),
        }
    }

    fn call(&mut self, part: &CallPart<'_>) {
        if std::mem::replace(&mut self.call_open, true) {
            assert_eq!(part.head, None, "a call has one head");
            assert!(!part.text.is_empty(), "nothing is sent for nothing");
            let Some(Sent::Call { index, arguments: before, .. }) = self.sent.last_mut() else {
                panic!("something came within a call: {:?}", self.sent);
            };
            assert_eq!(*index, part.index);
            before.push_str(part.text);
            return;
        }
        let CallHead { id, name, .. } = part.head.expect("a call begins with its head");
        assert!(!self.ids.iter().any(|known| known == id), "{id} comes twice");
        assert!(id.starts_with(&format!("tool_{CHOICE}_{}_", part.index)), "{id}");
        self.ids.push(id.to_owned());
        self.last_call_end = Some(self.content_bytes);
        self.sent.push(called(part.index, name, part.text));
    }

    fn call_end(&mut self) {
        assert!(std::mem::take(&mut self.call_open), "the end of no call");
    }
}

impl Output for Recorder {
    fn write(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::Text(text) => self.text(text),
            Piece::Block(xml) => self.block(xml),
            Piece::Reasoning(text) => self.reasoning(text),
            Piece::ReasoningPart => self.reasoning("\n\n"),
            Piece::Call(part) => self.call(part),
            Piece::CallEnd => self.call_end(),
            Piece::Refusal(text) => self.sent.push(Sent::Refusal(text.to_owned())),
            Piece::Message(_) | Piece::ReasoningItem(_) => {}
        }
    }

    fn separator(&self) -> &'static str {
        BREAK
    }

    fn finish(&mut self, _: FinishReason) {}

    fn has_content(&self) -> bool {
        !self.sent.is_empty()
    }

    fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    fn fail(&mut self, _: &ApiError) {}

    fn close(&mut self, _: bool, _: &str) {}
}

// === impl Words ===

impl Words {
    fn ends(text: &str) -> Vec<usize> {
        let starts = text.match_indices(' ').map(|(at, _)| at).filter(|at| *at > 0);
        starts.chain((!text.is_empty()).then_some(text.len())).collect()
    }
}

impl Tokenizer for Words {
    fn count(&self, text: &str) -> usize {
        Self::ends(text).len()
    }

    fn head(&self, text: &str, tokens: usize) -> usize {
        tokens.checked_sub(1).map_or(0, |last| Self::ends(text)[last])
    }
}
