//! The queue as requests see it.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use openai_wire::ApiError;
use tokio::time::Instant;

use super::*;

const LIMITS: QueueLimits =
    QueueLimits { turns: 2, waiting: 2, longest_wait: Duration::from_secs(30) };

fn caller(name: &str) -> Caller {
    Caller::named(name)
}

/// Whether it is there already.
fn now<T>(future: Pin<&mut impl Future<Output = T>>) -> Option<T> {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// What a queue with these limits says.
fn state(running: u32, waiting: usize, keys: &[(&str, u32, usize)]) -> QueueState {
    let keys = keys.iter().map(|(name, running, waiting)| {
        ((*name).to_owned(), KeyState { running: *running, waiting: *waiting })
    });
    QueueState {
        running,
        waiting,
        limit: LIMITS.turns,
        queue_max: LIMITS.waiting,
        keys: keys.collect(),
    }
}

fn load(running: u32, waiting: usize) -> Load {
    Load { running, limit: LIMITS.turns, waiting }
}

#[tokio::test(start_paused = true)]
async fn row_6_who_waits_too_long_is_told_when_to_come_back() {
    let queue = TurnQueue::new(LIMITS);
    let owner = caller("owner");
    let both = queue.take(&owner, 2).await.unwrap();
    let began = Instant::now();
    let refused = queue.take(&owner, 1).await.unwrap_err();
    assert_eq!(began.elapsed(), LIMITS.longest_wait);
    assert_eq!(
        ApiError::from(refused),
        ApiError {
            retry_after: Some(Duration::from_secs(1)),
            ..ApiError::new(
                429,
                openai_wire::ErrorType::RateLimitError,
                "The server is busy: 2 of 2 turns run, 0 wait, and no turn could be started within \
                 30 seconds (PROXY_QUEUE_WAIT_MS). Try again in a second; \
                 PROXY_MAX_CONCURRENT_TURNS allows more turns at once.",
            )
            .with_code("too_many_turns")
        }
    );
    assert_eq!(queue.state(), state(2, 0, &[("owner", 2, 0)]));
    drop(both);
    assert!(queue.take(&owner, 1).await.is_ok());
}

#[tokio::test]
async fn more_turns_than_places_are_never_run() {
    let queue = TurnQueue::new(LIMITS);
    let refused = queue.take(&caller("owner"), 3).await.unwrap_err();
    assert_eq!(
        ApiError::from(refused),
        ApiError::invalid(
            "n",
            "Invalid 'n': integer above maximum value. Expected a value <= 2 \
             (PROXY_MAX_CONCURRENT_TURNS), but got 3 instead.",
        )
        .with_code("integer_above_max_value")
    );
    assert!(queue.take(&caller("owner"), 2).await.is_ok());
}

#[tokio::test]
async fn row_6_one_more_than_may_wait_is_refused_at_once() {
    let queue = TurnQueue::new(QueueLimits { waiting: 1, ..LIMITS });
    let owner = caller("owner");
    let both = queue.take(&owner, 2).await.unwrap();
    let mut first = pin!(queue.take(&owner, 1));
    assert!(now(first.as_mut()).is_none());
    let refused = now(pin!(queue.take(&owner, 1))).unwrap().unwrap_err();
    assert_eq!(refused, Refusal::QueueFull(load(2, 1)));
    assert_eq!(
        ApiError::from(refused),
        ApiError {
            retry_after: Some(Duration::from_secs(1)),
            ..ApiError::new(
                429,
                openai_wire::ErrorType::RateLimitError,
                "The server is busy: 2 of 2 turns run, 1 wait, and no more may wait \
                 (PROXY_QUEUE_MAX). Try again in a second; PROXY_MAX_CONCURRENT_TURNS allows more \
                 turns at once.",
            )
            .with_code("queue_full")
        }
    );
    // Another key is not kept out: the newest of the one that has most goes.
    let phone = caller("phone");
    let mut other = pin!(queue.take(&phone, 1));
    assert!(now(other.as_mut()).is_none());
    assert_eq!(now(first).unwrap().unwrap_err(), Refusal::QueueFull(load(2, 1)));
    drop(both);
    assert!(other.await.is_ok());
}

#[tokio::test]
async fn the_key_with_fewer_turns_goes_first() {
    let queue = TurnQueue::new(LIMITS);
    let (owner, phone) = (caller("owner"), caller("phone"));
    let one = queue.take(&owner, 1).await.unwrap();
    let _other = queue.take(&owner, 1).await.unwrap();
    let mut flood = pin!(queue.take(&owner, 1));
    let mut single = pin!(queue.take(&phone, 1));
    assert!(now(flood.as_mut()).is_none() && now(single.as_mut()).is_none());
    assert_eq!(queue.state(), state(2, 2, &[("owner", 2, 1), ("phone", 0, 1)]));
    drop(one);
    let single = now(single).unwrap().unwrap();
    assert!(now(flood.as_mut()).is_none());
    assert_eq!(queue.state(), state(2, 1, &[("owner", 1, 1), ("phone", 1, 0)]));
    drop(single);
    assert!(now(flood).unwrap().is_ok());
}

/// An old key and a new one of its name wait as two keys, and are shown as one name.
#[tokio::test]
async fn row_22_keys_of_one_name_have_turns_of_their_own_and_are_summed_up() {
    let queue = TurnQueue::new(LIMITS);
    let (old, new) = (Caller::with_id("key_1", "phone"), Caller::with_id("key_2", "phone"));
    let one = queue.take(&old, 1).await.unwrap();
    let _other = queue.take(&old, 1).await.unwrap();
    let mut of_old = pin!(queue.take(&old, 1));
    let mut of_new = pin!(queue.take(&new, 1));
    assert!(now(of_old.as_mut()).is_none() && now(of_new.as_mut()).is_none());
    assert_eq!(queue.state(), state(2, 2, &[("phone", 2, 2)]));
    drop(one);
    let of_new = now(of_new).unwrap().unwrap();
    assert!(now(of_old.as_mut()).is_none());
    assert_eq!(queue.state(), state(2, 1, &[("phone", 2, 1)]));
    drop(of_new);
    assert!(now(of_old).unwrap().is_ok());
}

#[tokio::test]
async fn who_leaves_frees_his_place_in_the_line() {
    let queue = TurnQueue::new(LIMITS);
    let (owner, phone) = (caller("owner"), caller("phone"));
    let one = queue.take(&owner, 1).await.unwrap();
    let mut large = Box::pin(queue.take(&phone, 2));
    let mut behind = pin!(queue.take(&owner, 1));
    assert!(now(large.as_mut()).is_none() && now(behind.as_mut()).is_none());
    assert_eq!(queue.state(), state(1, 2, &[("owner", 1, 1), ("phone", 0, 1)]));
    drop(large);
    let behind = now(behind).unwrap().unwrap();
    assert_eq!(queue.state(), state(2, 0, &[("owner", 2, 0)]));
    drop((one, behind));
    assert_eq!(queue.state(), state(0, 0, &[]));
}

#[tokio::test]
async fn places_that_nobody_came_for_are_free_again() {
    let queue = TurnQueue::new(LIMITS);
    let owner = caller("owner");
    let both = queue.take(&owner, 2).await.unwrap();
    let mut first = Box::pin(queue.take(&owner, 2));
    let mut second = pin!(queue.take(&owner, 1));
    assert!(now(first.as_mut()).is_none() && now(second.as_mut()).is_none());
    drop(both);
    assert_eq!(queue.state(), state(2, 1, &[("owner", 2, 1)]));
    drop(first);
    assert!(now(second).unwrap().is_ok());
    assert_eq!(queue.state(), state(0, 0, &[]));
}

#[tokio::test(start_paused = true)]
async fn who_is_let_in_as_his_time_ends_is_in() {
    let queue = TurnQueue::new(LIMITS);
    let owner = caller("owner");
    let both = queue.take(&owner, 2).await.unwrap();
    let mut waiting = pin!(queue.take(&owner, 1));
    assert!(now(waiting.as_mut()).is_none());
    tokio::time::advance(LIMITS.longest_wait).await;
    drop(both);
    assert!(now(waiting).unwrap().is_ok());
}

#[tokio::test]
async fn limits_change_while_turns_run() {
    let queue = TurnQueue::new(LIMITS);
    let owner = caller("owner");
    let one = queue.take(&owner, 1).await.unwrap();
    let other = queue.take(&owner, 1).await.unwrap();
    let mut next = pin!(queue.take(&owner, 1));
    let mut large = pin!(queue.take(&owner, 2));
    assert!(now(next.as_mut()).is_none() && now(large.as_mut()).is_none());
    // More places are there at once.
    queue.change(QueueLimits { turns: 3, ..LIMITS });
    let next = now(next).unwrap().unwrap();
    // Fewer: turns that run go on, and nobody waits for what will not be.
    queue.change(QueueLimits { turns: 1, waiting: 0, ..LIMITS });
    let refused = now(large).unwrap().unwrap_err();
    assert_eq!(refused, Refusal::NeverFits { turns: 2, limit: 1 });
    assert_eq!((queue.load().running, queue.load().limit), (3, 1));
    drop((one, other));
    assert!(matches!(now(pin!(queue.take(&owner, 1))), Some(Err(Refusal::QueueFull(_)))));
    drop(next);
    assert!(queue.take(&owner, 1).await.is_ok());
}

#[tokio::test]
async fn a_closed_queue_turns_everybody_away_and_tells_when_the_last_turn_has_ended() {
    let queue = TurnQueue::new(LIMITS);
    let owner = caller("owner");
    queue.idle().await;
    let one = queue.take(&owner, 1).await.unwrap();
    let other = queue.take(&owner, 1).await.unwrap();
    let mut waiting = pin!(queue.take(&owner, 1));
    assert!(now(waiting.as_mut()).is_none());
    queue.close();
    assert_eq!(now(waiting).unwrap().unwrap_err(), Refusal::ShuttingDown);
    let refused = now(pin!(queue.take(&owner, 1))).unwrap().unwrap_err();
    assert_eq!(
        ApiError::from(refused),
        ApiError {
            retry_after: Some(Duration::from_secs(5)),
            ..ApiError::new(
                503,
                openai_wire::ErrorType::ServerError,
                "The server is stopping. Try again once it has started."
            )
            .with_code("shutting_down")
        }
    );
    let mut idle = pin!(queue.idle());
    drop(one);
    assert!(now(idle.as_mut()).is_none());
    drop(other);
    assert!(now(idle).is_some());
}

/// Threads that take and drop at random: every place comes back, and nobody waits for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_place_is_lost_between_threads() {
    let queue = TurnQueue::new(QueueLimits { turns: 3, waiting: 1000, ..LIMITS });
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..16_u32 {
        let queue = queue.clone();
        tasks.spawn(async move {
            let caller = caller(&format!("key-{}", task % 5));
            for round in 0..200 {
                let mut taking = Box::pin(queue.take(&caller, 1 + (task + round) % 3));
                if round % 3 == 0 && now(taking.as_mut()).is_none() {
                    tokio::task::yield_now().await;
                    continue;
                }
                drop(taking);
                let taken = queue.take(&caller, 1 + round % 3).await.unwrap();
                tokio::task::yield_now().await;
                drop(taken);
            }
        });
    }
    tasks.join_all().await;
    assert_eq!(queue.state().keys, BTreeMap::new());
    assert_eq!((queue.load().running, queue.load().waiting), (0, 0));
}
