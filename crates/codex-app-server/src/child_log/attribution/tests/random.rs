//! Random lines of a few items and turns, in any order.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

const TURNS: [&str; 3] = ["a", "b", "c"];
const ITEMS: [&str; 3] = ["1", "2", "3"];

/// The number of every call's first event: those of different calls of one id could follow on.
const FIRST: u64 = 5;

#[derive(Debug, Clone)]
enum Act {
    /// A call begins, with or without numbers.
    Add {
        item: usize,
        is_numbered: bool,
    },
    /// A fragment of the last call of an item, or of one before it.
    Fragment {
        item: usize,
        calls_back: usize,
        what: Fragment,
        bytes: usize,
    },
    Own {
        item: usize,
        is_call: bool,
        turn: usize,
    },
    Refuse {
        item: usize,
        bytes: usize,
    },
    Damage,
    Begin(usize),
    End(usize),
    Pass(u64),
    Take,
}

#[derive(Debug, Clone, Copy)]
enum Fragment {
    Next,
    /// The next one is lost.
    Skipping,
    Repeated,
}

fn act() -> impl Strategy<Value = Act> {
    let (item, turn) = (0..ITEMS.len(), 0..TURNS.len());
    let bytes = prop_oneof![8 => 0..9_usize, 1 => Just(100_000), 1 => Just(200_000)];
    let what = prop_oneof![
        8 => Just(Fragment::Next), 1 => Just(Fragment::Skipping), 1 => Just(Fragment::Repeated),
    ];
    let calls_back = prop_oneof![8 => Just(0_usize), 1 => Just(1)];
    prop_oneof![
        3 => (item.clone(), any::<bool>())
            .prop_map(|(item, is_numbered)| Act::Add { item, is_numbered }),
        12 => (item.clone(), calls_back, what, bytes.clone()).prop_map(
            |(item, calls_back, what, bytes)| Act::Fragment { item, calls_back, what, bytes }
        ),
        4 => (item.clone(), prop::bool::weighted(0.8), turn.clone())
            .prop_map(|(item, is_call, turn)| Act::Own { item, is_call, turn }),
        1 => (item, bytes).prop_map(|(item, bytes)| Act::Refuse { item, bytes }),
        1 => Just(Act::Damage),
        1 => turn.clone().prop_map(Act::Begin),
        1 => turn.prop_map(Act::End),
        1 => (0..12_u64).prop_map(Act::Pass),
        6 => Just(Act::Take),
    ]
}

/// A call as the upstream sends it.
struct Upstream {
    item: usize,
    is_numbered: bool,
    fragments: Vec<String>,
    /// Whether an unnumbered fragment was lost or came twice, which cannot be seen.
    is_uncertain: bool,
}

#[derive(Default)]
struct World {
    calls: Vec<Upstream>,
    /// How many of them may have been forgotten: a turn has ended, or time has passed.
    forgettable: usize,
    /// Turns that were named for a call while they were live.
    named: BTreeSet<(&'static str, &'static str)>,
    /// What each started call was handed over as: its turn and its text.
    handed_over: HashMap<usize, (String, String)>,
    /// The call of an item that was last started for a turn.
    current: HashMap<(String, Box<str>), usize>,
}

impl World {
    fn add(&mut self, item: usize, is_numbered: bool) -> LogLine<'static> {
        let number = self.calls.len();
        let call = StartedCall {
            output_index: item as u64,
            item_id: ITEMS[item].into(),
            call_id: number.to_string(),
            name: "f".into(),
        };
        let fragments = Vec::new();
        self.calls.push(Upstream { item, is_numbered, fragments, is_uncertain: false });
        let sequence = is_numbered.then_some(FIRST);
        LogLine::CallAdded { sequence, call }
    }

    fn fragment(
        &mut self,
        item: usize,
        calls_back: usize,
        what: Fragment,
        bytes: usize,
    ) -> Option<LogLine<'static>> {
        let mut of_item = self.calls.iter_mut().enumerate().filter(|(_, call)| call.item == item);
        // A late fragment of a forgotten call looks like one of the next call of the same id.
        let is_certain = |number: usize| calls_back == 0 || number >= self.forgettable;
        let (number, call) =
            of_item.nth_back(calls_back).filter(|(number, _)| is_certain(*number))?;
        let next = |call: &mut Upstream| {
            let text = format!("{number}.{}", call.fragments.len()) + &"x".repeat(bytes);
            call.fragments.push(text);
        };
        match what {
            Fragment::Next => next(call),
            Fragment::Skipping => {
                next(call);
                next(call);
                call.is_uncertain |= !call.is_numbered;
            }
            Fragment::Repeated => call.is_uncertain |= !call.is_numbered,
        }
        let text = call.fragments.last()?.clone();
        let sequence = call.is_numbered.then(|| FIRST + call.fragments.len() as u64);
        Some(LogLine::Arguments { item_id: ITEMS[item].to_owned(), sequence, text })
    }

    fn hand_over(&mut self, turn: &str, event: LogEvent) {
        match event {
            LogEvent::CallStarted(call) => {
                let number: usize = call.call_id.parse().unwrap();
                let item = ITEMS[self.calls[number].item];
                let is_named = self.named.iter().any(|(of, named)| *of == item && *named == turn);
                assert!(is_named, "{turn} was never named as the owner of {item}");
                let before = self.handed_over.insert(number, (turn.to_owned(), String::new()));
                assert_eq!(before, None, "a call starts once");
                self.current.insert((turn.to_owned(), call.item_id), number);
            }
            LogEvent::Arguments { item_id, offset, text } => {
                let number = self.current[&(turn.to_owned(), item_id)];
                let (owner, before) = self.handed_over.get_mut(&number).unwrap();
                assert_eq!((owner.as_str(), before.len()), (turn, offset));
                before.push_str(&text);
                let call = &self.calls[number];
                let is_prefix = call.fragments.concat().starts_with(before.as_str());
                assert!(is_prefix || call.is_uncertain, "{before} of {:?}", call.fragments);
            }
            LogEvent::Refusal(_) => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// The bounds hold after every line, a turn gets only calls that it was named for, and of each of
    /// them a prefix.
    #[test]
    fn whatever_the_order_of_lines_nothing_is_mixed_up(
        acts in prop::collection::vec(act(), 0..80)
    ) {
        let mut bench = Bench::new();
        let mut world = World::default();
        for act in acts {
            let line = match act {
                Act::Add { item, is_numbered } => Some(world.add(item, is_numbered)),
                Act::Fragment { item, calls_back, what, bytes } => {
                    world.fragment(item, calls_back, what, bytes)
                }
                Act::Own { item, is_call, turn } => {
                    if is_call && bench.live.contains(TURNS[turn]) {
                        world.named.insert((ITEMS[item], TURNS[turn]));
                    }
                    Some(owner(ITEMS[item], is_call, TURNS[turn]))
                }
                Act::Refuse { item, bytes } => {
                    let item_id = ITEMS[item].to_owned();
                    Some(LogLine::Refusal { item_id, text: "x".repeat(bytes) })
                }
                Act::Damage => Some(LogLine::Damaged),
                Act::Begin(turn) => {
                    bench.live.insert(TURNS[turn]);
                    None
                }
                Act::End(turn) => {
                    world.forgettable = world.calls.len();
                    bench.live.remove(TURNS[turn]);
                    None
                }
                Act::Pass(seconds) => {
                    world.forgettable = world.calls.len();
                    bench.pass(seconds);
                    None
                }
                Act::Take => {
                    bench.attribution.take_events(|_, turn, event| world.hand_over(turn, event));
                    bench.check();
                    None
                }
            };
            if let Some(line) = line {
                bench.line(line);
            }
        }
    }
}
