use std::collections::BTreeSet;

use super::*;

mod limits;
mod random;
mod refusals;

/// An attribution, and the turns that are live.
struct Bench {
    attribution: Attribution,
    now: Instant,
    live: BTreeSet<&'static str>,
    counts: LogCounts,
}

impl Bench {
    /// With turns `a` and `b`.
    fn new() -> Self {
        Self {
            attribution: Attribution::default(),
            now: Instant::now(),
            live: ["a", "b"].into(),
            counts: LogCounts::default(),
        }
    }

    fn line(&mut self, line: LogLine<'_>) -> &mut Self {
        let turns = &self.live;
        let is_live = |thread: &str, turn: &str| {
            thread.strip_prefix("thread-") == Some(turn) && turns.contains(turn)
        };
        self.attribution.on_line(line, self.now, is_live);
        self.check();
        self
    }

    /// What is counted is what is there, and never too much.
    fn check(&self) {
        let Attribution { items, waiting_bytes, .. } = &self.attribution;
        let calls = || items.values().filter_map(|item| item.call.as_ref());
        let refusals = items.values().filter_map(|item| item.refusal.as_ref());
        let bytes: usize = calls().map(|call| call.waiting.len()).sum();
        assert_eq!(*waiting_bytes, bytes + refusals.map(String::len).sum::<usize>());
        assert!(*waiting_bytes <= MOST_OF_ALL && items.len() <= MOST_ITEMS);
        assert!(calls().all(|call| call.waiting.len() <= MOST_OF_AN_ITEM));
    }

    fn added(&mut self, id: &str) -> &mut Self {
        self.line(added(id, 0, None))
    }

    fn fragment(&mut self, id: &str, text: &str) -> &mut Self {
        self.line(fragment(id, None, text))
    }

    fn numbered(&mut self, id: &str, number: u64, text: &str) -> &mut Self {
        self.line(fragment(id, Some(number), text))
    }

    fn owner(&mut self, id: &str, turn: &str) -> &mut Self {
        self.line(owner(id, true, turn))
    }

    fn message_owner(&mut self, id: &str, turn: &str) -> &mut Self {
        self.line(owner(id, false, turn))
    }

    fn pass(&mut self, seconds: u64) -> &mut Self {
        self.now += Duration::from_secs(seconds);
        self
    }

    fn end(&mut self, turn: &str) -> &mut Self {
        self.live.remove(turn);
        self
    }

    /// What there is for turns, which is handed over.
    fn take(&mut self) -> Vec<String> {
        let mut events = Vec::new();
        self.counts = self.attribution.take_events(|_, turn, event| {
            events.push(match event {
                LogEvent::CallStarted(call) => {
                    format!("{turn}: start {} at {}", call.item_id, call.output_index)
                }
                LogEvent::Arguments { item_id, offset, text } => {
                    format!("{turn}: {item_id}+{offset} {text}")
                }
                LogEvent::Refusal(text) => format!("{turn}: refusal {text}"),
            });
        });
        self.check();
        events
    }

    #[track_caller]
    fn expect(&mut self, events: &[&str]) -> &mut Self {
        assert_eq!(self.take(), events);
        self
    }

    #[track_caller]
    fn counted(&mut self, fragments: u64, unattributed: u64) -> &mut Self {
        assert_eq!(self.counts, LogCounts { fragments, unattributed });
        self
    }
}

fn added(id: &str, output_index: u64, sequence: Option<u64>) -> LogLine<'static> {
    let call = StartedCall {
        output_index,
        item_id: id.into(),
        call_id: format!("call of {id}"),
        name: "f".into(),
    };
    LogLine::CallAdded { sequence, call }
}

fn fragment(id: &str, sequence: Option<u64>, text: &str) -> LogLine<'static> {
    LogLine::Arguments { item_id: id.to_owned(), sequence, text: text.to_owned() }
}

fn owner<'a>(id: &'a str, is_call: bool, turn: &'a str) -> LogLine<'a> {
    let thread_id = format!("thread-{turn}").into();
    LogLine::Owner { item_id: id.into(), is_call, thread_id, turn_id: turn.into() }
}

#[test]
fn fragments_wait_for_the_line_that_names_their_turn() {
    Bench::new()
        .added("1")
        .fragment("1", "ab")
        .expect(&[])
        .fragment("1", "cd")
        .expect(&[])
        .owner("1", "a")
        .fragment("1", "e")
        .expect(&["a: start 1 at 0", "a: 1+0 abcde"])
        .counted(3, 0)
        .fragment("1", "f")
        .expect(&["a: 1+5 f"])
        .counted(1, 0)
        .expect(&[])
        .counted(0, 0);
}

#[test]
fn a_turn_that_is_known_first_gets_fragments_at_once() {
    Bench::new()
        .owner("1", "a")
        .expect(&[])
        .added("1")
        .expect(&["a: start 1 at 0"])
        .fragment("1", "ä")
        .expect(&["a: 1+0 ä"])
        .fragment("1", "ö")
        .expect(&["a: 1+2 ö"]);
}

#[test]
fn fragments_that_come_together_are_handed_over_together() {
    let mut bench = Bench::new();
    bench.line(added("1", 0, None)).line(added("2", 3, None)).owner("1", "a").owner("2", "b");
    bench.expect(&["a: start 1 at 0", "b: start 2 at 3"]);
    for (first, second) in [("a", "1"), ("b", "2"), ("c", "3")] {
        bench.fragment("1", first).fragment("2", second);
    }
    bench.expect(&["a: 1+0 abc", "b: 2+0 123"]).counted(6, 0);
}

#[test]
fn calls_start_in_the_order_of_their_lines() {
    let mut bench = Bench::new();
    for (index, id) in ["3", "1", "2"].into_iter().enumerate() {
        bench.line(added(id, index as u64, None)).fragment(id, id);
    }
    bench.owner("3", "a").owner("1", "a").owner("2", "a").expect(&[
        "a: start 3 at 0",
        "a: 3+0 3",
        "a: start 1 at 1",
        "a: 1+0 1",
        "a: start 2 at 2",
        "a: 2+0 2",
    ]);
}

#[test]
fn fragments_of_items_that_were_not_added_are_dropped() {
    Bench::new()
        .fragment("1", "a")
        .owner("1", "a")
        .fragment("1", "b")
        .expect(&[])
        .counted(0, 2)
        .added("1")
        .fragment("1", "c")
        .expect(&["a: start 1 at 0", "a: 1+0 c"])
        .counted(1, 0);
}

#[test]
fn an_item_of_two_live_turns_belongs_to_neither() {
    Bench::new()
        .added("1")
        .owner("1", "a")
        .fragment("1", "x")
        .expect(&["a: start 1 at 0", "a: 1+0 x"])
        .fragment("1", "y")
        .owner("1", "b")
        .expect(&[])
        .counted(0, 1)
        .fragment("1", "z")
        .owner("1", "a")
        .owner("1", "b")
        .expect(&[]);
}

#[test]
fn an_item_that_is_added_twice_belongs_to_neither() {
    // Before its turn is known, and after.
    Bench::new()
        .added("1")
        .fragment("1", "x")
        .added("1")
        .fragment("1", "y")
        .owner("1", "a")
        .expect(&[])
        .counted(0, 1);
    Bench::new()
        .added("1")
        .owner("1", "a")
        .fragment("1", "x")
        .expect(&["a: start 1 at 0", "a: 1+0 x"])
        .fragment("1", "y")
        .added("1")
        .fragment("1", "z")
        .owner("1", "b")
        .expect(&[]);
}

/// However old the first of them is.
#[test]
fn a_third_item_of_an_id_does_not_get_the_fragments_of_the_first_two() {
    let mut bench = Bench::new();
    bench.added("1").owner("1", "a").expect(&["a: start 1 at 0"]);
    bench.pass(60).added("1").added("1").fragment("1", "of the second").owner("1", "b");
    bench.expect(&[]);
    bench.pass(10).added("1").fragment("1", "x").owner("1", "b");
    bench.expect(&["b: start 1 at 0", "b: 1+0 x"]);
}

/// Some upstreams count the items of each response: the message of one turn then has the id of
/// another turn's call.
#[test]
fn the_owner_of_a_message_does_not_own_a_call_of_the_same_id() {
    Bench::new().message_owner("1", "a").added("1").fragment("1", "of b").expect(&[]);
    Bench::new().added("1").fragment("1", "of b").message_owner("1", "a").expect(&[]);
    let mut late = Bench::new();
    late.added("1").owner("1", "b").expect(&["b: start 1 at 0"]);
    late.message_owner("1", "a").fragment("1", "of b").owner("1", "b").expect(&[]);
    // A message that is whole, of a turn that has ended, does not matter.
    let mut ended = Bench::new();
    ended.message_owner("1", "a").message_owner("1", "a").end("a");
    ended.added("1").owner("1", "b").fragment("1", "x");
    ended.expect(&["b: start 1 at 0", "b: 1+0 x"]);
}

#[test]
fn an_owner_that_is_named_twice_is_the_same_owner() {
    Bench::new()
        .added("1")
        .owner("1", "a")
        .fragment("1", "x")
        .owner("1", "a")
        .fragment("1", "y")
        .expect(&["a: start 1 at 0", "a: 1+0 xy"])
        .owner("1", "a")
        .expect(&[]);
}

#[test]
fn a_turn_that_has_ended_owns_nothing() {
    Bench::new()
        .end("a")
        .added("1")
        .fragment("1", "x")
        .owner("1", "a")
        .owner("1", "unknown")
        .expect(&[])
        .owner("1", "b")
        .expect(&["b: start 1 at 0", "b: 1+0 x"]);
    // The thread of one turn and the id of another name no turn.
    let mixed = LogLine::Owner {
        item_id: "1".into(),
        is_call: true,
        thread_id: "thread-a".into(),
        turn_id: "b".into(),
    };
    Bench::new().added("1").line(mixed).expect(&[]);
}

#[test]
fn an_id_can_be_used_again_when_its_call_is_done_and_its_turn_has_ended() {
    let mut bench = Bench::new();
    bench.added("1").owner("1", "a").fragment("1", "old").take();
    bench
        .fragment("1", "late")
        .line(LogLine::CallDone { item_id: "1".to_owned() })
        .end("a")
        .added("1")
        .fragment("1", "new")
        .owner("1", "b")
        .expect(&["b: start 1 at 0", "b: 1+0 new"])
        .counted(1, 1);
}

/// Lines of the first call may still come, and must not reach the second one's turn.
#[test]
fn an_id_rests_for_a_while_when_its_turn_has_ended_within_a_call() {
    let mut bench = Bench::new();
    bench.added("1").owner("1", "a").fragment("1", "of a").end("a").take();
    bench.added("1").owner("1", "b").fragment("1", "late").expect(&[]);
    // Such a collision counts from when it was seen.
    bench.pass(10).added("1").owner("1", "b").fragment("1", "x");
    bench.expect(&["b: start 1 at 0", "b: 1+0 x"]);
    let mut message = Bench::new();
    message.message_owner("1", "a").end("a").message_owner("1", "b");
    message.line(LogLine::Refusal { item_id: "1".to_owned(), text: "of a".to_owned() });
    message.expect(&[]);
}

/// Its own first lines were lost: what is known of the id is of the turn before.
#[test]
fn a_turn_does_not_inherit_the_call_of_an_earlier_one() {
    let mut bench = Bench::new();
    bench.added("1").owner("1", "a").fragment("1", "old").take();
    bench.end("a").fragment("1", "new").owner("1", "b").fragment("1", "er").expect(&[]);
    bench.counted(0, 1);
}

#[test]
fn what_is_cleared_is_forgotten() {
    let mut bench = Bench::new();
    bench.added("1").owner("1", "a").fragment("1", "x");
    bench.attribution.clear();
    bench.check();
    bench.fragment("1", "y").owner("1", "a").expect(&[]).counted(0, 1);
}
