use model_turn::Tool;

use super::*;
use crate::continuity::transcript::{FingerprintKey, Transcript};

/// The notes of a turn whose thread may be kept, with two tools.
pub(super) fn keeping() -> Keeping {
    let transcript = Transcript::begin(FingerprintKey::random(), b"");
    let mut names = ToolNames::default();
    for name in ["f", "g"] {
        names.declare(&Tool::function(name, "", json!({})));
    }
    Keeping::new(transcript, Arc::new(names))
}

fn started() -> Bench {
    Bench::with(Some(keeping())).known()
}

fn raw_call(id: &str, name: &str, arguments: &str) -> ThreadEvent<'static> {
    let raw = json!({
        "type": "function_call", "name": name, "arguments": arguments, "call_id": id, "id": "fc_1",
    });
    ThreadEvent::NewItem {
        raw: raw.to_string().into(),
        kind: ItemKind::Call(ToolCall {
            call_id: id.to_owned(),
            item_id: Some("fc_1".to_owned()),
            name: name.into(),
            arguments: arguments.to_owned(),
            kind: ToolCallKind::Function,
            deviation: None,
        }),
    }
}

fn raw_message(text: &str) -> ThreadEvent<'static> {
    let content = json!([{"type": "output_text", "text": text}]);
    let raw = json!({"type": "message", "role": "assistant", "content": content});
    ThreadEvent::NewItem { raw: raw.to_string().into(), kind: ItemKind::Other }
}

impl Bench {
    pub(super) fn asked_for(&mut self, id: &str) -> &mut Self {
        self.step(|machine, now, steps| {
            let call = PendingCall { call_id: id.to_owned(), request: request_id() };
            machine.on_tool_request(call, now, steps);
        })
    }

    pub(super) fn says(&mut self, text: &'static str) -> &mut Self {
        self.see(ThreadEvent::MessageStarted(None))
            .see(super::text(text))
            .see(ThreadEvent::MessageCompleted(text.into()))
            .see(raw_message(text))
    }

    fn let_go(&mut self) -> &mut Self {
        self.step(TurnMachine::let_go)
    }
}

#[test]
fn a_thread_is_idle_when_its_turn_has_ended() {
    started()
        .says("a")
        .see(response_end())
        .expect(&["text a", "said, with calls []", "response end"])
        .see(completed(TurnStatus::Completed))
        .expect(&["end Completed", "settle Idle"]);
}

#[test]
fn a_thread_that_nobody_wants_is_unloaded_at_the_end() {
    let last = &["end Completed", "unsubscribe"];
    started()
        .says("a")
        .see(response_end())
        .let_go()
        .expect(&["text a", "said, with calls []", "response end"])
        .see(completed(TurnStatus::Completed))
        .expect(last);
    let mut early = started();
    early.let_go().says("a").see(response_end()).expect(&["text a", "response end"]);
    early.see(completed(TurnStatus::Completed)).expect(last);
}

#[test]
fn a_turn_with_calls_is_held_once_all_of_them_were_asked_for() {
    let mut bench = started();
    bench
        .says("a")
        .see(raw_call("1", "f", "{}"))
        .asked_for("1")
        .see(raw_call("2", "g", "[]"))
        .see(response_end())
        .expect(&[
            "text a",
            "call f {}",
            "call g []",
            r#"said, with calls ["1", "2"]"#,
            "response end",
            "end ToolCalls",
        ])
        .asked_for("2")
        .expect(&["settle Held"]);
    assert!(bench.machine.is_held());
    // However long that takes.
    bench.pass(100_000).see(ThreadEvent::Other).expect(&[]);
    bench.let_go().expect(&["interrupt later"]).see(completed(TurnStatus::Interrupted));
    bench.expect(&["unsubscribe"]);
    assert!(bench.machine.is_closed());
}

#[test]
fn a_held_turn_is_taken_over_with_its_calls() {
    let mut held = started();
    held.see(raw_call("1", "f", "{}")).see(response_end()).asked_for("1");
    let mut next = Bench::new();
    let calls = next.machine.take_over(&mut held.machine);
    assert_eq!(calls.iter().map(|call| call.call_id.as_str()).collect::<Vec<_>>(), ["1"]);
    assert!(held.machine.is_closed() && !next.machine.is_held());
    next.says("b").see(response_end()).see(completed(TurnStatus::Completed)).expect(&[
        "text b",
        "response end",
        "end Completed",
        "unsubscribe",
    ]);
}

/// Codex would answer such a call itself, and ask the model again.
#[test]
fn a_call_that_is_not_asked_of_us_is_not_waited_for() {
    for (id, name, arguments) in
        [("2", "unknown", "{}"), ("2", "f", ""), ("2", "f", "{"), ("1", "f", "{}")]
    {
        let mut bench = started();
        bench.see(raw_call("1", "f", "{}")).see(raw_call(id, name, arguments)).see(response_end());
        let call = format!("call {name} {arguments}");
        bench.expect(&["call f {}", &call, "interrupt", "response end", "end ToolCalls"]);
    }
}

#[test]
fn what_no_client_could_send_back_is_not_held() {
    let grouped = |namespace: &str| {
        let raw = json!({
            "type": "function_call", "name": "f", "arguments": "{}", "call_id": "1",
            "namespace": namespace,
        });
        ThreadEvent::NewItem { raw: raw.to_string().into(), kind: ItemKind::Other }
    };
    for strange in [grouped("functions"), error(true)] {
        let mut bench = started();
        bench.see(strange);
        bench.log.clear();
        bench.see(raw_call("1", "f", "{}")).see(response_end());
        bench.expect(&["call f {}", "interrupt", "response end", "end ToolCalls"]);
    }
}

#[test]
fn a_turn_that_was_probed_is_not_held() {
    let mut bench = started();
    bench.see(raw_call("1", "f", "{}")).asked_for("1").pass(11);
    bench.expect(&["call f {}", "count Probe", "reject 7"]);
    bench.see(response_end()).expect(&["interrupt", "response end", "end ToolCalls"]);
}

/// From there on Codex would replace the history by a summary of its own.
#[test]
fn a_history_that_the_upstream_calls_huge_is_not_gone_on_with() {
    let mut bench = started();
    let usage = TokenUsage { total_tokens: 100_000_000, ..TokenUsage::default() };
    let end = ThreadEvent::ResponseCompleted { response_id: "1".to_owned(), usage: Some(usage) };
    bench.says("a").see(end).see(completed(TurnStatus::Completed));
    bench.expect(&["text a", "response end", "end Completed", "unsubscribe"]);
}

#[test]
fn a_history_that_codex_replaces_fails_its_turn_before_anything_is_told() {
    started().see(ThreadEvent::HistoryReplaced).expect(&["interrupt", "failed Unexpected"]);
}

#[test]
fn a_turn_that_did_not_end_well_leaves_nothing() {
    let said = ["text a", "said, with calls []", "response end"];
    let mut late = started();
    late.says("a").see(response_end()).expect(&said).see(raw_message("more"));
    late.see(completed(TurnStatus::Completed)).expect(&["end Completed", "unsubscribe"]);
    let mut interrupted = started();
    interrupted.says("a").see(response_end()).expect(&said);
    interrupted.step(TurnMachine::interrupt).see(completed(TurnStatus::Interrupted));
    interrupted.expect(&["interrupt", "end Interrupted", "unsubscribe"]);
}

#[test]
fn a_held_turn_in_which_something_happens_is_ended() {
    let held = || {
        let mut bench = started();
        bench.see(raw_call("1", "f", "{}")).asked_for("1").see(response_end());
        bench.log.clear();
        bench
    };
    held().see(completed(TurnStatus::Completed)).expect(&["unsubscribe"]);
    held().see(error(false)).expect(&["interrupt"]);
    held().see(raw_message("a")).expect(&["interrupt"]);
    held().see(ThreadEvent::MessageStarted(None)).expect(&["count ExtraModelRequest", "interrupt"]);
    let stopping = Failure::new(FailureKind::Stopping, "stopping");
    let mut stopped = held();
    stopped.step(|machine, now, steps| machine.fail(stopping, now, steps));
    stopped.expect(&["interrupt later"]);
    let mut lost = held();
    lost.step(|machine, _, steps| machine.child_gone("gone", steps)).expect(&[]);
    assert!(lost.machine.is_closed());
}
