//! How many, how large, how old, and whose.

use std::sync::Arc;
use std::time::Duration;

use codex_app_server::{Continued, ContinuityLimits, FreshReason};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::{
    assert_confirmed, bring_output, hold, hold_all, hold_at_once, keeping, kept, until_loaded,
};

#[tokio::test]
async fn the_oldest_make_room() {
    let codex = keeping(ContinuityLimits::default()).await;
    let mut conversations = hold_all(&codex, "owner", 70).await;
    assert_eq!(kept(&codex), (0, 64));
    until_loaded(&codex, 64).await;
    assert_eq!(bring_output(&codex, &mut conversations[6]).await, Continued::Resumed);
    assert_eq!(kept(&codex), (1, 63));
    let evicted = Continued::Fresh(FreshReason::Evicted);
    assert_eq!(bring_output(&codex, &mut conversations[5]).await, evicted);
    assert_eq!(bring_output(&codex, &mut conversations[7]).await, evicted);
    assert_eq!(bring_output(&codex, &mut conversations[69]).await, Continued::Resumed);
    until_loaded(&codex, 64).await;
    assert_confirmed(&codex);
    codex.pool.shutdown().await;
}

#[tokio::test]
async fn whoever_has_most_makes_room() {
    let limits = ContinuityLimits { max_threads: 8, ..ContinuityLimits::default() };
    let codex = keeping(limits).await;
    let few = hold_all(&codex, "few", 3).await;
    hold_all(&codex, "many", 20).await;
    assert_eq!(kept(&codex), (0, 8));
    for mut conversation in few {
        assert_eq!(bring_output(&codex, &mut conversation).await, Continued::Resumed);
    }
    until_loaded(&codex, 8).await;
    assert_confirmed(&codex);
    codex.pool.shutdown().await;
}

#[tokio::test]
async fn what_is_too_large_is_let_go() {
    let limits = ContinuityLimits { max_bytes: 200_000, ..ContinuityLimits::default() };
    let codex = keeping(limits).await;
    let mut conversations = Vec::new();
    for letter in ["a", "b", "c"] {
        // The call repeats it.
        conversations.push(hold(&codex, "owner", &letter.repeat(40_000)).await);
    }
    assert_eq!(kept(&codex), (0, 2));
    // What is too large alone pushes nobody out.
    conversations.push(hold(&codex, "owner", &"d".repeat(200_000)).await);
    let counts = codex.pool.kept_threads();
    assert_eq!(counts.held, 2);
    assert!((160_000..200_000).contains(&counts.bytes), "{counts:?}");
    until_loaded(&codex, 2).await;
    let mut how = Vec::new();
    for conversation in [1, 2, 3] {
        how.push(bring_output(&codex, &mut conversations[conversation]).await);
    }
    let evicted = Continued::Fresh(FreshReason::Evicted);
    assert_eq!(how, [Continued::Resumed, Continued::Resumed, evicted]);
    assert_confirmed(&codex);
    codex.pool.shutdown().await;
}

/// More of them than Codex takes requests at once, and nobody else has to wait for that.
#[tokio::test]
async fn many_that_make_room_at_once_are_all_let_go() {
    let limits =
        ContinuityLimits { max_threads: 1_000, max_bytes: 500_000, ..ContinuityLimits::default() };
    let codex = Arc::new(keeping(limits).await);
    hold_at_once(&codex, "small", 150).await;
    assert_eq!(kept(&codex), (0, 150));
    hold(&codex, "owner", &"x".repeat(249_000)).await;
    let made_room = Instant::now();
    let (_, left) = kept(&codex);
    assert!(left < 20, "{left}");
    hold(&codex, "owner", "the next").await;
    println!("the next was answered {:?} after that", made_room.elapsed());
    until_loaded(&codex, kept(&codex).1).await;
    println!("{left} of 151 were left, the others gone after {:?}", made_room.elapsed());
    // Long before anything that Codex has dropped would be sent again.
    assert!(made_room.elapsed() < Duration::from_secs(20));
    assert_confirmed(&codex);
    codex.pool.shutdown().await;
}

/// Just before, just after, or while it is let go.
#[tokio::test]
async fn a_client_that_comes_back_at_the_last_moment_is_answered_once() {
    const CLIENTS: u32 = 40;
    let max_age = Duration::from_millis(400);
    let codex =
        Arc::new(keeping(ContinuityLimits { max_age, ..ContinuityLimits::default() }).await);
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        let codex = Arc::clone(&codex);
        clients.spawn(async move {
            let mut conversation = hold(&codex, "owner", &format!("{number}")).await;
            // From a little early to a little late: its age is what is waited for.
            let back = Instant::now() + max_age + Duration::from_millis(number.into());
            tokio::time::sleep_until(back - Duration::from_millis(u64::from(CLIENTS) * 3 / 4))
                .await;
            bring_output(&codex, &mut conversation).await
        });
    }
    let how = clients.join_all().await;
    let resumed = how.iter().filter(|how| **how == Continued::Resumed).count();
    println!("{resumed} of {CLIENTS} were resumed");
    let expired = Continued::Fresh(FreshReason::Expired);
    assert!(how.iter().all(|how| [Continued::Resumed, expired].contains(how)), "{how:?}");
    assert_eq!(codex.model.requests(), u64::from(CLIENTS) * 2);
    until_loaded(&codex, 0).await;
    assert_confirmed(&codex);
    codex.pool.shutdown().await;
}
