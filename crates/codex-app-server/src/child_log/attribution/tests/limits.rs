//! Lines that are missing, and too many of them.

use super::*;

/// A call whose first event has number 5, with a fragment that fits.
fn numbered() -> Bench {
    let mut bench = Bench::new();
    bench.line(added("1", 0, Some(5))).owner("1", "a").numbered("1", 6, "good");
    bench
}

const GOOD: [&str; 2] = ["a: start 1 at 0", "a: 1+0 good"];

#[test]
fn numbers_that_follow_are_handed_over() {
    numbered()
        .numbered("1", 7, "!")
        .numbered("1", 8, "?")
        .expect(&["a: start 1 at 0", "a: 1+0 good!?"]);
}

#[test]
fn after_a_gap_a_repeat_or_a_step_back_nothing_more_is_handed_over() {
    for wrong in [0, 4, 5, 6, 8, 100, u64::MAX] {
        numbered()
            .numbered("1", wrong, "wrong")
            .expect(&GOOD)
            // Even if the right one comes after all.
            .numbered("1", 7, "late")
            .numbered("1", wrong.wrapping_add(1), "follows")
            .expect(&[]);
    }
    let mut first = Bench::new();
    first.line(added("1", 0, Some(5))).owner("1", "a").numbered("1", 7, "first is missing");
    first.expect(&["a: start 1 at 0"]);
}

#[test]
fn numbers_that_appear_or_disappear_are_gaps() {
    numbered().fragment("1", "without").numbered("1", 7, "with").expect(&GOOD);
    let mut without = Bench::new();
    without.added("1").owner("1", "a").fragment("1", "x").numbered("1", 1, "y").fragment("1", "z");
    without.expect(&["a: start 1 at 0", "a: 1+0 x"]);
}

#[test]
fn each_call_has_its_own_numbers() {
    let mut bench = Bench::new();
    bench.line(added("1", 0, Some(5))).line(added("2", 0, Some(90))).owner("1", "a");
    bench.owner("2", "b").numbered("1", 6, "x").numbered("2", 91, "y").numbered("1", 7, "z");
    let events = ["a: start 1 at 0", "a: 1+0 xz", "b: start 2 at 0", "b: 2+0 y"];
    bench.expect(&events);
}

#[test]
fn a_number_that_cannot_be_counted_on_ends_the_call() {
    let mut bench = Bench::new();
    bench.line(added("1", 0, Some(u64::MAX))).owner("1", "a").numbered("1", 0, "x");
    bench.expect(&["a: start 1 at 0"]);
}

#[test]
fn a_damaged_line_stops_every_call_that_is_open() {
    let mut bench = Bench::new();
    bench.added("1").added("2").owner("1", "a").fragment("1", "x").fragment("2", "y");
    bench.line(LogLine::Damaged).fragment("1", "lost").fragment("2", "lost");
    // What came before the damage is good.
    bench.expect(&["a: start 1 at 0", "a: 1+0 x"]);
    bench.owner("2", "b").expect(&["b: start 2 at 0", "b: 2+0 y"]);
    // And so is what begins after it.
    bench.added("3").owner("3", "a").fragment("3", "z").expect(&["a: start 3 at 0", "a: 3+0 z"]);
}

#[test]
fn lines_of_no_use_change_nothing() {
    Bench::new()
        .added("1")
        .line(LogLine::Unused)
        .fragment("1", "x")
        .line(LogLine::Other)
        .owner("1", "a")
        .expect(&["a: start 1 at 0", "a: 1+0 x"]);
}

#[test]
fn the_bytes_that_wait_for_an_item_are_limited() {
    let half = "x".repeat(MOST_OF_AN_ITEM / 2);
    let mut bench = Bench::new();
    bench.added("1").fragment("1", &half).fragment("1", &half).fragment("1", "over");
    bench.fragment("1", "later").owner("1", "a");
    assert_eq!(bench.attribution.waiting_bytes, MOST_OF_AN_ITEM);
    let whole = format!("a: 1+0 {half}{half}");
    bench.expect(&["a: start 1 at 0", &whole]);
    // Not only the bytes at one time: what follows would have a gap before it.
    bench.fragment("1", "later").expect(&[]);
    let mut exact = Bench::new();
    exact.added("1").owner("1", "a").fragment("1", &half).take();
    exact.fragment("1", &half).take();
    exact.fragment("1", "no limit where nothing waits");
    let rest = format!("a: 1+{MOST_OF_AN_ITEM} no limit where nothing waits");
    exact.expect(&[&rest]);
}

#[test]
fn the_bytes_that_wait_for_all_items_are_limited() {
    let most = "x".repeat(MOST_OF_AN_ITEM);
    let mut bench = Bench::new();
    let fitting = MOST_OF_ALL / MOST_OF_AN_ITEM;
    for id in 0..=fitting {
        bench.added(&id.to_string()).fragment(&id.to_string(), &most);
    }
    assert_eq!(bench.attribution.waiting_bytes, MOST_OF_ALL);
    let last = fitting.to_string();
    bench.owner(&last, "a");
    let started = format!("a: start {last} at 0");
    bench.expect(&[&started]);
    // When there is space again, others can use it.
    bench.owner("0", "a").take();
    bench.added("new").fragment("new", "x").owner("new", "b");
    bench.expect(&["b: start new at 0", "b: new+0 x"]);
    assert_eq!(bench.attribution.waiting_bytes, MOST_OF_ALL - MOST_OF_AN_ITEM);
}

#[test]
fn fragments_do_not_wait_for_ever() {
    let mut bench = Bench::new();
    bench.added("1").fragment("1", "x").pass(9).added("2").owner("1", "a");
    bench.expect(&["a: start 1 at 0", "a: 1+0 x"]);
    let mut bench = Bench::new();
    bench.added("1").fragment("1", "x").fragment("1", "y").pass(10).added("2");
    assert_eq!(bench.attribution.waiting_bytes, 0);
    bench.owner("1", "a").fragment("1", "z").expect(&[]).counted(0, 3);
    // A call whose turn is known lasts as long as the turn.
    let mut bench = Bench::new();
    bench.added("1").owner("1", "a").pass(3_600).added("2").fragment("1", "x");
    bench.expect(&["a: start 1 at 0", "a: 1+0 x"]);
}

#[test]
fn too_many_items_are_not_kept() {
    let mut bench = Bench::new();
    for id in 0..MOST_ITEMS {
        bench.attribution.on_line(added(&id.to_string(), 0, None), bench.now, |_, _| true);
    }
    bench.added("more").fragment("more", "x").owner("more", "a").expect(&[]).counted(0, 1);
    bench.line(LogLine::Refusal { item_id: "more".to_owned(), text: "no".to_owned() });
    bench.message_owner("more", "a").expect(&[]);
    // Those that are known still work, and those that are too old make way.
    bench.owner("0", "a").fragment("0", "x").expect(&["a: start 0 at 0", "a: 0+0 x"]);
    bench.pass(10).added("more").owner("more", "b").expect(&["b: start more at 0"]);
    assert_eq!(bench.attribution.items.len(), 2);
}
