//! Output that is too much, damaged or unknown.

use std::time::Instant;

use model_turn::{FailureKind, TurnEnd};

use super::{
    assert_undisturbed, assert_works, ended, failure_of_the_child, scripted, with_neighbour,
};

#[tokio::test]
async fn a_flood_of_lines_disturbs_no_turn() {
    const LINES: u64 = 200_000;
    let (codex, neighbour) = with_neighbour(|_| {}).await;
    let asked = Instant::now();
    let flooded = ended(codex.start(&format!("[[flood:{LINES}]]"))).await;
    println!("{LINES} lines within {:?}", asked.elapsed());
    assert_eq!((flooded.text.as_str(), flooded.end), ("word0 ", Ok(TurnEnd::Completed)));
    assert_eq!(codex.pool.stats().stale_events, LINES / 2);
    assert_undisturbed(&codex, neighbour).await;
    assert_eq!(codex.pool.stats().restarts, 0);
    codex.pool.shutdown().await;
}

#[tokio::test]
async fn a_hundred_thousand_deltas_arrive_whole_beside_other_turns() {
    const DELTAS: usize = 100_000;
    let (codex, neighbour) = with_neighbour(|_| {}).await;
    let asked = Instant::now();
    let long = codex.start(&format!("[[deltas:{DELTAS}]]"));
    let short = codex.start("[[deltas:3]]");
    let (long, short) = tokio::join!(ended(long), ended(short));
    println!("{DELTAS} deltas within {:?}", asked.elapsed());
    let words: Vec<_> = (0..DELTAS).map(|index| format!("word{index} ")).collect();
    let words = words.concat();
    assert!(long.text == words, "{} bytes of {}", long.text.len(), words.len());
    assert_eq!((long.text_events, long.end), (DELTAS, Ok(TurnEnd::Completed)));
    assert_eq!((short.text.as_str(), short.end), ("word0 word1 word2 ", Ok(TurnEnd::Completed)));
    assert_undisturbed(&codex, neighbour).await;
    codex.pool.shutdown().await;
}

#[tokio::test]
async fn row_13_half_a_line_of_a_turn_fails_that_turn_alone() {
    let (codex, neighbour) = with_neighbour(|_| {}).await;
    let torn = ended(codex.start("[[half-line]]")).await;
    assert_eq!((torn.text.as_str(), torn.failure()), ("word0 ", FailureKind::Unexpected));
    assert_undisturbed(&codex, neighbour).await;
    assert_eq!((codex.pool.stats().unreadable_messages, codex.pool.stats().restarts), (1, 0));
    codex.pool.shutdown().await;
}

#[tokio::test]
async fn row_13_half_a_line_of_nobody_costs_the_child_and_its_turns() {
    let (codex, neighbour) = with_neighbour(|_| {}).await;
    let failure = failure_of_the_child(&codex, "[[half-line-of-nobody]]").await;
    assert!(failure.message.contains("not understood"), "{failure}");
    assert_eq!(ended(neighbour).await.failure(), FailureKind::ChildGone);
    assert_eq!(codex.pool.stats().unreadable_messages, 1);
    codex.pool.shutdown().await;
}

/// The neighbour's last message is in the line that cannot be read.
#[tokio::test]
async fn row_13_a_torn_line_that_swallows_another_costs_the_child() {
    let (codex, neighbour) = with_neighbour(|_| {}).await;
    let failure = failure_of_the_child(&codex, "[[glued-line]]").await;
    assert!(failure.message.contains("not understood"), "{failure}");
    assert_eq!(ended(neighbour).await.failure(), FailureKind::ChildGone);
    codex.pool.shutdown().await;
}

#[tokio::test]
async fn row_13_a_child_that_ends_in_the_middle_of_a_line_is_brought_back() {
    let codex = scripted(|_| {}).await;
    let failure = failure_of_the_child(&codex, "[[half-line-then-exit]]").await;
    assert!(failure.message.contains("closed its output"), "{failure}");
    codex.pool.shutdown().await;
}

#[tokio::test]
async fn row_13_a_delta_that_is_not_utf8_fails_its_turn_alone() {
    let (codex, neighbour) = with_neighbour(|_| {}).await;
    let spoilt = ended(codex.start("[[bad-text]]")).await;
    assert_eq!((spoilt.text.as_str(), spoilt.failure()), ("word0 ", FailureKind::Unexpected));
    assert_undisturbed(&codex, neighbour).await;
    assert_eq!((codex.pool.stats().unreadable_messages, codex.pool.stats().restarts), (1, 0));
    codex.pool.shutdown().await;
}

/// Not only when the request has run out of time.
#[tokio::test]
async fn an_answer_that_is_not_utf8_fails_its_turn_at_once() {
    let (codex, neighbour) = with_neighbour(|_| {}).await;
    let asked = Instant::now();
    let spoilt = ended(codex.start("[[bad-answer]]")).await;
    println!("failed after {:?}: {:?}", asked.elapsed(), spoilt.end);
    assert_eq!(spoilt.failure(), FailureKind::Unexpected);
    assert_undisturbed(&codex, neighbour).await;
    assert_eq!((codex.pool.stats().unreadable_messages, codex.pool.stats().restarts), (1, 0));
    codex.pool.shutdown().await;
}

#[tokio::test]
async fn noise_is_counted_and_nothing_else() {
    let (codex, neighbour) = with_neighbour(|_| {}).await;
    let noisy = ended(codex.start("[[noise]]")).await;
    assert_eq!((noisy.text.as_str(), noisy.end), ("word0 ", Ok(TurnEnd::Completed)));
    assert_undisturbed(&codex, neighbour).await;
    assert_eq!((codex.pool.stats().unreadable_messages, codex.pool.stats().restarts), (4, 0));
    codex.pool.shutdown().await;
}

#[tokio::test]
async fn a_delta_of_ten_megabytes_arrives_whole() {
    const BYTES: usize = 10_000_000;
    let (codex, neighbour) = with_neighbour(|_| {}).await;
    let asked = Instant::now();
    let huge = ended(codex.start(&format!("[[huge:{BYTES}]]"))).await;
    println!("{BYTES} bytes within {:?}", asked.elapsed());
    assert_eq!(huge.end, Ok(TurnEnd::Completed));
    let delta = huge.text.strip_prefix("word0 ").unwrap();
    assert_eq!(delta.len(), BYTES);
    assert!(delta.bytes().all(|byte| byte == b'x'));
    assert_eq!(huge.text_events, 2);
    assert_undisturbed(&codex, neighbour).await;
    codex.pool.shutdown().await;
}

#[tokio::test]
async fn row_13_a_line_over_the_limit_fails_its_turn_alone() {
    let (codex, neighbour) =
        with_neighbour(|config| config.client.max_line_bytes = 64 * 1024).await;
    let huge = ended(codex.start("[[huge:100000]]")).await;
    assert_eq!((huge.text.as_str(), huge.failure()), ("word0 ", FailureKind::OutputTooLarge));
    assert_undisturbed(&codex, neighbour).await;
    // The delta, the message, its raw item and the turn's own summary.
    assert_eq!((codex.pool.stats().oversize_lines, codex.pool.stats().restarts), (4, 0));
    codex.pool.shutdown().await;
}

#[tokio::test]
async fn row_13_a_line_over_the_limit_that_is_nobodys_costs_the_child() {
    let codex = scripted(|config| config.client.max_line_bytes = 64 * 1024).await;
    let failure = failure_of_the_child(&codex, "[[huge-of-nobody:100000]]").await;
    assert!(failure.message.contains("longer than allowed, and nobody's"), "{failure}");
    assert_eq!(codex.pool.stats().oversize_lines, 1);
    codex.pool.shutdown().await;
}

/// The turn ends only when all three of its requests are declined.
#[tokio::test]
async fn row_7_unknown_methods_are_declined_or_passed_over() {
    let codex = scripted(|_| {}).await;
    codex.until_ready().await;
    let asked = ended(codex.start("[[unknown]]")).await;
    assert_eq!((asked.text.as_str(), asked.end), ("word0 word1 ", Ok(TurnEnd::Completed)));
    assert_works(&codex).await;
    let stats = codex.pool.stats();
    assert_eq!((stats.declined_requests, stats.unreadable_messages, stats.restarts), (3, 0, 0));
    codex.pool.shutdown().await;
}

#[tokio::test]
async fn answers_that_nobody_waits_for_are_counted_and_nothing_else() {
    let (codex, neighbour) = with_neighbour(|_| {}).await;
    let stray = ended(codex.start("[[stray]]")).await;
    assert_eq!((stray.text.as_str(), stray.end), ("word0 ", Ok(TurnEnd::Completed)));
    assert_undisturbed(&codex, neighbour).await;
    // Two of no request, and one that came twice.
    let stats = codex.pool.stats();
    assert_eq!((stats.unclaimed_responses, stats.unreadable_messages, stats.restarts), (3, 0, 0));
    codex.pool.shutdown().await;
}
