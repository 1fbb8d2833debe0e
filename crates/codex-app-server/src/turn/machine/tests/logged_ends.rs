//! Turns that end while a call is being streamed, and lines that come before or after their turn.

use super::holding::keeping;
use super::logged::{EARLY, announced, fragment, reasoning, started, whole};
use super::*;

/// A turn in which a call has started.
fn open() -> Bench {
    let mut bench = started();
    bench.see(announced(0, "1")).see(fragment("1", 0, "{")).expect(&["start 1 f", "arguments {"]);
    bench
}

#[test]
fn a_turn_that_ends_within_a_call_fails() {
    open().see(completed(TurnStatus::Completed)).expect(&["failed Unexpected", "unsubscribe"]);
    open().see(completed(TurnStatus::Interrupted)).expect(&["failed Unexpected", "unsubscribe"]);
    open().see(error(false)).expect(&["failed StreamCut"]);
    open().pass(50).expect(&["interrupt", "failed Timeout"]);
    open().see(ThreadEvent::HistoryReplaced).expect(&["interrupt", "failed Unexpected"]);
    let mut second = open();
    second.see(whole("1", "{}")).see(announced(1, "2")).see(completed(TurnStatus::Completed));
    let end = ["start 2 f", "failed Unexpected", "unsubscribe"];
    second.expect(&[EARLY, "call f {}", end[0], end[1], end[2]]);
}

#[test]
fn a_child_that_goes_within_a_call_fails_the_turn() {
    let mut bench = open();
    bench.step(|machine, _, steps| machine.child_gone("killed", steps));
    bench.expect(&["failed ChildGone"]);
    bench.see(fragment("1", 1, "}")).expect(&["count StaleEvent"]);
}

#[test]
fn an_interrupt_within_a_call_waits_for_codex_and_starts_nothing_more() {
    let mut bench = open();
    bench.see(announced(1, "2")).step(TurnMachine::interrupt).see(fragment("1", 1, "}"));
    bench.expect(&["interrupt", "arguments }"]);
    bench.see(whole("1", "{}")).see(whole("2", "[]"));
    bench.expect(&[EARLY, "call f {}", "call f []"]);
    bench.see(completed(TurnStatus::Interrupted)).expect(&["end Interrupted", "unsubscribe"]);
    let mut unfinished = open();
    unfinished.step(TurnMachine::interrupt).see(completed(TurnStatus::Interrupted));
    unfinished.expect(&["interrupt", "end Interrupted", "unsubscribe"]);
}

#[test]
fn nothing_is_streamed_for_a_consumer_that_has_gone() {
    let mut bench = open();
    bench.step(TurnMachine::abandon).see(fragment("1", 1, "}")).see(whole("1", "{}"));
    bench.see(announced(1, "2")).see(completed(TurnStatus::Interrupted));
    bench.expect(&["interrupt", "unsubscribe"]);
}

#[test]
fn a_retry_of_codex_after_a_start_is_fatal() {
    open().see(error(true)).expect(&["count RepeatedOutput", "interrupt", "failed StreamCut"]);
}

#[test]
fn a_retry_of_codex_before_a_start_forgets_what_was_announced() {
    let mut bench = started();
    bench.see(announced(1, "1")).see(fragment("1", 0, "{")).see(error(true));
    bench.see(reasoning("one")).expect(&["count CodexRetry"]);
    bench.see(whole("2", "[]")).see(response_end());
    bench.expect(&["reasoned one", "call f []", "interrupt", "response end", "end ToolCalls"]);
}

/// They come through another pipe than the announcement of the retry.
#[test]
fn late_lines_of_the_try_before_a_retry_are_not_streamed() {
    let mut bench = started();
    bench.see(error(true)).see(announced(0, "1")).see(fragment("1", 0, "{"));
    bench.see(announced(0, "2")).see(fragment("2", 0, "[")).see(whole("2", "[]"));
    bench.see(response_end());
    let end = ["interrupt", "response end", "end ToolCalls"];
    bench.expect(&["count CodexRetry", "call f []", end[0], end[1], end[2]]);
}

#[test]
fn fragments_of_another_turn_are_not_streamed() {
    let mut bench = started();
    for event in [announced(0, "1"), fragment("1", 0, "{")] {
        bench.step(|machine, now, steps| machine.on_event("turn-0", event, now, steps));
    }
    bench.expect(&["count StaleEvent", "count StaleEvent"]);
}

#[test]
fn what_the_log_reports_before_the_turn_has_a_name_is_kept() {
    let mut bench = Bench::using(LogUse::Everything, None);
    bench.see(announced(0, "1")).see(fragment("1", 0, "{")).expect(&[]);
    bench.step(|machine, now, steps| machine.on_event("turn-0", announced(0, "0"), now, steps));
    bench.see(ThreadEvent::TurnStarted);
    bench.expect(&["start 1 f", "arguments {", "count StaleEvent"]);
}

#[test]
fn what_the_log_reports_before_the_turn_has_a_name_cannot_fail_it() {
    let mut bench = Bench::using(LogUse::Everything, None);
    bench.see(ThreadEvent::MessageStarted(None)).see(announced(1, "1"));
    for offset in 0..MAX_HELD + 10 {
        bench.see(fragment("1", offset, "x"));
    }
    bench.see(text("a")).see(ThreadEvent::MessageCompleted("a".into()));
    // What comes after the loss is not streamed as if nothing were missing.
    bench.see(fragment("1", MAX_HELD + 10, "x")).see(announced(1, "1")).see(fragment("1", 0, "x"));
    bench.see(whole("1", "xyz")).expect(&[]);
    bench.see(ThreadEvent::TurnStarted);
    let call = ["start 1 f", "arguments x", EARLY, "call f xyz"];
    bench.expect(&[&["text a"][..], &call].concat());
    let mut full = Bench::using(LogUse::Everything, None);
    for _ in 0..MAX_HELD {
        full.see(text("x"));
    }
    full.see(announced(0, "1")).expect(&[]);
    full.see(text("x")).expect(&["failed Unexpected"]);
}

/// A turn whose call is answered in the same turn of Codex.
fn resumed() -> Bench {
    let mut held = Bench::using(LogUse::Everything, Some(keeping())).known();
    held.see(announced(0, "1")).see(fragment("1", 0, "{")).see(whole("1", "{}"));
    held.asked_for("1").see(response_end());
    assert!(held.machine.is_held());
    held.log.clear();
    held.see(fragment("1", 1, "}")).see(announced(1, "9")).expect(&[]);
    assert!(held.machine.is_held(), "late lines do not end it");
    let mut next = Bench::using(LogUse::Everything, Some(keeping()));
    next.machine.take_over(&mut held.machine);
    next
}

#[test]
fn late_lines_of_the_response_before_are_not_streamed_in_a_resumed_turn() {
    let mut bench = resumed();
    bench.see(announced(0, "1")).see(fragment("1", 0, "{")).see(fragment("1", 1, "}")).expect(&[]);
    bench.see(announced(0, "2")).see(fragment("1", 0, "{")).expect(&["start 2 f"]);
    bench.see(fragment("2", 0, "[")).see(fragment("1", 1, "}")).see(whole("2", "[]"));
    bench.expect(&["arguments [", EARLY, "call f []"]);
}

#[test]
fn late_lines_are_ignored_however_often_a_turn_was_resumed() {
    let mut second = resumed();
    second.see(whole("2", "[]")).asked_for("2").see(response_end());
    second.expect(&[
        "call f []",
        r#"said, with calls ["2"]"#,
        "response end",
        "end ToolCalls",
        "settle Held",
    ]);
    let mut third = Bench::using(LogUse::Everything, None);
    third.machine.take_over(&mut second.machine);
    third.see(announced(0, "1")).see(announced(0, "2")).expect(&[]);
    third.says("x").see(announced(1, "3")).expect(&["text x", "start 3 f"]);
}
