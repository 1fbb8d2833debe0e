//! Arguments as the model writes them, with the real Codex: early, right, or not at all.

mod altered_log;

use std::time::{Duration, Instant};

use codex_app_server::EarlyArguments;
use futures_util::future::join_all;
use model_turn::{FailureKind as Kind, TurnEnd, TurnEvent, TurnRequest};
use scripted_model::long_arguments;
use testkit::process::signal;
use testkit::{Outcome, TestCodex, tools, within};

const NAMES: [&str; 3] = ["get_weather", "get_time", "lookup"];

/// A request for calls whose arguments hold `text`.
fn ask(codex: &TestCodex, options: &str, text: &str) -> TurnRequest {
    let mut request = codex.ask(&format!("{text} [[args:{options}]]"));
    request.tools = tools(&NAMES);
    request.early_arguments = true;
    request
}

/// The calls are exactly those that were asked for.
fn assert_calls(outcome: &Outcome, calls: usize, text: &str, bytes: usize) {
    assert_eq!(outcome.end, Ok(TurnEnd::ToolCalls), "{outcome:?}");
    let expected: Vec<_> =
        (0..calls).map(|index| (NAMES[index], long_arguments(index, text, bytes))).collect();
    let expected: Vec<_> = expected.iter().map(|(name, text)| (*name, text.as_str())).collect();
    assert_eq!(outcome.call_texts(), expected);
}

#[tokio::test]
async fn arguments_come_while_the_model_is_still_writing() {
    let codex = TestCodex::start().await;
    for numbered in ["", ",numbered"] {
        let options = format!("bytes=6000,piece=200,ms=30{numbered}");
        let mut turn = codex.client.start_turn(ask(&codex, &options, "early")).unwrap();
        let first = loop {
            let event = turn.next().await.expect("an event");
            if matches!(event, TurnEvent::ToolCallStart { .. }) {
                break Instant::now();
            }
        };
        let mut fragments = 0;
        let call = loop {
            match turn.next().await.expect("an event") {
                TurnEvent::ToolCallArguments(_) => fragments += 1,
                TurnEvent::ToolCall(call) => break call,
                other => panic!("{other:?} came within a call"),
            }
        };
        let head_start = first.elapsed();
        println!("{options}: name {head_start:?} before the whole call, {fragments} pieces");
        assert_eq!(call.arguments, long_arguments(0, "early", 6_000));
        // The model pauses 30 times for 30 ms; what comes together is handed over together.
        assert!(fragments > 1, "{fragments}");
        assert!(head_start > Duration::from_millis(100), "{head_start:?}");
    }
    let stats = codex.client.stats();
    // No piece ends within a character, so there are a few more than 6,000 / 200.
    assert!(stats.fragments >= 60, "{stats:?}");
    assert_eq!((stats.unattributed_fragments, stats.log_mismatches), (0, 0));
    codex.client.shutdown().await;
}

#[tokio::test]
async fn twenty_turns_at_once_get_their_own_arguments_and_text() {
    let codex = TestCodex::start().await;
    for numbered in ["", ",numbered"] {
        let turns = (0..20).map(async |number| {
            let text = format!("turn {number}{}", "é".repeat(number));
            let options = format!("bytes=500,piece=25,ms=3,calls=3,text{numbered}");
            let outcome = codex.run(ask(&codex, &options, &text)).await;
            assert_eq!(outcome.text, format!("You asked: {text:?}"));
            assert_calls(&outcome, 3, &text, 500);
            outcome.streamed.len()
        });
        let streamed: usize = join_all(turns).await.into_iter().sum();
        println!("{streamed} of 60 calls were streamed");
        // A machine that is busy reads both pipes late.
        assert!(streamed > 20, "{streamed}");
    }
    assert_eq!(codex.client.stats().log_mismatches, 0);
    codex.client.shutdown().await;
}

#[tokio::test]
async fn whatever_the_backend_does_the_calls_are_right() {
    let codex = TestCodex::start().await;
    for (options, calls, bytes) in [
        ("bytes=1,piece=1", 1, 1),
        ("bytes=400,piece=1", 1, 400),
        ("bytes=400,piece=1,numbered,calls=2", 2, 400),
        ("bytes=2000000,piece=4000", 1, 2_000_000),
        ("bytes=300000,piece=300000", 1, 300_000),
        ("calls=3,interleaved,ms=2", 3, 200),
        ("calls=3,interleaved,ms=2,numbered", 3, 200),
        ("calls=2,text", 2, 200),
    ] {
        let outcome = codex.run(ask(&codex, options, "x")).await;
        assert_calls(&outcome, calls, "x", bytes);
        println!("{options}: {} of {calls} streamed", outcome.streamed.len());
    }
    // Without ids there is nothing to go by.
    let outcome = codex.run(ask(&codex, "calls=2,ms=5,idless", "x")).await;
    assert_calls(&outcome, 2, "x", 200);
    assert_eq!(outcome.streamed, []);
    assert_eq!(codex.client.stats().log_mismatches, 0);
    codex.client.shutdown().await;
}

#[tokio::test]
async fn ids_that_every_response_repeats_mix_nothing_up() {
    let codex = TestCodex::start().await;
    let run = async |text: &str| {
        let outcome = codex.run(ask(&codex, "calls=2,piece=10,ms=4,same-ids", text)).await;
        assert_calls(&outcome, 2, text, 200);
        outcome.streamed.len()
    };
    // One after the other the ids are free again.
    assert_eq!((run("a").await, run("b").await), (2, 2));
    let texts: Vec<_> = (0..10).map(|number| format!("turn {number}")).collect();
    join_all(texts.iter().map(|text| run(text))).await;
    assert_eq!(codex.client.stats().log_mismatches, 0);
    codex.client.shutdown().await;
}

#[tokio::test]
async fn a_turn_that_breaks_off_within_a_call_fails_and_is_not_tried_again() {
    let codex = TestCodex::with(|config| config.turns.retries = 2).await;
    for (ending, kind) in
        [("cut", Kind::StreamCut), ("failed", Kind::ServerError), ("incomplete", Kind::MaxOutput)]
    {
        let before = codex.model.requests();
        let mut request = ask(&codex, &format!("ms=10,{ending}"), "half");
        let outcome = codex.run(request.clone()).await;
        assert_eq!((outcome.failure(), outcome.calls.len()), (kind, 0), "{ending}");
        let [half] = &outcome.streamed[..] else { panic!("{outcome:?}") };
        assert!(!half.is_whole && !half.arguments.is_empty(), "{ending}: {half:?}");
        assert!(long_arguments(0, "half", 200).starts_with(&half.arguments));
        assert_eq!(codex.model.requests() - before, 1, "{ending}");
        // A consumer that has had nothing loses nothing.
        request.early_arguments = false;
        let before = codex.model.requests();
        assert_eq!(codex.run(request).await.failure(), kind, "{ending}");
        let tries = if kind == Kind::MaxOutput { 1 } else { 3 };
        assert_eq!(codex.model.requests() - before, tries, "{ending}");
    }
    codex.client.shutdown().await;
}

#[tokio::test]
async fn a_call_that_never_ends_can_be_left_interrupted_or_lost() {
    let codex = TestCodex::start().await;
    let half = async || {
        let mut turn = codex.client.start_turn(ask(&codex, "ms=5,hang", "half")).unwrap();
        let is_wanted = |it: Option<_>| matches!(it.unwrap(), TurnEvent::ToolCallArguments(_));
        within("arguments", async { while !is_wanted(turn.next().await) {} }).await;
        turn
    };
    drop(half().await);
    codex.model.until(|counters| counters.disconnects == 1).await;
    let interrupted = half().await;
    interrupted.interrupt();
    let rest = |mut turn: codex_app_server::Turn| async move {
        let mut last = None;
        while let Some(event) = turn.next().await {
            assert!(!matches!(event, TurnEvent::ToolCall(_)), "half a call became whole");
            last = Some(event);
        }
        last.expect("a last event")
    };
    assert_eq!(rest(interrupted).await, TurnEvent::End(TurnEnd::Interrupted));
    let lost = half().await;
    signal(codex.client.process_id().unwrap(), "-KILL");
    let TurnEvent::Failed(failure) = rest(lost).await else { panic!("no failure") };
    assert_eq!(failure.kind, Kind::ChildGone);
    codex.client.shutdown().await;
}

#[tokio::test]
async fn fragments_are_a_sign_of_life() {
    let codex = TestCodex::with(|config| {
        config.turns.limits.idle_timeout = Duration::from_millis(400);
        config.turns.limits.probe_after = Some(Duration::from_millis(400));
    })
    .await;
    // Whether or not the consumer wants them.
    for early_arguments in [true, false] {
        let request = ask(&codex, "ms=100,calls=2", "slow");
        let outcome = codex.run(TurnRequest { early_arguments, ..request }).await;
        assert_calls(&outcome, 2, "slow", 200);
    }
    assert_eq!(codex.client.stats().probes, 0);
    codex.client.shutdown().await;
}

#[tokio::test]
async fn a_refusal_has_its_text_and_an_empty_response_is_an_answer() {
    let codex = TestCodex::start().await;
    for (mark, text, refusal) in [
        ("[[refusal]]", "", Some("I cannot")),
        ("[[refusal-after-text]]", "First whole message.", Some("I cannot")),
        ("[[empty]]", "", None),
    ] {
        let outcome = codex.run(codex.ask(mark)).await;
        assert_eq!(outcome.end, Ok(TurnEnd::Completed), "{mark}");
        assert_eq!((outcome.text.as_str(), outcome.refusal.as_deref()), (text, refusal), "{mark}");
        assert!(outcome.usage.is_some(), "{mark}");
    }
    codex.client.shutdown().await;
}

#[tokio::test]
async fn without_the_log_calls_are_whole_and_refusals_have_no_text() {
    let codex = TestCodex::with(|config| config.early_arguments = false).await;
    assert_eq!(codex.client.early_arguments(), EarlyArguments::Off);
    let outcome = codex.run(ask(&codex, "ms=5,calls=2,text", "x")).await;
    assert_calls(&outcome, 2, "x", 200);
    assert_eq!(outcome.streamed, []);
    for mark in ["[[refusal]]", "[[refusal-after-text]]"] {
        assert_eq!(codex.run(codex.ask(mark)).await.failure(), Kind::ContentFilter, "{mark}");
    }
    assert_eq!(codex.run(codex.ask("[[empty]]")).await.end, Ok(TurnEnd::Completed));
    codex.client.shutdown().await;
}
