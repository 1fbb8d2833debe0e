//! Refusals, whose text only the log has.

use super::holding::keeping;
use super::logged::{announced, whole};
use super::*;
use crate::child_log::LogEvent;

const GRACE: Duration = Duration::from_millis(100);
const SHORT: Duration = Duration::from_millis(99);

fn started() -> Bench {
    Bench::using(LogUse::Refusals, None).known()
}

fn refusal(text: &str) -> ThreadEvent<'static> {
    ThreadEvent::Logged(LogEvent::Refusal(text.to_owned()))
}

/// A message that begins and never ends.
fn withheld() -> Bench {
    let mut bench = started();
    bench.see(ThreadEvent::MessageStarted(None));
    bench
}

#[test]
fn a_refusal_that_is_known_before_the_end_is_the_answer() {
    for log_use in [LogUse::Refusals, LogUse::Everything] {
        let mut bench = Bench::using(log_use, None).known();
        bench.see(ThreadEvent::MessageStarted(None)).see(refusal("no")).expect(&[]);
        bench.see(response_end()).expect(&["refusal no", "response end"]);
        bench.see(completed(TurnStatus::Completed)).expect(&["end Completed", "unsubscribe"]);
    }
    let mut first = started();
    first.see(refusal("no")).see(ThreadEvent::MessageStarted(None)).see(response_end());
    first.expect(&["refusal no", "response end"]);
}

#[test]
fn a_refusal_may_come_a_little_later_than_the_end() {
    let mut response = withheld();
    response.see(response_end()).wait(SHORT).expect(&[]).see(refusal("no"));
    response.expect(&["refusal no", "response end"]);
    response.see(completed(TurnStatus::Completed)).expect(&["end Completed", "unsubscribe"]);
    let mut turn = withheld();
    turn.see(response_end()).wait(SHORT).see(completed(TurnStatus::Completed)).wait(SHORT);
    turn.expect(&[]).see(refusal("no"));
    turn.expect(&["refusal no", "response end", "end Completed", "unsubscribe"]);
    assert!(turn.machine.is_closed());
}

#[test]
fn a_refusal_that_comes_too_late_has_no_text() {
    let mut response = withheld();
    response.see(response_end()).wait(GRACE).expect(&["response end"]);
    response.see(completed(TurnStatus::Completed));
    response.expect(&["failed ContentFilter", "unsubscribe"]);
    let mut turn = withheld();
    turn.see(response_end()).see(completed(TurnStatus::Completed)).wait(GRACE);
    turn.expect(&["response end", "failed ContentFilter", "unsubscribe"]);
    turn.see(refusal("no")).expect(&["count StaleEvent"]);
}

#[test]
fn without_the_log_a_withheld_message_has_no_text() {
    let mut bench = Bench::started();
    bench.see(ThreadEvent::MessageStarted(None)).see(refusal("no")).see(response_end());
    bench.see(completed(TurnStatus::Completed));
    bench.expect(&["response end", "failed ContentFilter", "unsubscribe"]);
}

#[test]
fn without_the_log_no_refusal_is_used_however_late_it_comes() {
    let mut bench = Bench::started();
    bench.see(ThreadEvent::MessageStarted(None)).see(response_end()).see(refusal("no"));
    bench.see(completed(TurnStatus::Completed));
    bench.expect(&["response end", "failed ContentFilter", "unsubscribe"]);
}

#[test]
fn a_refusal_that_comes_before_the_end_of_a_slow_turn_is_the_answer() {
    let mut bench = withheld();
    bench.see(response_end()).wait(GRACE).see(refusal("no")).see(completed(TurnStatus::Completed));
    bench.expect(&["response end", "refusal no", "end Completed", "unsubscribe"]);
}

#[test]
fn an_interrupt_while_a_refusal_is_awaited_does_not_wait_for_a_turn_that_has_ended() {
    let mut before = withheld();
    before.step(TurnMachine::interrupt).see(response_end()).see(completed(TurnStatus::Completed));
    before.wait(GRACE);
    before.expect(&["interrupt", "response end", "failed ContentFilter", "unsubscribe"]);
    let mut after = withheld();
    after.see(response_end()).see(completed(TurnStatus::Completed)).step(TurnMachine::interrupt);
    after.wait(GRACE);
    after.expect(&["interrupt", "response end", "failed ContentFilter", "unsubscribe"]);
}

/// What ends the turn otherwise ends it as it would without the log.
#[test]
fn other_events_while_a_refusal_is_awaited_find_the_response_ended() {
    let endings: [fn() -> ThreadEvent<'static>; 10] = [
        || completed(TurnStatus::Interrupted),
        || error(false),
        || error(true),
        || ThreadEvent::MessageStarted(None),
        || ThreadEvent::ReasoningStarted,
        || ThreadEvent::MessageCompleted("".into()),
        || ThreadEvent::MessageCompleted("late".into()),
        || text("late"),
        response_end,
        || whole("1", "{}"),
    ];
    for ending in endings {
        let mut without = Bench::started();
        let mut with = started();
        for bench in [&mut without, &mut with] {
            bench.see(ThreadEvent::MessageStarted(None)).see(response_end());
            bench.see(ending()).wait(GRACE).see(completed(TurnStatus::Interrupted));
        }
        assert!(with.machine.is_closed());
        with.expect(&without.log.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

#[test]
fn signs_of_life_leave_a_refusal_open() {
    let mut bench = withheld();
    bench.see(response_end()).see(ThreadEvent::Other).see(item(ItemKind::Other)).see(refusal("no"));
    bench.expect(&["refusal no", "response end"]);
}

#[test]
fn a_refusal_after_text_ends_the_answer() {
    let with_text = || {
        let mut bench = started();
        bench.says("well").see(ThreadEvent::MessageStarted(None)).expect(&["text well"]);
        bench
    };
    with_text().see(refusal("no")).see(response_end()).expect(&["refusal no", "response end"]);
    with_text()
        .see(response_end())
        .expect(&[])
        .see(refusal("no"))
        .expect(&["refusal no", "response end"]);
    // Without its text, the end would look like a good one.
    let failed = ["interrupt", "failed ContentFilter"];
    with_text().see(response_end()).wait(GRACE).expect(&failed);
    let mut ended = with_text();
    ended.see(response_end()).see(completed(TurnStatus::Completed)).wait(GRACE);
    ended.expect(&["failed ContentFilter", "unsubscribe"]);
}

#[test]
fn a_refusal_without_a_message_is_the_answer_if_there_is_no_other() {
    let mut bench = started();
    bench.see(refusal("no")).see(response_end()).see(completed(TurnStatus::Completed));
    bench.expect(&["response end", "refusal no", "end Completed", "unsubscribe"]);
    let mut answered = started();
    answered
        .see(refusal("no"))
        .says("yes")
        .see(response_end())
        .see(completed(TurnStatus::Completed));
    answered.expect(&["text yes", "response end", "end Completed", "unsubscribe"]);
}

#[test]
fn a_response_without_any_item_is_an_empty_answer() {
    for log_use in [LogUse::Nothing, LogUse::Refusals, LogUse::Everything] {
        let mut bench = Bench::using(log_use, None).known();
        bench.see(response_end()).see(completed(TurnStatus::Completed));
        bench.expect(&["response end", "end Completed", "unsubscribe"]);
    }
}

#[test]
fn a_call_is_an_answer_whatever_was_refused_beside_it() {
    let mut bench = started();
    bench.see(whole("1", "{}")).see(ThreadEvent::MessageStarted(None)).see(refusal("no"));
    bench.see(response_end()).expect(&["call f {}", "interrupt", "response end", "end ToolCalls"]);
}

#[test]
fn a_call_does_not_start_in_a_message_that_is_withheld() {
    let mut bench = Bench::using(LogUse::Everything, None).known();
    bench.see(ThreadEvent::MessageStarted(None)).see(refusal("no")).see(announced(0, "1"));
    bench.see(announced(1, "2")).see(whole("2", "{}")).see(response_end());
    bench.expect(&["call f {}", "interrupt", "response end", "end ToolCalls"]);
}

#[test]
fn the_thread_of_a_refusal_is_not_kept() {
    let kept = || Bench::using(LogUse::Refusals, Some(keeping())).known();
    let mut known = kept();
    known.see(ThreadEvent::MessageStarted(None)).see(refusal("no")).see(response_end());
    known.see(completed(TurnStatus::Completed));
    known.expect(&["refusal no", "response end", "end Completed", "unsubscribe"]);
    let mut hidden = kept();
    hidden.see(refusal("no")).see(response_end()).see(completed(TurnStatus::Completed));
    hidden.expect(&[
        "said, with calls []",
        "response end",
        "refusal no",
        "end Completed",
        "unsubscribe",
    ]);
}
