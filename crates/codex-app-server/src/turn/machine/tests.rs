use std::borrow::Cow;

use model_turn::{ReasoningKind, TokenUsage, ToolCall, ToolCallKind};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::*;
use crate::message::Message;
use crate::protocol::incoming::{TurnError, TurnStatus};

const TURN: &str = "turn-1";

mod holding;
mod log_laws;
mod logged;
mod logged_ends;
mod recorded;
mod refused;

struct Bench {
    machine: TurnMachine,
    now: Instant,
    log: Vec<String>,
}

impl Bench {
    fn new() -> Self {
        Self::with(None)
    }

    fn with(keeping: Option<Keeping>) -> Self {
        Self::using(LogUse::Nothing, keeping)
    }

    fn using(log_use: LogUse, keeping: Option<Keeping>) -> Self {
        let now = Instant::now();
        let limits = TurnLimits {
            timeout: Duration::from_secs(100),
            idle_timeout: Duration::from_secs(50),
            probe_after: Some(Duration::from_secs(10)),
        };
        let machine = TurnMachine::new(Arc::default(), limits, log_use, keeping, now, now);
        Self { machine, now, log: Vec::new() }
    }

    fn started() -> Self {
        Self::new().known()
    }

    /// The same, with its turn named.
    fn known(mut self) -> Self {
        self.step(|machine, now, steps| machine.turn_known(TURN, now, steps));
        self
    }

    fn step(&mut self, change: impl FnOnce(&mut TurnMachine, Instant, &mut Steps)) -> &mut Self {
        let mut steps = Steps::new();
        change(&mut self.machine, self.now, &mut steps);
        // That it cannot be gone on with is told of every thread in the end.
        let told = |step: &Step| !matches!(step, Step::Settle(ThreadState::Gone));
        self.log.extend(steps.into_iter().filter(told).map(|step| match step {
            Step::Emit(TurnEvent::Failed(failure)) => format!("failed {:?}", failure.kind),
            Step::Emit(TurnEvent::Text(text)) => format!("text {text}"),
            Step::Emit(TurnEvent::ToolCall(call)) => {
                format!("call {} {}", call.name, call.arguments)
            }
            Step::Emit(TurnEvent::ToolCallStart { call_id, name, .. }) => {
                format!("start {call_id} {name}")
            }
            Step::Emit(TurnEvent::ToolCallArguments(text)) => format!("arguments {text}"),
            Step::Emit(TurnEvent::Refusal(text)) => format!("refusal {text}"),
            Step::Emit(TurnEvent::ResponseEnd { .. }) => "response end".to_owned(),
            Step::Emit(TurnEvent::Reasoning { part, text, .. }) => {
                format!("reasoning {part} {text}")
            }
            Step::Emit(TurnEvent::ReasoningItem(item)) => {
                format!("reasoned {}", item.encrypted_content.unwrap_or_default())
            }
            Step::Emit(TurnEvent::MessageStart { phase }) => format!("message {phase:?}"),
            Step::Emit(TurnEvent::End(end)) => format!("end {end:?}"),
            Step::Interrupt(_) => "interrupt".to_owned(),
            Step::InterruptLater(_) => "interrupt later".to_owned(),
            Step::RejectCall(id) => format!("reject {id}"),
            Step::Unsubscribe => "unsubscribe".to_owned(),
            Step::Say(said) => format!("said, with calls {:?}", said.calls),
            Step::Settle(state) => format!("settle {state:?}"),
            Step::DistrustLog(_) => "distrust the log".to_owned(),
            Step::HeadStart(time) => format!("head start {time:?}"),
            Step::Count(counter) => format!("count {counter:?}"),
        }));
        self
    }

    fn see(&mut self, event: ThreadEvent<'_>) -> &mut Self {
        self.step(|machine, now, steps| machine.on_event(TURN, event, now, steps))
    }

    fn pass(&mut self, seconds: u64) -> &mut Self {
        self.wait(Duration::from_secs(seconds))
    }

    fn wait(&mut self, time: Duration) -> &mut Self {
        self.now += time;
        self.step(TurnMachine::on_tick)
    }

    #[track_caller]
    fn expect(&mut self, log: &[&str]) -> &mut Self {
        assert_eq!(self.log, log);
        self.log.clear();
        self
    }
}

fn item(kind: ItemKind) -> ThreadEvent<'static> {
    ThreadEvent::NewItem { raw: Cow::Borrowed("{}"), kind }
}

fn call(name: &str) -> ThreadEvent<'static> {
    let call = ToolCall {
        call_id: "call_1".to_owned(),
        item_id: None,
        name: name.into(),
        arguments: "{}".to_owned(),
        kind: ToolCallKind::Function,
        deviation: None,
    };
    item(ItemKind::Call(call))
}

fn text(text: &'static str) -> ThreadEvent<'static> {
    ThreadEvent::Text(Cow::Borrowed(text))
}

fn response_end() -> ThreadEvent<'static> {
    ThreadEvent::ResponseCompleted { response_id: "resp_1".to_owned(), usage: None }
}

fn completed(status: TurnStatus) -> ThreadEvent<'static> {
    ThreadEvent::TurnCompleted { status, error: None }
}

fn error(will_retry: bool) -> ThreadEvent<'static> {
    ThreadEvent::Error {
        error: TurnError {
            message: "stream disconnected before completion: Transport error".to_owned(),
            codex_error_info: Some(json!("other")),
            additional_details: None,
        },
        will_retry,
    }
}

fn request_id() -> Box<RawValue> {
    RawValue::from_string("7".to_owned()).unwrap()
}

#[test]
fn plain_text_ends_when_codex_ends_the_turn() {
    Bench::started()
        .see(ThreadEvent::MessageStarted(None))
        .see(text("ha "))
        .see(text("ha "))
        .see(ThreadEvent::MessageCompleted("ha ha ".into()))
        .see(response_end())
        .see(completed(TurnStatus::Completed))
        .expect(&["text ha ", "text ha ", "response end", "end Completed", "unsubscribe"]);
}

#[test]
fn a_refusal_after_text_is_told_before_the_response_could_look_complete() {
    Bench::started()
        .see(ThreadEvent::MessageStarted(None))
        .see(text("well"))
        .see(ThreadEvent::MessageCompleted("well".into()))
        .see(ThreadEvent::MessageStarted(None))
        .see(response_end())
        .see(completed(TurnStatus::Completed))
        .expect(&["text well", "interrupt", "failed ContentFilter", "unsubscribe"]);
}

#[test]
fn text_that_was_never_streamed_is_not_lost() {
    Bench::started()
        .see(ThreadEvent::MessageStarted(None))
        .see(ThreadEvent::MessageCompleted("whole".into()))
        .see(ThreadEvent::MessageStarted(None))
        .see(text("pa"))
        .see(ThreadEvent::MessageCompleted("part".into()))
        .expect(&["text whole", "message None", "text pa", "text rt"]);
}

#[test]
fn calls_end_with_the_response_and_the_interrupt_goes_first() {
    let mut bench = Bench::started();
    bench.see(call("a")).see(call("b")).see(response_end()).expect(&[
        "call a {}",
        "call b {}",
        "interrupt",
        "response end",
        "end ToolCalls",
    ]);
    bench.see(completed(TurnStatus::Interrupted)).expect(&["unsubscribe"]);
    assert!(bench.machine.is_closed());
}

#[test]
fn a_second_model_request_is_stopped_and_counted() {
    Bench::started()
        .see(call("a"))
        .see(response_end())
        .see(ThreadEvent::MessageStarted(None))
        .see(text("again"))
        .expect(&[
            "call a {}",
            "interrupt",
            "response end",
            "end ToolCalls",
            "count ExtraModelRequest",
        ]);
    Bench::started()
        .see(ThreadEvent::MessageStarted(None))
        .see(ThreadEvent::MessageCompleted("done".into()))
        .see(response_end())
        .see(ThreadEvent::ReasoningStarted)
        .see(ThreadEvent::MessageStarted(None))
        .see(response_end())
        .see(ThreadEvent::ReasoningStarted)
        .expect(&[
            "text done",
            "response end",
            "count ExtraModelRequest",
            "interrupt",
            "end Completed",
            "count ExtraModelRequest",
        ]);
}

#[test]
fn events_before_the_turn_has_a_name_are_kept_and_those_of_other_turns_are_not() {
    let mut bench = Bench::new();
    bench.see(text("early")).expect(&[]);
    bench.step(|machine, now, steps| machine.on_event("auto-compact-0", text("echo"), now, steps));
    bench.see(ThreadEvent::TurnStarted).expect(&["text early", "count StaleEvent"]);
    bench
        .step(|machine, now, steps| machine.on_event("turn-0", text("stale"), now, steps))
        .expect(&["count StaleEvent"]);
}

#[test]
fn a_retry_of_codex_is_harmless_before_output_and_fatal_after_it() {
    Bench::started()
        .see(error(true))
        .see(text("once"))
        .expect(&["count CodexRetry", "text once"])
        .see(error(true))
        .see(ThreadEvent::MessageStarted(None))
        .see(text("once"))
        .expect(&["count RepeatedOutput", "interrupt", "failed StreamCut"])
        .see(completed(TurnStatus::Interrupted))
        .expect(&["unsubscribe"]);
}

#[test]
fn reasoning_that_nobody_was_told_of_may_start_over() {
    let reasoning = |name: &str| {
        item(ItemKind::Reasoning(ReasoningItem {
            summary: Vec::new(),
            encrypted_content: Some(name.to_owned()),
        }))
    };
    Bench::started()
        .see(reasoning("lost"))
        .see(error(true))
        .see(reasoning("one"))
        .expect(&["count CodexRetry"])
        .see(ThreadEvent::MessageStarted(None))
        .see(text("a"))
        .see(ThreadEvent::MessageCompleted("a".into()))
        .see(reasoning("two"))
        .expect(&["reasoned one", "text a", "reasoned two"])
        .see(response_end())
        .expect(&["response end"]);
    Bench::started()
        .see(reasoning("alone"))
        .see(response_end())
        .expect(&["reasoned alone", "response end"]);
}

#[test]
fn a_message_that_began_before_a_retry_is_not_taken_for_withheld() {
    Bench::started()
        .see(ThreadEvent::MessageStarted(None))
        .see(error(true))
        .see(ThreadEvent::MessageStarted(None))
        .see(text("a"))
        .see(ThreadEvent::MessageCompleted("a".into()))
        .see(response_end())
        .see(completed(TurnStatus::Completed))
        .expect(&["count CodexRetry", "text a", "response end", "end Completed", "unsubscribe"]);
}

#[test]
fn messages_are_told_apart() {
    let message = |phase, words: &'static str| {
        [
            ThreadEvent::MessageStarted(phase),
            text(words),
            ThreadEvent::MessageCompleted(words.into()),
        ]
    };
    let (commentary, answer) = (MessagePhase::Commentary, MessagePhase::FinalAnswer);
    let mut plain = Bench::started();
    let mut phased = Bench::started();
    for event in message(None, "a").into_iter().chain(message(None, "b")) {
        plain.see(event);
    }
    for event in message(Some(commentary), "a").into_iter().chain(message(Some(answer), "b")) {
        phased.see(event);
    }
    plain.expect(&["text a", "message None", "text b"]);
    phased.expect(&["message Some(Commentary)", "text a", "message Some(FinalAnswer)", "text b"]);
}

#[test]
fn a_message_that_begins_in_an_open_one_is_a_repetition() {
    Bench::started()
        .see(ThreadEvent::MessageStarted(None))
        .see(text("once"))
        .see(ThreadEvent::MessageStarted(None))
        .expect(&["text once", "count RepeatedOutput", "interrupt", "failed StreamCut"]);
}

#[test]
fn a_withheld_answer_is_no_success_and_an_empty_one_is() {
    let end = ["response end", "failed ContentFilter", "unsubscribe"];
    Bench::started().see(response_end()).see(completed(TurnStatus::Completed)).expect(&[
        "response end",
        "end Completed",
        "unsubscribe",
    ]);
    Bench::started()
        .see(ThreadEvent::MessageStarted(None))
        .see(response_end())
        .see(completed(TurnStatus::Completed))
        .expect(&end);
    Bench::started()
        .see(ThreadEvent::MessageStarted(None))
        .see(ThreadEvent::MessageStarted(None))
        .expect(&["interrupt", "failed ContentFilter"]);
    Bench::started()
        .see(ThreadEvent::MessageStarted(None))
        .see(ThreadEvent::MessageCompleted("".into()))
        .see(response_end())
        .see(completed(TurnStatus::Completed))
        .expect(&["response end", "end Completed", "unsubscribe"]);
}

#[test]
fn a_message_that_contradicts_its_own_stream_fails() {
    Bench::started()
        .see(ThreadEvent::MessageStarted(None))
        .see(text("AAAA"))
        .see(ThreadEvent::MessageCompleted("BBBBBB".into()))
        .expect(&["text AAAA", "interrupt", "failed Unexpected"]);
}

#[test]
fn a_failure_is_reported_once() {
    Bench::started()
        .see(error(false))
        .see(ThreadEvent::TurnCompleted {
            status: TurnStatus::Failed,
            error: Some(TurnError {
                message: "x".to_owned(),
                codex_error_info: None,
                additional_details: None,
            }),
        })
        .expect(&["failed StreamCut", "unsubscribe"]);
}

#[test]
fn pending_calls_are_probed_once_per_silence() {
    let mut bench = Bench::started();
    bench.see(call("a")).pass(20).expect(&["call a {}"]);
    bench.step(|machine, now, steps| {
        let call = PendingCall { call_id: "call_1".to_owned(), request: request_id() };
        machine.on_tool_request(call, now, steps);
    });
    bench.pass(9).expect(&[]).pass(1).expect(&["count Probe", "reject 7"]).pass(5).expect(&[]);
    bench.see(error(false)).expect(&["failed StreamCut"]);
}

#[test]
fn silence_and_length_are_limited() {
    Bench::started().pass(49).expect(&[]).pass(1).expect(&["interrupt", "failed Timeout"]);
    let mut bench = Bench::started();
    for _ in 0..3 {
        bench.pass(30).see(text("."));
    }
    bench.log.clear();
    bench.pass(10).expect(&["interrupt", "failed Timeout"]);
}

#[test]
fn an_interrupt_waits_for_the_turns_name_and_for_codex() {
    let mut bench = Bench::new();
    bench.step(TurnMachine::interrupt).expect(&[]);
    bench.see(ThreadEvent::TurnStarted).expect(&["interrupt"]);
    bench.step(TurnMachine::interrupt).see(text("late")).expect(&["text late"]);
    bench.see(completed(TurnStatus::Interrupted)).expect(&["end Interrupted", "unsubscribe"]);
}

#[test]
fn an_interrupt_that_changes_nothing_is_sent_again_and_then_taken_for_done() {
    let mut bench = Bench::started();
    bench.step(TurnMachine::abandon).expect(&["interrupt"]);
    bench.pass(1).expect(&[]).pass(1).expect(&["interrupt"]).pass(1).expect(&[]);
    bench.pass(7).expect(&["interrupt", "count UnconfirmedEnd", "unsubscribe"]);
    let mut bench = Bench::started();
    bench.step(TurnMachine::interrupt).pass(2).expect(&["interrupt", "interrupt"]);
    bench.pass(8).expect(&["interrupt", "end Interrupted", "count UnconfirmedEnd", "unsubscribe"]);
}

#[test]
fn nothing_is_emitted_for_a_consumer_that_has_gone() {
    Bench::started()
        .step(TurnMachine::abandon)
        .see(text("unheard"))
        .see(completed(TurnStatus::Interrupted))
        .expect(&["interrupt", "unsubscribe"]);
}

#[test]
fn a_child_that_has_gone_ends_the_turn_at_once() {
    let mut bench = Bench::started();
    bench.see(text("half"));
    bench.step(|machine, _, steps| machine.child_gone("killed", steps));
    bench.expect(&["text half", "failed ChildGone"]);
    assert!(bench.machine.is_closed());
}

#[test]
fn an_end_without_a_reason_is_not_a_success() {
    Bench::started()
        .see(completed(TurnStatus::Interrupted))
        .expect(&["failed Unexpected", "unsubscribe"]);
    Bench::started()
        .see(completed(TurnStatus::Failed))
        .expect(&["failed Unexpected", "unsubscribe"]);
}
