use std::time::Duration;

use proptest::prelude::*;

use super::super::transcript::{FingerprintKey, Transcript};
use super::*;

const MAX_AGE: Duration = Duration::from_secs(10);

const NONE: [u8; 0] = [];

fn limits(max_threads: usize, max_bytes: usize) -> ContinuityLimits {
    ContinuityLimits { max_threads, max_age: MAX_AGE, max_bytes }
}

/// The fingerprints of conversations, always the same ones.
struct Conversations(FingerprintKey);

impl Conversations {
    fn new() -> Self {
        Self(FingerprintKey::random())
    }

    fn nth(&self, number: u8) -> Fingerprint {
        Transcript::begin(self.0, &[number]).fingerprint()
    }
}

/// A shelf, and its things by their numbers.
struct Bench {
    conversations: Conversations,
    shelf: Shelf<u8>,
    now: Instant,
}

impl Bench {
    fn new(limits: ContinuityLimits) -> Self {
        let conversations = Conversations::new();
        Self { conversations, shelf: Shelf::new(limits), now: Instant::now() }
    }

    /// Puts a thing here, and says which go.
    fn put(&mut self, number: u8, owner: &str, bytes: usize) -> Vec<u8> {
        let fingerprint = self.conversations.nth(number);
        self.shelf.put(fingerprint, owner.into(), bytes, number, self.now)
    }

    fn take(&mut self, number: u8) -> Result<u8, Option<FreshReason>> {
        match self.shelf.take(self.conversations.nth(number), |_| Verdict::Take(())) {
            Some(Taken::Found(thing, ())) => Ok(thing),
            Some(Taken::Not(why, None)) => Err(Some(why)),
            Some(Taken::Not(_, Some(_))) => unreachable!("it is good for everything"),
            None => Err(None),
        }
    }

    fn left(&self) -> Vec<u8> {
        let mut left: Vec<_> = self.shelf.things().copied().collect();
        left.sort_unstable();
        left
    }
}

#[test]
fn a_thing_is_taken_once_and_then_it_is_known_why_it_is_gone() {
    let mut bench = Bench::new(limits(2, 100));
    assert_eq!(bench.take(1), Err(None));
    assert_eq!(bench.put(1, "me", 10), NONE);
    assert_eq!(bench.take(1), Ok(1));
    assert_eq!(bench.take(1), Err(Some(FreshReason::Taken)));
    assert_eq!(bench.put(1, "me", 10), NONE);
    assert_eq!(bench.put(2, "me", 10), NONE);
    assert_eq!(bench.put(3, "me", 10), [1]);
    assert_eq!(bench.take(1), Err(Some(FreshReason::Evicted)));
    bench.now += MAX_AGE;
    assert_eq!(bench.shelf.expire(bench.now), [2, 3]);
    assert_eq!(bench.take(2), Err(Some(FreshReason::Expired)));
    assert_eq!((bench.left(), bench.shelf.bytes(), bench.shelf.next_expiry()), (vec![], 0, None));
}

#[test]
fn what_is_not_taken_stays_or_goes() {
    let mut bench = Bench::new(limits(9, 100));
    bench.put(1, "me", 10);
    let fingerprint = bench.conversations.nth(1);
    let mut ask = |verdict: Verdict<()>| match bench.shelf.take(fingerprint, |_| verdict) {
        Some(Taken::Not(why, thing)) => (why, thing),
        _ => unreachable!("it was not to be taken"),
    };
    assert_eq!(ask(Verdict::Leave(FreshReason::NothingNew)), (FreshReason::NothingNew, None));
    assert_eq!(ask(Verdict::Drop(FreshReason::Outputs)), (FreshReason::Outputs, Some(1)));
    assert_eq!(ask(Verdict::Take(())), (FreshReason::Outputs, None));
}

#[test]
fn whoever_has_most_makes_room() {
    let mut bench = Bench::new(limits(4, 100));
    bench.put(1, "quiet", 1);
    for number in 2..=4 {
        assert_eq!(bench.put(number, "busy", 1), NONE);
    }
    assert_eq!(bench.put(5, "busy", 1), [2]);
    assert_eq!(bench.put(6, "new", 1), [3]);
    assert_eq!(bench.left(), [1, 4, 5, 6]);
}

#[test]
fn the_largest_share_of_bytes_goes_first() {
    let mut bench = Bench::new(limits(9, 100));
    for number in 1..=3 {
        bench.put(number, "many", 5);
    }
    bench.put(4, "large", 60);
    assert_eq!(bench.put(5, "large", 30), [4]);
    assert_eq!(bench.put(6, "large", 101), [6]);
    assert_eq!(bench.left(), [1, 2, 3, 5]);
    assert_eq!(bench.take(6), Err(Some(FreshReason::Evicted)));
}

#[test]
fn the_same_conversation_twice_is_kept_once() {
    let mut bench = Bench::new(limits(9, 100));
    bench.put(1, "me", 10);
    assert_eq!(bench.put(1, "me", 20), [1]);
    assert_eq!((bench.left(), bench.shelf.bytes()), (vec![1], 20));
}

#[test]
fn it_is_not_known_for_ever_why_something_is_gone() {
    let mut gone = Gone::default();
    let key = FingerprintKey::random();
    let nth = |number: usize| Transcript::begin(key, &number.to_le_bytes()).fingerprint();
    for number in 0..=REMEMBERED {
        gone.remember(nth(number), FreshReason::Expired);
    }
    assert_eq!((gone.why.len(), gone.order.len()), (REMEMBERED, REMEMBERED));
    assert_eq!((gone.why(nth(0)), gone.why(nth(1))), (None, Some(FreshReason::Expired)));
}

#[derive(Debug, Clone)]
enum Act {
    Put { number: u8, owner: u8, bytes: usize },
    Take(u8),
    Pass(u64),
    Remove(u8),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (0..12_u8, 0..3_u8, 0..40_usize)
            .prop_map(|(number, owner, bytes)| Act::Put { number, owner, bytes }),
        2 => (0..12_u8).prop_map(Act::Take),
        1 => (0..6_u64).prop_map(Act::Pass),
        1 => (0..12_u8).prop_map(Act::Remove),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Every thing is here, or was given back exactly once; and the bounds hold at every moment.
    #[test]
    fn nothing_is_lost_and_nothing_is_kept_beyond_the_bounds(
        acts in prop::collection::vec(act(), 0..60)
    ) {
        let mut bench = Bench::new(limits(5, 100));
        // Number, owner, bytes and time of what should be here.
        let mut here: Vec<(u8, u8, usize, Instant)> = Vec::new();
        for act in acts {
            let gone = match act {
                Act::Put { number, owner, bytes } => {
                    let mut gone = bench.put(number, &owner.to_string(), bytes);
                    // The old one of the same number goes, not the new one.
                    if let Some(place) = here.iter().position(|(other, ..)| *other == number) {
                        let position = gone.iter().position(|other| *other == number);
                        prop_assert!(position.is_some());
                        gone.remove(position.unwrap_or_default());
                        here.remove(place);
                    }
                    here.push((number, owner, bytes, bench.now));
                    gone
                }
                Act::Take(number) => {
                    let is_here = here.iter().any(|(other, ..)| *other == number);
                    let taken = bench.take(number).ok();
                    prop_assert_eq!(taken, is_here.then_some(number));
                    taken.into_iter().collect()
                }
                Act::Pass(seconds) => {
                    bench.now += Duration::from_secs(seconds);
                    let gone = bench.shelf.expire(bench.now);
                    let old = here.iter().filter(|(.., at)| *at + MAX_AGE <= bench.now);
                    prop_assert_eq!(&gone, &old.map(|(number, ..)| *number).collect::<Vec<_>>());
                    gone
                }
                Act::Remove(number) => {
                    bench.shelf.remove_where(|thing| *thing == number, FreshReason::ChildGone)
                }
            };
            here.retain(|(number, ..)| !gone.contains(number));
            let mut left: Vec<_> = here.iter().map(|(number, ..)| *number).collect();
            left.sort_unstable();
            prop_assert_eq!(bench.left(), left);
            let bytes: usize = here.iter().map(|(_, _, bytes, _)| bytes).sum();
            prop_assert_eq!(bench.shelf.bytes(), bytes);
            prop_assert!(here.len() <= 5 && bytes <= 100);
            let first = here.iter().map(|(.., at)| *at + MAX_AGE).min();
            prop_assert_eq!(bench.shelf.next_expiry(), first);
        }
    }
}
