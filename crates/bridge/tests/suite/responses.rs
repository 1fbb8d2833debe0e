//! What holds for every response: a stream tells exactly the items that the whole answer has, and
//! nothing of what was said is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bridge::{AnswerEnd, Ended, Output, Piece, Reply, ResponseItems, TurnPolicy, api_error};
use conformance::reading::{ReadResponse, ResponseStream};
use model_turn::{MessagePhase, ReasoningItem, ToolCallKind, TurnEvent};
use openai_wire::responses::{Echo, EncryptedContent, InputItem, ResponseHead, ResponseWriter};
use openai_wire::{ApiError, CallHead, CallPart, ErrorType, FinishReason, Usage};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};
use tool_call_aggregator::SuffixSource;

use crate::play::{BREAK, Sent, Words, play_whole};
use crate::random::{script, timed_policy};
use crate::script::Line;

/// Something that is told about an answer.
#[derive(Debug, Clone)]
enum Told {
    Message(Option<MessagePhase>),
    Text(&'static str),
    Block(&'static str),
    Reasoning(&'static str),
    ReasoningPart,
    ReasoningItem(ReasoningItem),
    /// A call, in these pieces, and whether it becomes whole.
    Call(&'static [&'static str], bool),
    Refusal(&'static str),
}

/// How an answer ends.
#[derive(Debug, Clone, Copy)]
enum End {
    Finished(FinishReason),
    Cancelled,
    Failed,
}

/// An answer that was told both ways.
struct Both {
    read: ReadResponse,
    whole: Value,
}

const TELEMETRY: &str =
    r#"{"tool_call_count":0,"tool_call_truncated":false,"stop_after_tools_mode":"burst"}"#;

const TEXTS: &[&str] = &["one", " two", "\n\n", "é\u{1}\"", "data: {}\n\n"];

const CALLS: &[&[&str]] =
    &[&[], &[""], &["{\"q\":1}"], &["{\"q\"", ":1}"], &["", "{", "\"q\":", "\"é", "\"}"]];

fn reasoning_item() -> impl Strategy<Value = ReasoningItem> {
    (vec(select(vec!["why", "", "how\n"]), 0..4), any::<bool>()).prop_map(|(summary, encrypted)| {
        ReasoningItem {
            summary: summary.into_iter().map(str::to_owned).collect(),
            encrypted_content: encrypted.then(|| "secret".to_owned()),
        }
    })
}

fn phase() -> impl Strategy<Value = Option<MessagePhase>> {
    select(vec![None, Some(MessagePhase::Commentary), Some(MessagePhase::FinalAnswer)])
}

fn told() -> impl Strategy<Value = Vec<Told>> {
    let told = prop_oneof![
        1 => phase().prop_map(Told::Message),
        4 => select(TEXTS).prop_map(Told::Text),
        1 => Just(Told::Block("<use_tool><name>f</name></use_tool>")),
        3 => select(TEXTS).prop_map(Told::Reasoning),
        2 => Just(Told::ReasoningPart),
        2 => reasoning_item().prop_map(Told::ReasoningItem),
        3 => (select(CALLS), any::<bool>()).prop_map(|(pieces, whole)| Told::Call(pieces, whole)),
        1 => Just(Told::Refusal("I can't.")),
    ];
    vec(told, 0..12)
}

fn end() -> impl Strategy<Value = End> {
    let finished = [
        FinishReason::Stop,
        FinishReason::ToolCalls,
        FinishReason::Length,
        FinishReason::ContentFilter,
    ];
    prop_oneof![
        4 => select(finished.to_vec()).prop_map(End::Finished),
        1 => Just(End::Cancelled),
        1 => Just(End::Failed),
    ]
}

fn encrypted() -> impl Strategy<Value = EncryptedContent> {
    select(vec![EncryptedContent::Included, EncryptedContent::LeftOut])
}

fn ids() -> SuffixSource {
    let next = AtomicUsize::new(0);
    Arc::new(move || next.fetch_add(1, Ordering::Relaxed).to_string())
}

pub(crate) fn writer() -> ResponseWriter {
    ResponseWriter::new(&ResponseHead {
        id: "resp_1",
        created_at: 7,
        model: "m",
        instructions: None,
        max_output_tokens: None,
        parallel_tool_calls: true,
        previous_response_id: None,
        store: true,
        echo: &Echo::default(),
    })
}

/// Tells an answer to both kinds of items.
fn both(encrypted: EncryptedContent, tell: impl Fn(&mut ResponseItems)) -> Both {
    let mut streamed = ResponseItems::new(writer(), encrypted, ids(), true);
    tell(&mut streamed);
    let mut collected = ResponseItems::new(writer(), encrypted, ids(), false);
    tell(&mut collected);
    assert_eq!(streamed.output(), collected.output());
    let whole: Value = serde_json::from_str(&collected.response_json(encrypted)).unwrap();
    for item in whole["output"].as_array().unwrap() {
        let sent_back = InputItem::parse(&item.to_string()).unwrap();
        assert_eq!(sent_back.id(), item["id"].as_str());
    }
    let stream = std::str::from_utf8(streamed.buffer()).unwrap();
    let read = ResponseStream::read(stream).unwrap_or_else(|fault| panic!("{fault}\n{stream}"));
    Both { read, whole }
}

fn finish(out: &mut ResponseItems, end: End) {
    match end {
        End::Finished(reason) => {
            out.finish(reason);
            out.complete(AnswerEnd::Completed, Some(&Usage::default()), 9);
        }
        End::Cancelled => out.complete(AnswerEnd::Cancelled, Some(&Usage::default()), 9),
        End::Failed => out.fail(&ApiError::new(502, ErrorType::ServerError, "No.")),
    }
    out.close(true, TELEMETRY);
}

fn tell(told: &[Told], out: &mut impl Output) {
    for (number, told) in told.iter().enumerate() {
        match told {
            Told::Message(phase) => {
                out.write(Piece::Message(*phase));
            }
            Told::Text(text) => out.write(Piece::Text(text)),
            Told::Block(xml) => out.write(Piece::Block(xml)),
            Told::Reasoning(text) => out.write(Piece::Reasoning(text)),
            Told::ReasoningPart => out.write(Piece::ReasoningPart),
            Told::ReasoningItem(item) => out.write(Piece::ReasoningItem(item)),
            Told::Refusal(text) => out.write(Piece::Refusal(text)),
            Told::Call(pieces, whole) => {
                let id = format!("call_{number}");
                let head = CallHead { id: &id, namespace: None, name: "f" };
                let part =
                    CallPart { index: 0, head: None, kind: ToolCallKind::Function, text: "" };
                out.write(Piece::Call(&CallPart { head: Some(head), ..part }));
                for text in *pieces {
                    out.write(Piece::Call(&CallPart { text, ..part }));
                }
                if *whole {
                    out.write(Piece::CallEnd);
                }
            }
        }
    }
}

/// All of one member of the items of one type.
fn members<'a>(items: &'a [Value], r#type: &str, pointer: &str) -> Vec<&'a str> {
    let items = items.iter().filter(|item| item["type"] == r#type);
    items.filter_map(|item| item.pointer(pointer)?.as_str()).collect()
}

/// Runs a turn to its end.
fn run(policy: &TurnPolicy, script: &[Line], out: &mut ResponseItems) {
    let suffix = Arc::new(|| "text".to_owned());
    let mut reply = Reply::new(Arc::new(policy.clone()), 2, Some(Arc::new(Words)), suffix);
    let mut now = Instant::now();
    for line in script {
        let ended = match line {
            Line::Event(event) => reply.on_event(event.clone(), now, out),
            Line::Wait(milliseconds) => {
                now += Duration::from_millis(*milliseconds);
                reply.deadline().filter(|due| *due <= now).and_then(|due| reply.on_time(due, out))
            }
        };
        match ended {
            None => {}
            Some(Ended::Finished(reason)) => return finish(out, End::Finished(reason)),
            Some(Ended::Failed(failure)) => {
                out.fail(&api_error(&failure));
                return out.close(true, TELEMETRY);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn a_stream_tells_what_the_whole_answer_has(
        told in told(),
        end in end(),
        encrypted in encrypted(),
    ) {
        let both = both(encrypted, |out| {
            tell(&told, out);
            finish(out, end);
        });
        prop_assert_eq!(&both.read.response, &both.whole);
        prop_assert_eq!(both.read.error.is_some(), matches!(end, End::Failed));

        let said: String = told
            .iter()
            .filter_map(|told| match told {
                Told::Text(text) | Told::Block(text) => Some(*text),
                _ => None,
            })
            .collect();
        prop_assert_eq!(members(&both.read.items, "message", "/content/0/text").concat(), said);
        let called: Vec<String> = told
            .iter()
            .filter_map(|told| match told {
                Told::Call(pieces, _) => Some(pieces.concat()),
                _ => None,
            })
            .collect();
        // The reader has seen to it that only a call that was never done has none at all.
        let read = members(&both.read.items, "function_call", "/arguments");
        let read: Vec<_> = read.into_iter().map(|text| text.replace("{}", "")).collect();
        prop_assert_eq!(read, called);
    }

    #[test]
    fn a_response_says_what_a_chat_would(
        policy in timed_policy(),
        mut script in script(),
        extras in vec((any::<Index>(), reasoning_item(), phase(), any::<bool>()), 0..4),
        encrypted in encrypted(),
    ) {
        for (place, item, phase, is_item) in extras {
            let event =
                if is_item { TurnEvent::ReasoningItem(item) } else { TurnEvent::MessageStart { phase } };
            // The end stays the end.
            script.insert(place.index(script.len()), Line::Event(event));
        }
        let both = both(encrypted, |out| run(&policy, &script, out));
        prop_assert_eq!(&both.read.response, &both.whole);

        let played = play_whole(policy, &script);
        let content: String = played
            .sent
            .iter()
            .filter_map(|sent| match sent {
                Sent::Text(text) | Sent::Block(text) => Some(text.as_str()),
                Sent::Reasoning(_) | Sent::Refusal(_) | Sent::Call { .. } => None,
            })
            .collect();
        let items = &both.read.items;
        // Messages are items, and nothing separates them.
        let content = content.replace(BREAK, "");
        prop_assert_eq!(members(items, "message", "/content/0/text").concat(), content);
        let calls: Vec<_> = played
            .sent
            .iter()
            .filter_map(|sent| match sent {
                Sent::Call { name, arguments, .. } => Some((name.as_str(), arguments.as_str())),
                Sent::Text(_) | Sent::Block(_) | Sent::Reasoning(_) | Sent::Refusal(_) => None,
            })
            .collect();
        let names = members(items, "function_call", "/name");
        let arguments = members(items, "function_call", "/arguments");
        prop_assert_eq!(names.into_iter().zip(arguments).collect::<Vec<_>>(), calls);
        prop_assert_eq!(members(items, "function_call", "/call_id"), played.report.call_ids);
        let status = match played.ended {
            Some(Ended::Failed(_)) => "failed",
            Some(Ended::Finished(FinishReason::Length | FinishReason::ContentFilter)) => {
                "incomplete"
            }
            Some(Ended::Finished(_)) => "completed",
            None => "in_progress",
        };
        prop_assert_eq!(&both.whole["status"], &json!(status));
    }
}
