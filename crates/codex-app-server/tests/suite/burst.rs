//! Many turns at once: each gets its own calls, and all of them.

use std::sync::Arc;
use std::time::Instant;

use model_turn::TurnEnd;
use testkit::{Outcome, TestCodex, tools};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

const TURNS: usize = 100;
const AT_ONCE: usize = 20;
const NAMES: [&str; 3] = ["get_weather", "get_time", "lookup"];

/// Runs turns side by side, each with its own number in the user's text after the mark.
async fn run(codex: &TestCodex, turns: usize, mark: &str) -> Vec<(usize, Outcome)> {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut running = JoinSet::new();
    for number in 0..turns {
        let mut request = codex.ask(&format!("{mark} turn {number}"));
        request.tools = tools(&NAMES);
        let (client, places) = (codex.client.clone(), Arc::clone(&places));
        running.spawn(async move {
            let _place = places.acquire().await.unwrap();
            (number, Outcome::of(client.start_turn(request).unwrap()).await)
        });
    }
    let outcomes = running.join_all().await;
    codex.until_no_thread_is_loaded().await;
    outcomes
}

#[tokio::test]
async fn a_hundred_turns_of_three_calls_never_mix() {
    let codex = TestCodex::start().await;
    let started = Instant::now();
    for (number, outcome) in run(&codex, TURNS, "[[parallel:3]]").await {
        assert_eq!(outcome.end, Ok(TurnEnd::ToolCalls), "turn {number}");
        let arguments: Vec<String> = (0..NAMES.len())
            .map(|i| format!(r#"{{"city": "C{i}", "mark": "turn {number}"}}"#))
            .collect();
        let expected: Vec<_> =
            NAMES.into_iter().zip(arguments.iter().map(String::as_str)).collect();
        assert_eq!(outcome.call_texts(), expected);
    }
    println!("{TURNS} turns, {AT_ONCE} at once: {:?}", started.elapsed());
    assert_eq!(codex.model.requests(), TURNS as u64);
    let stats = codex.client.stats();
    assert_eq!((stats.extra_model_requests, stats.unreadable_messages), (0, 0), "{stats:?}");
    codex.client.shutdown().await;
}

/// Codex answers such a call itself and asks the model again, unless our interrupt is faster. On a
/// busy machine it is not always; what we promise then is that nobody notices, and that no more is
/// counted than there was.
#[tokio::test]
async fn calls_that_codex_answers_itself_are_handed_over_once_whatever_it_does_next() {
    const TURNS: usize = 60;
    let codex = TestCodex::start().await;
    for (number, outcome) in run(&codex, TURNS, "[[bad-args]]").await {
        assert_eq!(outcome.end, Ok(TurnEnd::ToolCalls), "turn {number}");
        assert_eq!(outcome.call_texts(), [(NAMES[0], r#"{"city": "Par"#)]);
        assert_eq!(outcome.text, "");
    }
    let extra = codex.model.requests() - TURNS as u64;
    let counted = codex.client.stats().extra_model_requests;
    println!("{TURNS} turns, {AT_ONCE} at once: {extra} extra requests, {counted} of them counted");
    assert!(counted <= extra, "{counted} counted of {extra}");
    codex.client.shutdown().await;
}
