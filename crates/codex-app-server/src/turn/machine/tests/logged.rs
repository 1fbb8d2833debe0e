//! Calls that the child's log brings early.

use model_turn::{Tool, ToolInput};

use super::*;
use crate::child_log::{LogEvent, StartedCall};

pub(super) const EARLY: &str = "head start 0ns";

/// A turn that streams arguments.
pub(super) fn started() -> Bench {
    Bench::using(LogUse::Everything, None).known()
}

/// The log announces a call; its item has the id `fc_<id>`.
pub(super) fn announced(output_index: u64, id: &str) -> ThreadEvent<'static> {
    announced_as(output_index, id, "f")
}

fn announced_as(output_index: u64, id: &str, name: &str) -> ThreadEvent<'static> {
    ThreadEvent::Logged(LogEvent::CallStarted(StartedCall {
        output_index,
        item_id: format!("fc_{id}").into(),
        call_id: id.to_owned(),
        name: name.into(),
    }))
}

pub(super) fn fragment(id: &str, offset: usize, text: &str) -> ThreadEvent<'static> {
    let item_id = format!("fc_{id}").into();
    ThreadEvent::Logged(LogEvent::Arguments { item_id, offset, text: text.to_owned() })
}

/// The call on standard output.
pub(super) fn whole(id: &str, arguments: &str) -> ThreadEvent<'static> {
    whole_as(Some(&format!("fc_{id}")), id, "f", arguments)
}

fn whole_as(item_id: Option<&str>, id: &str, name: &str, arguments: &str) -> ThreadEvent<'static> {
    let raw = json!({
        "type": "function_call", "name": name, "arguments": arguments, "call_id": id,
        "id": item_id,
    });
    let call = ToolCall {
        call_id: id.to_owned(),
        item_id: item_id.map(str::to_owned),
        name: name.into(),
        arguments: arguments.to_owned(),
        kind: ToolCallKind::Function,
        deviation: None,
    };
    ThreadEvent::NewItem { raw: raw.to_string().into(), kind: ItemKind::Call(call) }
}

pub(super) fn reasoning(name: &str) -> ThreadEvent<'static> {
    let encrypted_content = Some(name.to_owned());
    item(ItemKind::Reasoning(ReasoningItem { summary: Vec::new(), encrypted_content }))
}

#[test]
fn a_call_is_streamed_as_the_model_writes_it() {
    let mut bench = started();
    bench.see(announced(0, "1")).expect(&["start 1 f"]);
    bench.see(fragment("1", 0, "{\"x")).expect(&["arguments {\"x"]);
    bench.see(fragment("1", 3, "\":1}")).expect(&["arguments \":1}"]);
    bench.pass(2).see(whole("1", "{\"x\":1}"));
    bench.expect(&["head start 2s", "call f {\"x\":1}"]);
    bench.see(response_end()).expect(&["interrupt", "response end", "end ToolCalls"]);
    bench.see(completed(TurnStatus::Interrupted)).expect(&["unsubscribe"]);
}

#[test]
fn the_whole_call_may_come_before_the_last_fragments() {
    let mut bench = started();
    bench.see(announced(0, "1")).see(fragment("1", 0, "{")).see(whole("1", "{}"));
    bench.see(fragment("1", 1, "}")).see(announced(0, "1")).see(fragment("1", 0, "{}"));
    bench.expect(&["start 1 f", "arguments {", EARLY, "call f {}"]);
    bench.see(response_end()).expect(&["interrupt", "response end", "end ToolCalls"]);
}

#[test]
fn a_call_without_arguments_is_streamed_too() {
    let mut bench = started();
    bench.see(announced(0, "1")).see(whole("1", ""));
    bench.expect(&["start 1 f", EARLY, "call f "]);
}

#[test]
fn a_call_starts_when_the_text_before_it_is_whole() {
    let mut bench = started();
    bench.see(announced(1, "1")).see(fragment("1", 0, "{")).see(ThreadEvent::MessageStarted(None));
    bench.see(text("a")).see(fragment("1", 1, "\"x")).see(text("b")).expect(&["text a", "text b"]);
    bench.see(ThreadEvent::MessageCompleted("abc".into()));
    bench.expect(&["text c", "start 1 f", "arguments {\"x"]);
    bench.see(fragment("1", 3, "\"}")).see(whole("1", "{\"x\"}"));
    bench.expect(&["arguments \"}", EARLY, "call f {\"x\"}"]);
}

#[test]
fn a_call_does_not_start_in_an_open_message() {
    let mut bench = started();
    bench.see(ThreadEvent::MessageStarted(None)).see(announced(0, "1")).see(text("a"));
    bench.see(ThreadEvent::MessageCompleted("a".into())).see(whole("1", "{}"));
    bench.expect(&["text a", "call f {}"]);
}

#[test]
fn reasoning_before_a_call_is_emitted_before_it() {
    let mut bench = started();
    bench.see(announced(2, "1")).see(reasoning("one")).expect(&[]);
    bench.see(reasoning("two")).expect(&["reasoned one", "reasoned two", "start 1 f"]);
}

#[test]
fn calls_are_streamed_in_their_order_one_after_the_other() {
    let mut bench = started();
    bench.see(announced(1, "2")).see(fragment("2", 0, "{}")).see(announced(0, "1"));
    bench.see(fragment("1", 0, "[")).expect(&["start 1 f", "arguments ["]);
    bench.see(fragment("2", 2, " ")).see(whole("1", "[]")).expect(&[
        EARLY,
        "call f []",
        "start 2 f",
        "arguments {} ",
    ]);
    bench.see(whole("2", "{} ")).see(whole("3", "3"));
    bench.expect(&[EARLY, "call f {} ", "call f 3"]);
}

/// Standard output does not report every item of the upstream's, so that indices can run ahead.
#[test]
fn a_call_that_has_come_whole_does_not_start_again() {
    let ends = ["call f {}", "call f []", "interrupt", "response end", "end ToolCalls"];
    let mut announced_before = started();
    announced_before.see(announced(1, "1")).see(fragment("1", 0, "{")).see(announced(2, "2"));
    announced_before.see(item(ItemKind::Other)).see(whole("1", "{}")).see(whole("2", "[]"));
    announced_before.see(response_end()).expect(&ends);
    let mut announced_after = started();
    announced_after.see(item(ItemKind::Other)).see(whole("1", "{}")).see(announced(1, "1"));
    announced_after.see(fragment("1", 0, "{")).see(whole("2", "[]")).see(announced(2, "2"));
    announced_after.see(response_end()).expect(&ends);
}

#[test]
fn after_a_gap_the_rest_comes_with_the_whole_call() {
    let mut bench = started();
    bench.see(announced(0, "1")).see(fragment("1", 0, "{")).see(fragment("1", 2, "}"));
    bench.see(fragment("1", 0, "{")).see(whole("1", "{ }"));
    bench.expect(&["start 1 f", "arguments {", EARLY, "call f { }"]);
}

#[test]
fn a_whole_call_that_contradicts_the_stream_fails_the_turn() {
    for (item_id, id, name, arguments) in [
        (Some("fc_1"), "1", "f", "{\"y\":1}"),
        (Some("fc_1"), "1", "f", "{"),
        (Some("fc_1"), "1", "g", "{\"x\":1}"),
        (Some("fc_1"), "2", "f", "{\"x\":1}"),
        (Some("fc_2"), "1", "f", "{\"x\":1}"),
        (None, "2", "f", "{\"x\":1}"),
    ] {
        let mut bench = started();
        bench.see(announced(0, "1")).see(fragment("1", 0, "{\"x"));
        bench.see(whole_as(item_id, id, name, arguments)).expect(&[
            "start 1 f",
            "arguments {\"x",
            "distrust the log",
            "interrupt",
            "failed Unexpected",
        ]);
        assert!(bench.machine.has_emitted(), "so that it is not tried again");
        bench.see(whole("1", "{\"x\":1}")).see(completed(TurnStatus::Interrupted));
        bench.expect(&["unsubscribe"]);
    }
    let mut without_id = started();
    without_id.see(announced(0, "1")).see(whole_as(None, "1", "f", "{}"));
    without_id.expect(&["start 1 f", EARLY, "call f {}"]);
}

#[test]
fn output_beside_an_open_call_fails_the_turn() {
    for output in [
        text("x"),
        ThreadEvent::Reasoning { kind: ReasoningKind::Summary, part: 0, text: "x".into() },
        ThreadEvent::ReasoningStarted,
        ThreadEvent::MessageStarted(None),
        ThreadEvent::MessageCompleted("x".into()),
        reasoning("x"),
        response_end(),
    ] {
        let mut bench = started();
        bench.see(announced(0, "1")).see(output);
        bench.expect(&["start 1 f", "distrust the log", "interrupt", "failed Unexpected"]);
    }
}

#[test]
fn signs_of_life_beside_an_open_call_are_no_output() {
    let mut bench = started();
    bench.see(announced(0, "1")).see(ThreadEvent::Other).see(item(ItemKind::Other));
    bench.see(whole("1", "{}")).expect(&["start 1 f", EARLY, "call f {}"]);
}

#[test]
fn empty_text_beside_an_open_call_is_not_emitted() {
    let mut bench = started();
    bench.see(announced(0, "1")).see(text("")).see(whole("1", "{}")).see(text(""));
    bench.expect(&["start 1 f", EARLY, "call f {}", "text "]);
}

#[test]
fn a_name_is_mapped_back_before_the_call_starts() {
    let mut names = ToolNames::default();
    let alias = names.mention(&"mcp__x".into()).name;
    let mut bench = started();
    bench.machine.names = Arc::new(names);
    bench.see(announced_as(0, "1", &alias)).see(whole_as(None, "1", &alias, "{}"));
    bench.expect(&["start 1 mcp__x", EARLY, "call mcp__x {}"]);
}

#[test]
fn the_input_of_a_custom_tool_is_streamed_as_text() {
    let mut names = ToolNames::default();
    let patch = Tool { input: ToolInput::Text, ..Tool::function("f", "", json!({})) };
    names.declare(&patch);
    let names = Arc::new(names);
    for (fragments, whole_call, log) in [
        (
            &[(0, r#"{"inp"#), (5, r#"ut":"a\"#), (12, r#"nb"}"#)][..],
            r#"{"input":"a\nb"}"#,
            &["start 1 f", "arguments a", "arguments \nb", EARLY, "call f a\nb"][..],
        ),
        (
            &[(0, "{ x"), (3, "y")],
            "{ xyz",
            &["start 1 f", "arguments { x", "arguments y", EARLY, "call f { xyz"],
        ),
        (&[], r#"{"input":""}"#, &["start 1 f", EARLY, "call f "]),
    ] {
        let mut bench = started();
        bench.machine.names = Arc::clone(&names);
        bench.see(announced(0, "1"));
        for (offset, text) in fragments {
            bench.see(fragment("1", *offset, text));
        }
        bench.see(whole("1", whole_call)).expect(log);
    }
}

#[test]
fn only_a_call_that_has_started_is_output() {
    let mut bench = started();
    bench.see(announced(1, "1")).see(fragment("1", 0, "{"));
    assert!(!bench.machine.has_emitted());
    bench.see(reasoning("one"));
    assert!(bench.machine.has_emitted());
}

#[test]
fn a_turn_without_the_log_streams_nothing() {
    for log_use in [LogUse::Nothing, LogUse::Refusals] {
        let mut bench = Bench::using(log_use, None).known();
        bench.see(announced(0, "1")).see(fragment("1", 0, "{")).expect(&[]);
        assert!(!bench.machine.has_emitted());
        bench.see(whole("1", "[]")).expect(&["call f []"]);
    }
}

/// The model is at work, whether or not its arguments are wanted.
#[test]
fn fragments_count_as_activity() {
    for log_use in [LogUse::Nothing, LogUse::Refusals, LogUse::Everything] {
        let mut bench = Bench::using(log_use, None).known();
        for offset in 0..2 {
            bench.pass(49).see(fragment("1", offset, "x"));
        }
        bench.expect(&[]);
        let mut pending = Bench::using(log_use, None).known();
        pending.see(whole("1", "{}")).asked_for("1").pass(9).see(fragment("2", 0, "x"));
        pending.pass(9).expect(&["call f {}"]);
        pending.pass(1).expect(&["count Probe", "reject 7"]);
    }
}
