use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn the_oldest_request_makes_room_for_the_next() {
    let limit = RateLimit { max: 2, window: millis(100) };
    let mut window = SlidingWindow::default();
    let start = Instant::now();
    let mut take = |at| window.take(limit, start + millis(at));
    let allowance = |remaining, reset, refused: Option<u64>| Allowance {
        remaining,
        reset: millis(reset),
        refused: refused.map(millis),
    };
    assert_eq!(take(0), allowance(1, 100, None));
    assert_eq!(take(30), allowance(0, 100, None));
    assert_eq!(take(60), allowance(0, 70, Some(40)));
    assert_eq!(take(99), allowance(0, 31, Some(1)));
    assert_eq!(take(100), allowance(0, 100, None));
    assert_eq!(take(250), allowance(1, 100, None));
}

proptest! {
    /// In no window are there more than may be, and nobody is refused who would have fitted.
    #[test]
    fn the_limit_is_exact(
        max in 1_u32..6,
        length in 1_u64..50,
        pauses in vec(0_u64..20, 0..100),
    ) {
        let limit = RateLimit { max, window: millis(length) };
        let start = Instant::now();
        let mut window = SlidingWindow::default();
        let mut taken: Vec<u64> = Vec::new();
        let mut now = 0;
        for pause in pauses {
            now += pause;
            let recent = |taken: &[u64], at: u64| {
                u32::try_from(taken.iter().filter(|time| **time + length > at).count()).unwrap()
            };
            let fits = recent(&taken, now) < max;
            let told = window.take(limit, start + millis(now));
            if fits {
                taken.push(now);
            }
            let next = (now..=now + length).find(|at| recent(&taken, *at) < max).unwrap();
            let all = (now..=now + length).find(|at| recent(&taken, *at) == 0).unwrap();
            prop_assert_eq!(told, Allowance {
                remaining: max - recent(&taken, now),
                reset: millis(all - now),
                refused: (!fits).then(|| millis(next - now)),
            });
        }
        for first in &taken {
            let within = taken.iter().filter(|time| (*first..first + length).contains(time));
            prop_assert!(within.count() <= max as usize);
        }
        prop_assert!(window.is_over(limit.window, start + millis(now + length)));
    }

    /// What was used stays used, whatever the limit is now.
    #[test]
    fn another_limit_counts_what_was_used(before in 1_u32..10, after in 1_u32..10) {
        let start = Instant::now();
        let window = millis(1_000);
        let mut used = SlidingWindow::default();
        for at in 0..before {
            used.take(RateLimit { max: before, window }, start + millis(at.into()));
        }
        let told = used.take(RateLimit { max: after, window }, start + millis(100));
        // As many as are too many must be over first.
        let refused = before.checked_sub(after).map(|at| millis(900) + millis(at.into()));
        prop_assert_eq!((told.refused, told.remaining), (refused, after.saturating_sub(before + 1)));
    }
}
