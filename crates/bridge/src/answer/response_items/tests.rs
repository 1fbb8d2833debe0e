mod expected;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use conformance::reading::{Frame, Received, SseReader};
use openai_wire::responses::{Echo, ResponseHead};
use openai_wire::{CallPart, ErrorType};
use serde_json::{Value, json};

use super::*;
use expected::{
    call, call_events, completed, custom_call, custom_call_events, message, message_events,
    reasoning, reasoning_events,
};

/// Items are numbered.
fn ids() -> SuffixSource {
    let next = AtomicUsize::new(0);
    Arc::new(move || next.fetch_add(1, Ordering::Relaxed).to_string())
}

fn response() -> ResponseWriter {
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

/// What a client is told, without the two events at the beginning: every event without its number,
/// and of a response object only what can change.
#[track_caller]
fn told(encrypted: EncryptedContent, play: impl Fn(&mut ResponseItems)) -> Vec<Value> {
    let mut items = ResponseItems::new(response(), encrypted, ids(), true);
    play(&mut items);
    let mut collected = ResponseItems::new(response(), encrypted, ids(), false);
    play(&mut collected);
    assert_eq!(collected.buffer, "", "nothing is told where nothing is streamed");
    for encrypted in [EncryptedContent::Included, EncryptedContent::LeftOut] {
        assert_eq!(collected.response_json(encrypted), items.response_json(encrypted));
    }
    let text = String::from_utf8(items.buffer.to_vec()).unwrap();
    let mut events = Vec::new();
    for Received { frame, is_plain, .. } in SseReader::read(&text) {
        let Frame::Event { name: Some(name), data } = frame else { panic!("{frame}") };
        let mut event: Value = serde_json::from_str(&data).unwrap();
        assert!(is_plain && name == event["type"], "{text}");
        let number = event.as_object_mut().unwrap().remove("sequence_number");
        assert_eq!(number, Some(json!(events.len())));
        if let Some(response) = event.get_mut("response") {
            *response = changing(response);
        }
        events.push(event);
    }
    let last = events.last().unwrap();
    if last["type"] != "response.in_progress" {
        let whole: Value = serde_json::from_str(&items.response_json(encrypted)).unwrap();
        assert_eq!(last["response"], changing(&whole));
    }
    let in_progress = json!({"status": "in_progress", "output": []});
    let begun = ["response.created", "response.in_progress"]
        .map(|event| json!({"type": event, "response": in_progress}));
    assert_eq!(events[..2], begun);
    events.split_off(2)
}

/// The members of a response object that change and are not null.
fn changing(response: &Value) -> Value {
    let members = ["status", "completed_at", "error", "incomplete_details", "output", "usage"];
    let members = members.map(|member| (member.to_owned(), response[member].clone()));
    Value::Object(members.into_iter().filter(|(_, value)| !value.is_null()).collect())
}

fn usage() -> Usage {
    Usage { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3, ..Usage::default() }
}

/// Calls `f` with these pieces of arguments or input.
fn call_f(out: &mut ResponseItems, id: &str, kind: ToolCallKind, pieces: &[&str]) {
    let head = CallHead { id, namespace: None, name: "f" };
    let part = CallPart { index: 0, head: None, kind, text: "" };
    out.write(Piece::Call(&CallPart { head: Some(head), ..part }));
    for text in pieces {
        out.write(Piece::Call(&CallPart { text, ..part }));
    }
}

fn item(summary: &[&str], encrypted: Option<&str>) -> ReasoningItem {
    ReasoningItem {
        summary: summary.iter().map(|&part| part.to_owned()).collect(),
        encrypted_content: encrypted.map(str::to_owned),
    }
}

#[test]
fn a_text_is_one_message() {
    let events = told(EncryptedContent::LeftOut, |out| {
        out.write(Piece::Text("Hi"));
        out.write(Piece::Text(""));
        out.write(Piece::Text(" there."));
        out.finish(FinishReason::Stop);
        out.complete(AnswerEnd::Completed, Some(&usage()), 9);
        out.end();
    });
    let message = message("msg_0", "completed", "Hi there.");
    let expected =
        [message_events(0, &message, &["Hi", " there."]), vec![completed(&json!([message]))]];
    assert_eq!(events, expected.concat());
}

#[test]
fn messages_are_told_apart_and_keep_their_phase() {
    let events = told(EncryptedContent::LeftOut, |out| {
        out.write(Piece::Message(Some(MessagePhase::Commentary)));
        out.write(Piece::Text("Let me see."));
        out.write(Piece::Message(Some(MessagePhase::FinalAnswer)));
        out.write(Piece::Message(Some(MessagePhase::FinalAnswer)));
        out.write(Piece::Text("So."));
        out.finish(FinishReason::Stop);
        out.complete(AnswerEnd::Completed, Some(&usage()), 9);
        out.end();
    });
    let mut first = message("msg_0", "completed", "Let me see.");
    first["phase"] = json!("commentary");
    let mut second = message("msg_1", "completed", "So.");
    second["phase"] = json!("final_answer");
    let expected = [
        message_events(0, &first, &["Let me see."]),
        message_events(1, &second, &["So."]),
        vec![completed(&json!([first, second]))],
    ];
    assert_eq!(events, expected.concat());
}

#[test]
fn a_call_ends_the_message_before_it_and_its_block_is_in_the_text() {
    let events = told(EncryptedContent::LeftOut, |out| {
        out.write(Piece::Text("Hm. "));
        out.write(Piece::Block("<use_tool/>"));
        call_f(out, "tool_0_0", ToolCallKind::Function, &["{ \"q\": 1 }"]);
        call_f(out, "tool_0_1", ToolCallKind::Function, &[]);
        out.write(Piece::Text("Bye."));
        out.finish(FinishReason::ToolCalls);
        out.complete(AnswerEnd::Completed, Some(&usage()), 9);
        out.end();
    });
    let before = message("msg_0", "completed", "Hm. <use_tool/>");
    let (first, second) =
        (call("fc_1", "tool_0_0", "{ \"q\": 1 }"), call("fc_2", "tool_0_1", "{}"));
    let after = message("msg_3", "completed", "Bye.");
    let expected = [
        message_events(0, &before, &["Hm. ", "<use_tool/>"]),
        call_events(1, &first, &["{ \"q\": 1 }"]),
        call_events(2, &second, &["{}"]),
        message_events(3, &after, &["Bye."]),
        vec![completed(&json!([before, first, second, after]))],
    ];
    assert_eq!(events, expected.concat());
}

#[test]
fn a_call_of_a_custom_tool_is_an_item_with_its_input() {
    let events = told(EncryptedContent::LeftOut, |out| {
        call_f(out, "tool_0_0", ToolCallKind::Custom, &["a\n", "\"b"]);
        out.write(Piece::CallEnd);
        call_f(out, "tool_0_1", ToolCallKind::Custom, &[]);
        out.finish(FinishReason::ToolCalls);
        out.complete(AnswerEnd::Completed, Some(&usage()), 9);
        out.end();
    });
    let (first, second) =
        (custom_call("ctc_0", "tool_0_0", "a\n\"b"), custom_call("ctc_1", "tool_0_1", ""));
    let expected = [
        custom_call_events(0, &first, &["a\n", "\"b"]),
        custom_call_events(1, &second, &[]),
        vec![completed(&json!([first, second]))],
    ];
    assert_eq!(events, expected.concat());
}

#[test]
fn a_call_that_comes_in_pieces_is_one_item() {
    let events = told(EncryptedContent::LeftOut, |out| {
        call_f(out, "tool_0_0", ToolCallKind::Function, &["{\"q\"", ":1}"]);
        out.finish(FinishReason::ToolCalls);
        out.complete(AnswerEnd::Completed, Some(&usage()), 9);
        out.end();
    });
    let call = call("fc_0", "tool_0_0", "{\"q\":1}");
    let expected = [call_events(0, &call, &["{\"q\"", ":1}"]), vec![completed(&json!([call]))]];
    assert_eq!(events, expected.concat());
}

#[test]
fn reasoning_has_its_parts_and_only_who_asked_sees_what_is_encrypted() {
    let play = |out: &mut ResponseItems| {
        out.write(Piece::ReasoningPart);
        out.write(Piece::Reasoning("wh"));
        out.write(Piece::Reasoning("y"));
        out.write(Piece::ReasoningPart);
        out.write(Piece::Reasoning("how"));
        out.write(Piece::ReasoningItem(&item(&["why", "", "how"], Some("secret"))));
        // The first part of the next item.
        out.write(Piece::ReasoningPart);
        out.write(Piece::Reasoning("then"));
        out.write(Piece::Text("So."));
        out.finish(FinishReason::Stop);
        out.complete(AnswerEnd::Completed, Some(&usage()), 9);
        out.end();
    };
    let parts: &[&[&str]] = &[&["wh", "y"], &["how"]];
    let mut first = reasoning("rs_0", parts);
    let second = reasoning("rs_1", &[&["then"]]);
    let message = message("msg_2", "completed", "So.");
    for encrypted in [EncryptedContent::LeftOut, EncryptedContent::Included] {
        if encrypted == EncryptedContent::Included {
            first["encrypted_content"] = json!("secret");
        }
        let expected = [
            reasoning_events(0, &first, parts),
            reasoning_events(1, &second, &[&["then"]]),
            message_events(2, &message, &["So."]),
            vec![completed(&json!([first, second, message]))],
        ];
        assert_eq!(told(encrypted, play), expected.concat());
    }
}

#[test]
fn what_was_not_told_of_a_summary_is_told_at_its_end() {
    let events = told(EncryptedContent::LeftOut, |out| {
        out.write(Piece::ReasoningItem(&item(&[], None)));
        out.write(Piece::ReasoningItem(&item(&["why", "how"], None)));
        out.write(Piece::Reasoning("one"));
        out.write(Piece::ReasoningItem(&item(&["one", "two"], None)));
        out.finish(FinishReason::Stop);
        out.complete(AnswerEnd::Completed, Some(&usage()), 9);
        out.end();
    });
    let items = [
        reasoning("rs_0", &[]),
        reasoning("rs_1", &[&["why"], &["how"]]),
        reasoning("rs_2", &[&["one"], &["two"]]),
    ];
    let expected = [
        reasoning_events(0, &items[0], &[]),
        reasoning_events(1, &items[1], &[&["why"], &["how"]]),
        reasoning_events(2, &items[2], &[&["one"], &["two"]]),
        vec![completed(&json!(items))],
    ];
    assert_eq!(events, expected.concat());
}

#[test]
fn a_limit_and_a_filter_leave_the_message_incomplete() {
    let cases = [
        (FinishReason::Length, "max_output_tokens"),
        (FinishReason::ContentFilter, "content_filter"),
    ];
    for (finish, reason) in cases {
        let events = told(EncryptedContent::LeftOut, |out| {
            out.write(Piece::Text("Once upon"));
            out.finish(finish);
            out.complete(AnswerEnd::Completed, Some(&usage()), 9);
            out.end();
        });
        let message = message("msg_0", "incomplete", "Once upon");
        let mut end = completed(&json!([message]));
        end["type"] = json!("response.incomplete");
        end["response"]["status"] = json!("incomplete");
        end["response"]["incomplete_details"] = json!({"reason": reason});
        end["response"].as_object_mut().unwrap().remove("completed_at");
        let expected = [message_events(0, &message, &["Once upon"]), vec![end]];
        assert_eq!(events, expected.concat());
    }
}

#[test]
fn an_item_that_is_open_at_a_failure_is_never_done() {
    let error = ApiError::new(429, ErrorType::RateLimitError, "No.").with_code("own_code");
    let events = told(EncryptedContent::LeftOut, |out| {
        out.write(Piece::Reasoning("why"));
        out.write(Piece::Text("Once upon"));
        out.fail(&error);
        out.end();
    });
    let reasoning = reasoning("rs_0", &[&["why"]]);
    let message = message("msg_1", "incomplete", "Once upon");
    let mut begun = message_events(1, &message, &["Once upon"]);
    begun.truncate(3);
    let expected = [
        reasoning_events(0, &reasoning, &[&["why"]]),
        begun,
        vec![
            json!({
                "type": "error", "code": "own_code", "message": "No.", "param": null,
                "error": {
                    "message": "No.", "type": "rate_limit_error", "param": null,
                    "code": "own_code",
                },
            }),
            json!({"type": "response.failed", "response": {
                "status": "failed",
                "error": {"code": "rate_limit_exceeded", "message": "No."},
                "output": [reasoning, message],
            }}),
        ],
    ];
    assert_eq!(events, expected.concat());
}

#[test]
fn a_part_that_is_open_at_a_failure_is_not_lost() {
    let mut items = ResponseItems::new(response(), EncryptedContent::LeftOut, ids(), false);
    items.write(Piece::Reasoning("why"));
    items.write(Piece::ReasoningPart);
    items.write(Piece::Reasoning("how"));
    items.fail(&ApiError::new(502, ErrorType::ServerError, "No."));
    let whole: Value =
        serde_json::from_str(&items.response_json(EncryptedContent::Included)).unwrap();
    assert_eq!(whole["output"], json!([reasoning("rs_0", &[&["why"], &["how"]])]));
}

#[test]
fn a_response_that_is_cancelled_ends_with_what_was_said() {
    let events = told(EncryptedContent::LeftOut, |out| {
        out.write(Piece::Text("Once upon"));
        out.complete(AnswerEnd::Cancelled, Some(&usage()), 9);
        out.end();
    });
    let message = message("msg_0", "incomplete", "Once upon");
    let usage = completed(&json!([]))["response"]["usage"].clone();
    let end = json!({
        "type": "response.incomplete",
        "response": {"status": "cancelled", "output": [message], "usage": usage},
    });
    assert_eq!(events, [message_events(0, &message, &["Once upon"]), vec![end]].concat());
}

#[test]
fn a_turn_that_says_nothing_has_no_items() {
    let mut items = ResponseItems::new(response(), EncryptedContent::LeftOut, ids(), false);
    assert!(!items.has_content());
    items.write(Piece::Text(""));
    items.write(Piece::Reasoning(""));
    assert!(!items.has_content());
    items.finish(FinishReason::Stop);
    items.complete(AnswerEnd::Completed, Some(&usage()), 9);
    items.end();
    assert_eq!((items.output(), &items.status), (&[][..], &ResponseStatus::Completed { at: 9 }));
}

#[test]
fn nothing_is_told_after_the_end() {
    let mut items = ResponseItems::new(response(), EncryptedContent::LeftOut, ids(), true);
    items.finish(FinishReason::Stop);
    items.complete(AnswerEnd::Completed, Some(&usage()), 9);
    items.end();
    items.buffer.clear();
    items.write(Piece::Text("late"));
    items.fail(&ApiError::new(502, ErrorType::ServerError, "No."));
    assert_eq!(items.buffer, "");
}
