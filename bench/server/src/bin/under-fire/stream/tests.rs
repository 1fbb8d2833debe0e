use conformance::reading::UsageWish;
use scripted_model::MarkedAnswer;

use super::{Said, StreamCheck, Terms};
use crate::expected::{Expected, Mode};

const HEAD: &str = r#"data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":7,"model":"m","choices":["#;
const ROLE: &str = r#""delta":{"role":"assistant","content":""},"finish_reason":null}]}"#;
const TELEMETRY: &str =
    r#": {"tool_call_count":2,"tool_call_truncated":false,"stop_after_tools_mode":"burst"}"#;

/// A text in two words, a block, and a call.
fn answer() -> MarkedAnswer {
    "k7:1:2:1:1:0:0".parse().expect("a mark")
}

fn frame(delta: &str) -> String {
    format!(r#"{HEAD}{{"index":0,"delta":{{{delta}}},"finish_reason":null}}]}}"#)
}

fn call(index: usize, name: &str, arguments: &str) -> String {
    frame(&format!(
        r#""tool_calls":[{{"index":{index},"id":"tool_0_{index}_x","type":"function","function":{{"name":"{name}","arguments":"{arguments}"}}}}]"#
    ))
}

/// The frames of an answer that is right.
fn frames() -> Vec<String> {
    vec![
        format!(r#"{HEAD}{{"index":0,{ROLE}"#),
        frame(r#""reasoning_content":"k7:r0/1 ""#),
        frame(r#""content":"k7:0/2 ""#),
        frame(r#""content":"k7:1/2 ""#),
        call(0, "get_weather", r#"{\"city\":\"k7:b0/1\"}"#),
        frame(r#""content":"k7:behind0 ""#),
        call(1, "get_weather", r#"{\"city\": \"k7:c0/1\"}"#),
        format!(r#"{HEAD}{{"index":0,"delta":{{}},"finish_reason":"tool_calls"}}]}}"#),
        TELEMETRY.to_owned(),
        format!(
            r#"{HEAD}],"usage":{{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}}}"#
        ),
        "data: [DONE]".to_owned(),
    ]
}

fn error() -> String {
    r#"data: {"error":{"message":"x","type":"server_error","param":null,"code":"codex_unavailable"}}"#
        .to_owned()
}

/// What the checker says of these frames, which come in pieces of so many bytes.
fn check(frames: &[String], piece: usize) -> Result<Said, String> {
    let expected = Expected::of(&answer(), Mode::Json);
    let terms = Terms { model: Some("m".to_owned()), choices: Some(1), usage: UsageWish::Asked };
    let mut check = StreamCheck::new(&expected, terms);
    let body = frames.join("\n\n") + "\n\n";
    for bytes in body.as_bytes().chunks(piece) {
        check.take(bytes)?;
    }
    check.finish()
}

#[test]
fn an_answer_that_is_right_is_right_however_it_comes() {
    for piece in [1, 7, 100_000] {
        assert_eq!(check(&frames(), piece), Ok(Said::Whole { calls: 2 }));
    }
}

#[test]
fn no_frame_can_be_missing_doubled_or_in_another_place() {
    for index in 0..frames().len() {
        let mut missing = frames();
        missing.remove(index);
        assert!(check(&missing, 1_000).is_err(), "without frame {index}");
        let mut doubled = frames();
        doubled.insert(index, doubled[index].clone());
        assert!(check(&doubled, 1_000).is_err(), "frame {index} twice");
        if index > 0 {
            let mut swapped = frames();
            swapped.swap(index - 1, index);
            assert!(check(&swapped, 1_000).is_err(), "frames {} and {index} swapped", index - 1);
        }
    }
}

#[test]
fn no_byte_of_another_is_taken() {
    for (index, own, foreign) in [
        (1, "k7:r0/1", "k8:r0/1"),
        (2, "k7:0/2", "k8:0/2"),
        (3, "k7:1/2 ", "k7:1/2 k8"),
        (4, "k7:b0/1", "k8:b0/1"),
        (4, "get_weather", "get_time"),
        (6, "k7:c0/1", "k8:c0/1"),
        (3, "chatcmpl-1", "chatcmpl-2"),
        (3, r#""index":0"#, r#""index":1"#),
        (3, r#""model":"m""#, r#""model":"n""#),
        (7, "tool_calls", "stop"),
        (8, r#""tool_call_count":2"#, r#""tool_call_count":1"#),
        (9, r#""total_tokens":5"#, r#""total_tokens":6"#),
        (10, "data: [DONE]", "data: [DONE] "),
    ] {
        let mut frames = frames();
        let changed = frames[index].replace(own, foreign);
        assert_ne!(changed, frames[index]);
        frames[index] = changed;
        assert!(check(&frames, 1_000).is_err(), "{foreign} for {own}");
    }
}

#[test]
fn a_failure_may_come_anywhere_before_the_end_and_says_so() {
    for index in 1..=7 {
        let mut broken = frames();
        broken.truncate(index);
        let calls = broken.iter().filter(|frame| frame.contains("tool_calls\":[")).count();
        broken.push(error());
        broken.push(TELEMETRY.replace(":2,", &format!(":{calls},")).replace("false", "true"));
        assert!(check(&broken, 1_000).is_err(), "a stream without [DONE]");
        broken.push("data: [DONE]".to_owned());
        let code = "codex_unavailable".to_owned();
        assert_eq!(check(&broken, 1_000), Ok(Said::Failed { code }), "after {index} frames");
        broken[index] = error().replace("codex_unavailable", "codex_is_gone");
        assert!(check(&broken, 1_000).is_err(), "a code that is not documented");
    }
}

#[test]
fn only_calls_that_say_so_are_truncated() {
    let mut truncated = frames();
    truncated.drain(5..7);
    truncated[6] = TELEMETRY.replace(":2,", ":1,");
    assert!(check(&truncated, 1_000).is_err(), "not said");
    truncated[6] = truncated[6].replace("false", "true");
    assert_eq!(check(&truncated, 1_000), Ok(Said::Truncated { calls: 1 }));
    let mut text = frames();
    text.drain(3..7);
    text[3] = text[3].replace("tool_calls", "stop");
    text[4] = TELEMETRY.replace(":2,", ":0,").replace("false", "true");
    assert!(check(&text, 1_000).is_err(), "a text that is truncated");
}

#[test]
fn half_a_block_is_the_end_of_a_failed_answer_alone() {
    let torn = frame(r#""content":"<use_tool><name>""#);
    let mut frames = frames();
    frames.insert(4, torn);
    assert!(check(&frames, 1_000).is_err(), "a call behind it");
    frames.truncate(5);
    frames.push(error());
    frames.push(TELEMETRY.replace(":2,", ":0,").replace("false", "true"));
    frames.push("data: [DONE]".to_owned());
    let code = "codex_unavailable".to_owned();
    assert_eq!(check(&frames, 1_000), Ok(Said::Failed { code }));
}
