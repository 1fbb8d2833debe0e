//! Many turns at once: each gets its own calls, all of them, and asks the model once.

use std::sync::Arc;
use std::time::Instant;

use codex_app_server::turn::event::TurnEnd;
use testkit::{Outcome, TestCodex, tools};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

const TURNS: usize = 200;
const AT_ONCE: usize = 20;
const NAMES: [&str; 3] = ["get_weather", "get_time", "lookup"];

#[tokio::test]
async fn two_hundred_turns_of_three_calls_never_mix() {
    let codex = TestCodex::start().await;
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let started = Instant::now();
    let mut turns = JoinSet::new();
    for number in 0..TURNS {
        let mut request = codex.ask(&format!("[[parallel:3]] turn {number}"));
        request.tools = tools(&NAMES);
        let (client, places) = (codex.client.clone(), Arc::clone(&places));
        turns.spawn(async move {
            let _place = places.acquire().await.unwrap();
            (number, Outcome::of(client.start_turn(request).unwrap()).await)
        });
    }
    while let Some(turn) = turns.join_next().await {
        let (number, outcome) = turn.unwrap();
        assert_eq!(outcome.end, Ok(TurnEnd::ToolCalls), "turn {number}");
        let expected: Vec<(&str, String)> = NAMES
            .into_iter()
            .enumerate()
            .map(|(i, name)| (name, format!(r#"{{"city": "C{i}", "mark": "turn {number}"}}"#)))
            .collect();
        let seen: Vec<(&str, String)> =
            outcome.call_texts().into_iter().map(|(name, text)| (name, text.to_owned())).collect();
        assert_eq!(seen, expected);
    }
    codex.until_no_thread_is_loaded().await;
    println!("{TURNS} turns, {AT_ONCE} at once: {:?}", started.elapsed());
    assert_eq!(codex.model.requests(), TURNS as u64);
    let stats = codex.client.stats();
    assert_eq!((stats.extra_model_requests, stats.unreadable_messages), (0, 0), "{stats:?}");
    codex.client.shutdown().await;
}
