//! Exchanges that were recorded with the real Codex.

use super::*;

/// The events that a recorded exchange leads to, with adjacent text joined.
fn replay(transcript: &str) -> Vec<TurnEvent> {
    let now = Instant::now();
    let mut machine =
        TurnMachine::new(Arc::default(), TurnLimits::default(), LogUse::Nothing, None, now, now);
    let mut events: Vec<TurnEvent> = Vec::new();
    for line in transcript.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        if record["dir"] != "server->client" {
            continue;
        }
        let line = record["msg"].to_string();
        let Message::Turn(event) = Message::parse(line.as_bytes()).unwrap() else {
            continue;
        };
        let mut steps = Steps::new();
        machine.on_event(&event.turn_id, event.event, now, &mut steps);
        for step in steps {
            match (step, events.last_mut()) {
                (Step::Emit(TurnEvent::Text(more)), Some(TurnEvent::Text(text))) => *text += &more,
                (
                    Step::Emit(TurnEvent::Reasoning { part, text: more, .. }),
                    Some(TurnEvent::Reasoning { part: before, text, .. }),
                ) if part == *before => *text += &more,
                (Step::Emit(event), _) => events.push(event),
                _ => {}
            }
        }
    }
    events
}

fn failure_of(transcript: &str) -> (Vec<TurnEvent>, FailureKind) {
    let mut events = replay(transcript);
    match events.pop() {
        Some(TurnEvent::Failed(failure)) => (events, failure.kind),
        other => panic!("no failure but {other:?}"),
    }
}

fn said(text: &str) -> TurnEvent {
    TurnEvent::Text(text.to_owned())
}

macro_rules! transcript {
    ($name:literal) => {
        include_str!(concat!("../../../../tests/transcripts/", $name, ".jsonl"))
    };
}

fn names(events: &[TurnEvent]) -> Vec<(&str, &str)> {
    events
        .iter()
        .filter_map(|event| match event {
            TurnEvent::ToolCall(call) => Some((call.name.name.as_str(), call.arguments.as_str())),
            _ => None,
        })
        .collect()
}

#[test]
fn recorded_reasoning_without_the_end_of_its_response_is_not_taken_for_whole() {
    let (events, kind) = failure_of(transcript!("text_reasoning"));
    let reasoning = |part, text: &str| TurnEvent::Reasoning {
        kind: ReasoningKind::Summary,
        part,
        text: text.to_owned(),
    };
    assert_eq!(
        events,
        [
            reasoning(0, "**Thinking** about it"),
            reasoning(1, "Second part here"),
            said("Answer after reasoning."),
        ]
    );
    assert_eq!(kind, FailureKind::Unexpected);
}

#[test]
fn recorded_history_is_not_mistaken_for_the_answer() {
    let events = replay(transcript!("injected_history"));
    let [TurnEvent::Text(text), TurnEvent::ResponseEnd { .. }, TurnEvent::End(end)] = &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!((text.as_str(), *end), ("Hello from the mock model.", TurnEnd::Completed));
}

#[test]
fn recorded_parallel_calls() {
    let events = replay(transcript!("parallel3_unanswered_interrupt"));
    assert_eq!(
        names(&events),
        [
            ("get_weather", r#"{"city": "C0"}"#),
            ("get_time", r#"{"city": "C1"}"#),
            ("lookup", r#"{"city": "C2"}"#),
        ]
    );
    assert_eq!(events.last(), Some(&TurnEvent::End(TurnEnd::ToolCalls)));
}

#[test]
fn recorded_text_and_a_call() {
    let events = replay(transcript!("mixed_text_and_tool"));
    assert_eq!(events[0], said("Let me check the weather."));
    assert_eq!(names(&events), [("get_weather", r#"{"city": "Paris"}"#)]);
    let Some(TurnEvent::ResponseEnd { usage: Some(usage), .. }) = events.get(2) else {
        panic!("no usage in {events:?}")
    };
    assert_eq!(
        *usage,
        TokenUsage {
            input_tokens: 123,
            cached_input_tokens: 100,
            output_tokens: 45,
            reasoning_output_tokens: 7,
            total_tokens: 168,
        }
    );
}

#[test]
fn recorded_malformed_arguments_end_the_turn_before_codex_asks_again() {
    let events = replay(transcript!("bad_json_args"));
    assert_eq!(names(&events), [("get_weather", r#"{"city": "Par"#)]);
    assert_eq!(events.last(), Some(&TurnEvent::End(TurnEnd::ToolCalls)));
}

#[test]
fn recorded_refusal_is_no_empty_success() {
    let (events, kind) = failure_of(transcript!("refusal"));
    assert_eq!(kind, FailureKind::ContentFilter);
    assert!(matches!(events[..], [TurnEvent::ResponseEnd { .. }]));
}

#[test]
fn recorded_retries_of_codex_never_repeat_text() {
    let partial = said("partial answer that neve");
    assert_eq!(
        failure_of(transcript!("stream_cut")),
        (vec![partial.clone()], FailureKind::StreamCut)
    );
    assert_eq!(failure_of(transcript!("stream_cut_once")), (vec![partial], FailureKind::StreamCut));
}

#[test]
fn recorded_end_of_the_output_limit() {
    let (events, kind) = failure_of(transcript!("incomplete_max_output"));
    assert_eq!((events, kind), (vec![said("Truncated answ")], FailureKind::MaxOutput));
}
