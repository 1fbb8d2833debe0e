//! The life of an answer: what it waits for, when its bytes leave, and how it ends.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bridge::{
    Answer, AnswerOptions, CallShape, ChatHead, ChatMessage, ChatStream, EndReason, Input, Output,
    OutputMode, Release, ResponseItems, StopAfterTools, TurnPolicy, Want,
};
use model_turn::{Failure, FailureKind, TurnEvent};
use openai_wire::Usage;
use openai_wire::responses::EncryptedContent;
use serde_json::Value;

use crate::play::json;
use crate::responses::writer;
use crate::script::{Line, call, end, say};

const KEEP_ALIVE: Duration = Duration::from_secs(15);

fn answer<O: Output>(output: O, stream: bool, choices: u32, now: Instant) -> Answer<O> {
    answer_by(json(), output, stream, choices, now)
}

fn answer_by<O: Output>(
    policy: TurnPolicy,
    output: O,
    stream: bool,
    choices: u32,
    now: Instant,
) -> Answer<O> {
    let options = AnswerOptions {
        policy: Arc::new(policy),
        choices,
        stream,
        keep_alive: Some(KEEP_ALIVE),
        tokenizer: None,
        id_suffix: Arc::new(|| "0".to_owned()),
    };
    Answer::new(output, options, now)
}

fn head(choices: u32) -> ChatHead<'static> {
    ChatHead { id: "chatcmpl-1", created: 7, model: "m", choices, include_usage: true }
}

fn chat_stream(choices: u32) -> ChatStream {
    ChatStream::new(&head(choices), CallShape::ToolCalls)
}

fn chat_message(choices: u32) -> ChatMessage {
    ChatMessage::new(&head(choices), OutputMode::OpenAiJson, CallShape::ToolCalls)
}

fn response() -> ResponseItems {
    ResponseItems::new(writer(), EncryptedContent::LeftOut, Arc::new(|| "0".to_owned()), true)
}

fn event(choice: u32, line: Line) -> Input {
    let Line::Event(event) = line else { panic!("{line:?} is no event") };
    Input::Event { choice, event }
}

fn failed() -> Input {
    let message = "No.".to_owned();
    let kind = FailureKind::ServerError;
    let failure = Failure { kind, message, upstream_status: None, upstream_body: None };
    Input::Event { choice: 0, event: TurnEvent::Failed(failure) }
}

fn settle() -> Input {
    Input::Settle { usage: Some(Usage::default()), at: 9 }
}

fn text<O: Output>(answer: &mut Answer<O>, now: Instant) -> String {
    String::from_utf8(answer.take_bytes(now).to_vec()).unwrap()
}

#[test]
fn an_answer_ends_with_its_last_choice_and_waits_for_its_settlement() {
    let now = Instant::now();
    let mut answer = answer(chat_stream(2), true, 2, now);
    assert_eq!(answer.step(event(0, say("a")), now), None);
    assert_eq!(answer.step(event(0, end()), now), Some(Release::Keep));
    assert_eq!((answer.wants(), answer.reports().len()), (Want::Events, 0));
    answer.step(event(1, call("a", "{}")), now);
    assert_eq!(answer.step(event(1, end()), now), Some(Release::Keep));
    assert_eq!(answer.wants(), Want::Settlement);
    let ends: Vec<_> = answer.reports().iter().map(|report| report.end).collect();
    assert_eq!(ends, [EndReason::Completed, EndReason::ToolCalls]);
    assert!(!text(&mut answer, now).contains("[DONE]"));
    answer.step(settle(), now);
    assert_eq!(answer.wants(), Want::Nothing);
    assert!(text(&mut answer, now).ends_with("data: [DONE]\n\n"));
    // Nothing follows the end.
    for late in [event(1, say("late")), Input::Silence, Input::Cancel, settle(), failed()] {
        assert_eq!(answer.step(late, now), None);
    }
    assert!(!answer.has_bytes());
}

#[test]
fn the_end_of_a_response_waits_until_it_is_stored() {
    for (stored, ending) in [(true, r#""store":true"#), (false, r#""store":false"#)] {
        let now = Instant::now();
        let mut answer = answer(response(), true, 1, now);
        answer.step(event(0, say("a")), now);
        answer.step(event(0, end()), now);
        answer.step(settle(), now);
        assert_eq!(answer.wants(), Want::Storage);
        assert!(!text(&mut answer, now).contains("response.completed"));
        answer.step(Input::Stored(stored), now);
        assert_eq!(answer.wants(), Want::Nothing);
        let last = text(&mut answer, now);
        for part in ["response.completed", r#""completed_at":9"#, ending] {
            assert!(last.contains(part), "{part} in {last}");
        }
    }
}

#[test]
fn a_failure_is_a_refusal_until_there_is_something_to_lose() {
    let now = Instant::now();
    let fail = |inputs: &[Input]| {
        let mut answer = answer(chat_stream(1), true, 1, now);
        for input in inputs {
            answer.step(input.clone(), now);
        }
        assert_eq!(answer.step(failed(), now), Some(Release::Interrupt));
        assert_eq!(answer.wants(), Want::Nothing);
        assert_eq!(answer.reports()[0].end, EndReason::Failed);
        let refused = answer.refusal().is_some();
        (refused, text(&mut answer, now).ends_with("data: [DONE]\n\n"))
    };
    assert_eq!(fail(&[]), (true, false));
    assert_eq!(fail(&[Input::Head]), (false, true));
    assert_eq!(fail(&[event(0, say("a"))]), (false, true));
    // A whole answer has nothing to lose.
    let mut whole = answer(chat_message(1), false, 1, now);
    whole.step(event(0, say("a")), now);
    whole.step(failed(), now);
    assert!(whole.refusal().is_some() && !whole.has_bytes());
}

#[test]
fn a_silent_stream_sends_its_head_and_then_comments() {
    let start = Instant::now();
    let mut answer = answer(chat_stream(1), true, 1, start);
    assert_eq!(answer.deadline(), Some(start + Duration::from_secs(10)));
    let sent = start + Duration::from_secs(1);
    answer.step(Input::Head, sent);
    assert_eq!(answer.deadline(), Some(sent + KEEP_ALIVE));
    let sent = start + Duration::from_secs(2);
    text(&mut answer, sent);
    assert_eq!(answer.deadline(), Some(sent + KEEP_ALIVE));
    answer.step(Input::Silence, sent + KEEP_ALIVE);
    // Also where the output has no comments, and nothing leaves.
    assert_eq!(answer.silent_until(), Some(sent + 2 * KEEP_ALIVE));
    assert_eq!(text(&mut answer, sent + KEEP_ALIVE), ": keep-alive\n\n");
    answer.step(event(0, say("a")), sent);
    answer.step(event(0, end()), sent);
    assert_eq!(answer.deadline(), None);
}

/// The choices of an answer have deadlines of their own.
#[test]
fn a_choice_ends_at_its_deadline_and_not_before() {
    let grace = Duration::from_millis(300);
    let policy =
        TurnPolicy { stop_after_tools: StopAfterTools::Burst { grace: Some(grace) }, ..json() };
    let start = Instant::now();
    let mut answer = answer_by(policy, chat_message(2), false, 2, start);
    answer.step(event(1, call("a", "{}")), start);
    let due = start + grace;
    assert_eq!(answer.deadline(), Some(due));
    let early = start + grace / 2;
    assert!(!answer.is_due(1, early));
    assert_eq!(answer.step(Input::Deadline { choice: 1 }, early), None);
    assert!(answer.is_due(1, due) && !answer.is_due(0, due) && !answer.is_due(2, due));
    assert_eq!(answer.step(Input::Deadline { choice: 1 }, due), Some(Release::Interrupt));
    assert_eq!((answer.wants(), answer.deadline()), (Want::Events, None));
    answer.step(event(0, say("a")), due);
    answer.step(event(0, end()), due);
    let ends: Vec<_> = answer.reports().iter().map(|report| report.end).collect();
    assert_eq!(ends, [EndReason::Completed, EndReason::Grace]);
}

#[test]
fn an_answer_is_full_only_where_there_are_frames_to_send() {
    let now = Instant::now();
    let long = "a".repeat(64 * 1024);
    let mut stream = answer(response(), true, 1, now);
    assert!(!stream.is_full());
    stream.step(event(0, say(&long)), now);
    assert!(stream.is_full());
    text(&mut stream, now);
    assert!(!stream.is_full() && stream.output().has_content());
    let mut whole = answer(chat_message(1), false, 1, now);
    whole.step(event(0, say(&long)), now);
    assert!(!whole.is_full() && whole.output().has_content());
}

#[test]
fn the_bytes_of_a_whole_answer_are_ready_together() {
    let now = Instant::now();
    let long = "a".repeat(64 * 1024);
    // An output that writes each piece at once, as that of a stream does.
    let mut answer = answer(chat_stream(1), false, 1, now);
    answer.step(event(0, say(&long)), now);
    assert!(!answer.has_bytes() && !answer.is_full());
    answer.step(event(0, end()), now);
    assert!(!answer.has_bytes());
    answer.step(settle(), now);
    assert!(answer.has_bytes() && answer.is_written());
    assert!(text(&mut answer, now).contains(&long));
}

#[test]
fn an_answer_that_is_cancelled_or_abandoned_reports_why() {
    let now = Instant::now();
    let mut cancelled = answer(chat_message(1), false, 1, now);
    cancelled.step(event(0, say("a")), now);
    cancelled.step(Input::Cancel, now);
    assert_eq!(cancelled.wants(), Want::Settlement);
    assert_eq!(cancelled.reports()[0].end, EndReason::Cancelled);
    cancelled.step(settle(), now);
    let body: Value = serde_json::from_slice(&cancelled.take_bytes(now)).unwrap();
    assert_eq!(body["choices"][0]["message"]["content"], "a");

    let mut abandoned = answer(chat_stream(1), true, 1, now);
    abandoned.step(Input::Abandon(EndReason::SlowClient), now);
    assert_eq!(abandoned.wants(), Want::Nothing);
    assert_eq!(abandoned.reports()[0].end, EndReason::SlowClient);
}

#[test]
fn text_that_calls_replace_is_suppressed_unless_the_client_left() {
    let now = Instant::now();
    let suppressed = |last: Input| {
        let mut answer = answer(chat_message(2), false, 2, now);
        answer.step(event(1, say("four")), now);
        answer.step(event(1, call("a", "{}")), now);
        answer.step(event(1, end()), now);
        answer.step(event(0, say("a")), now);
        answer.step(last, now);
        answer.reports()[1].suppressed_bytes
    };
    assert_eq!(suppressed(event(0, end())), 4);
    assert_eq!(suppressed(failed()), 4);
    assert_eq!(suppressed(Input::Abandon(EndReason::ClientGone)), 0);
}
