//! The queue against its laws, told in the plainest way: everybody who ever came, one after the other.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use super::*;

type Key = u8;

const KEYS: std::ops::Range<Key> = 0..4;

/// A number in the order of coming.
type Id = usize;

#[derive(Debug, Clone, Copy)]
enum Event {
    Comes(Key, u32),
    /// Somebody of those who wait.
    Leaves(Index),
    /// Somebody of those who have places.
    Ends(Index),
    Changes(Capacity),
    Closes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Waits(Ticket),
    Runs,
    Gone,
}

#[derive(Debug, Clone, Copy)]
struct Person {
    key: Key,
    places: u32,
    state: State,
}

/// The queue, and everything that it should know.
struct World {
    queue: FairQueue<Key, Id>,
    capacity: Capacity,
    is_closed: bool,
    people: Vec<Person>,
    /// Keys as they got or gave back places, or came with nothing here.
    history: Vec<Key>,
    /// For a key without a place that waits: those who may still go before it.
    before: Vec<(Key, Vec<Key>)>,
}

// === impl World ===

impl World {
    fn new(capacity: Capacity) -> Self {
        Self {
            queue: FairQueue::new(capacity),
            capacity,
            is_closed: false,
            people: Vec::new(),
            history: Vec::new(),
            before: Vec::new(),
        }
    }

    fn all(&self, is_wanted: impl Fn(&Person) -> bool) -> Vec<Id> {
        (0..self.people.len()).filter(|id| is_wanted(&self.people[*id])).collect()
    }

    fn waiting(&self) -> Vec<Id> {
        self.all(|person| matches!(person.state, State::Waits(_)))
    }

    fn waiting_of(&self, key: Key) -> Vec<Id> {
        self.all(|person| person.key == key && matches!(person.state, State::Waits(_)))
    }

    fn running(&self) -> Vec<Id> {
        self.all(|person| person.state == State::Runs)
    }

    fn places(&self, ids: &[Id]) -> u32 {
        ids.iter().map(|id| self.people[*id].places).sum()
    }

    fn in_use_of(&self, key: Key) -> u32 {
        self.places(&self.all(|person| person.key == key && person.state == State::Runs))
    }

    fn is_idle(&self, key: Key) -> bool {
        self.in_use_of(key) == 0 && self.waiting_of(key).is_empty()
    }

    fn keys_that_wait(&self) -> Vec<Key> {
        let mut keys: Vec<Key> = self.waiting().into_iter().map(|id| self.people[id].key).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// Who should be let in now.
    fn next(&self) -> Option<Id> {
        let since = |key: Key| self.history.iter().rposition(|other| *other == key);
        let rank = |key: &Key| (self.in_use_of(*key), since(*key));
        let key = self.keys_that_wait().into_iter().min_by_key(rank)?;
        let first = self.waiting_of(key)[0];
        let in_use = self.places(&self.running());
        (in_use + self.people[first].places <= self.capacity.places).then_some(first)
    }

    /// Who should go for a newcomer that would bring its key to so many places.
    fn displaced(&self, wanted: u32) -> Option<Id> {
        let rest = |key: Key| {
            let waiting = self.waiting_of(key);
            let (newest, others) = waiting.split_last().unwrap();
            (self.in_use_of(key) + self.places(others), *newest)
        };
        let (left, newest) = self.keys_that_wait().into_iter().map(rest).max()?;
        (left >= wanted).then_some(newest)
    }

    fn play(&mut self, event: Event) {
        match event {
            Event::Comes(key, places) => self.come(key, places),
            Event::Leaves(which) => {
                let waiting = self.waiting();
                if !waiting.is_empty() {
                    self.leave(*which.get(&waiting));
                }
            }
            Event::Ends(which) => {
                let running = self.running();
                if !running.is_empty() {
                    self.end(*which.get(&running));
                }
            }
            Event::Changes(capacity) => {
                self.capacity = capacity;
                let mut never = self.waiting();
                never.retain(|id| self.people[*id].places > capacity.places);
                self.turned_away(never, |queue| queue.change(capacity));
            }
            Event::Closes => {
                self.is_closed = true;
                self.turned_away(self.waiting(), FairQueue::close);
            }
        }
        self.settle();
        self.check();
    }

    fn come(&mut self, key: Key, places: u32) {
        let entry = self.queue.enter(&key, places);
        if self.is_closed {
            return assert_eq!(entry, Entry::Closed);
        }
        if places > self.capacity.places {
            return assert_eq!(entry, Entry::NeverFits);
        }
        let was_idle = self.is_idle(key);
        let load = self.in_use_of(key) + self.places(&self.waiting_of(key));
        let displaced = self.displaced(load + places);
        let is_full = self.waiting().len() >= self.capacity.waiting;
        let without = (self.people.clone(), self.history.clone());
        // Would it be next if it waited?
        let id = self.people.len();
        self.people.push(Person { key, places, state: State::Waits(Ticket(0)) });
        if was_idle {
            self.history.push(key);
        }
        if self.next() == Some(id) {
            assert_eq!(entry, Entry::Admitted);
            return self.admitted(id);
        }
        assert_eq!(entry, Entry::MustWait);
        match self.queue.wait(&key, places, id) {
            Queued::Waits { ticket, displaced: went } => {
                self.people[id].state = State::Waits(ticket);
                assert_eq!(went, displaced.filter(|_| is_full));
                assert!(went.is_some() || self.queue.waiting() <= self.capacity.waiting);
                if let Some(went) = went {
                    self.gone(went);
                }
                if was_idle {
                    self.waits_without_a_place(key);
                }
            }
            Queued::Full => {
                assert!(is_full && displaced.is_none());
                (self.people, self.history) = without;
            }
        }
    }

    fn leave(&mut self, id: Id) {
        let Person { key, state: State::Waits(ticket), .. } = self.people[id] else { panic!() };
        assert_eq!(self.queue.leave(&key, ticket), Some(id));
        assert_eq!(self.queue.leave(&key, ticket), None);
        self.gone(id);
    }

    fn end(&mut self, id: Id) {
        let Person { key, places, .. } = self.people[id];
        self.queue.give_back(&key, places);
        self.gone(id);
        self.history.push(key);
        if self.in_use_of(key) == 0 && !self.is_idle(key) {
            self.waits_without_a_place(key);
        }
    }

    fn turned_away(
        &mut self,
        expected: Vec<Id>,
        step: impl FnOnce(&mut FairQueue<Key, Id>) -> Vec<Waiter<Id>>,
    ) {
        let mut turned_away: Vec<Id> =
            step(&mut self.queue).into_iter().map(|waiter| waiter.told).collect();
        turned_away.sort_unstable();
        assert_eq!(turned_away, expected);
        for id in expected {
            self.gone(id);
        }
    }

    fn settle(&mut self) {
        loop {
            let admitted = self.queue.next();
            let expected = self.next().map(|id| {
                let Person { key, places, .. } = self.people[id];
                Admitted { key, places, told: id }
            });
            assert_eq!(admitted, expected);
            let Some(Admitted { told, .. }) = admitted else { return };
            self.admitted(told);
        }
    }

    /// The fairness that is promised: a key without a place is overtaken by those who waited without
    /// one when it began to, each once, and by nobody else.
    fn admitted(&mut self, id: Id) {
        let key = self.people[id].key;
        self.people[id].state = State::Runs;
        self.history.push(key);
        assert!(self.queue.in_use() <= self.capacity.places);
        self.before.retain(|(other, _)| *other != key);
        for (_, allowed) in &mut self.before {
            let place = allowed.iter().position(|other| *other == key).expect("nobody overtakes");
            allowed.swap_remove(place);
        }
    }

    fn gone(&mut self, id: Id) {
        let key = self.people[id].key;
        self.people[id].state = State::Gone;
        if self.is_idle(key) {
            self.before.retain(|(other, _)| *other != key);
        }
    }

    fn waits_without_a_place(&mut self, key: Key) {
        let mut before = self.keys_that_wait();
        before.retain(|other| *other != key && self.in_use_of(*other) == 0);
        self.before.push((key, before));
    }

    /// What is told is what is, and no place is given twice.
    fn check(&self) {
        let (waiting, running) = (self.waiting(), self.running());
        assert_eq!(self.queue.waiting(), waiting.len());
        assert_eq!(self.queue.in_use(), self.places(&running));
        let mut told: Vec<_> =
            self.queue.keys().map(|(key, in_use, waiting)| (*key, in_use, waiting)).collect();
        told.sort_unstable();
        let is = |key: Key| (key, self.in_use_of(key), self.waiting_of(key).len());
        let here = KEYS.filter(|key| !self.is_idle(*key));
        assert_eq!(told, here.map(is).collect::<Vec<_>>());
    }
}

fn capacity() -> impl Strategy<Value = Capacity> {
    (1_u32..6, 0_usize..6).prop_map(|(places, waiting)| Capacity { places, waiting })
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        60 => (KEYS, 1_u32..4).prop_map(|(key, places)| Event::Comes(key, places)),
        10 => any::<Index>().prop_map(Event::Leaves),
        40 => any::<Index>().prop_map(Event::Ends),
        3 => capacity().prop_map(Event::Changes),
        1 => Just(Event::Closes),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_everybody_gets_what_is_right(
        capacity in capacity(),
        events in vec(event(), 0..150),
    ) {
        let mut world = World::new(capacity);
        for event in events {
            world.play(event);
        }
        // Nobody is forgotten, and nothing of anybody is left.
        while let Some(id) = world.running().pop() {
            world.end(id);
            world.settle();
            world.check();
        }
        prop_assert!(world.waiting().is_empty() && world.queue.lines.is_empty());
    }

    /// However one key floods, another's single request gets the very next place.
    #[test]
    fn a_flood_delays_another_key_by_one_place(
        capacity in capacity(),
        flood in vec((Just(0_u8), 1_u32..4), 1..40),
        ends in vec(any::<Index>(), 0..5),
    ) {
        let capacity = Capacity { waiting: capacity.waiting + 1, ..capacity };
        let mut world = World::new(capacity);
        for (key, places) in flood {
            world.play(Event::Comes(key, places));
        }
        for which in ends {
            world.play(Event::Ends(which));
        }
        let id = world.people.len();
        world.play(Event::Comes(1, 1));
        prop_assert_eq!(world.people.len(), id + 1, "it is not kept out");
        if world.people[id].state != State::Runs {
            world.end(world.running()[0]);
            world.settle();
        }
        prop_assert_eq!(world.people[id].state, State::Runs);
    }
}

fn full(waiting: usize) -> FairQueue<&'static str, Id> {
    let mut queue = FairQueue::new(Capacity { places: 2, waiting });
    assert_eq!(queue.enter(&"greedy", 2), Entry::Admitted);
    queue
}

fn wait(queue: &mut FairQueue<&'static str, Id>, key: &'static str, id: Id) -> Queued<Id> {
    assert_eq!(queue.enter(&key, 1), Entry::MustWait);
    queue.wait(&key, 1, id)
}

/// Who goes for a newcomer.
fn displaced(queued: &Queued<Id>) -> Option<Id> {
    match queued {
        Queued::Waits { displaced, .. } => *displaced,
        Queued::Full => panic!("it is full"),
    }
}

#[test]
fn a_full_queue_takes_from_who_has_most() {
    let mut queue = full(2);
    assert_eq!(displaced(&wait(&mut queue, "greedy", 1)), None);
    assert_eq!(displaced(&wait(&mut queue, "greedy", 2)), None);
    assert_eq!(wait(&mut queue, "greedy", 3), Queued::Full);
    assert_eq!(displaced(&wait(&mut queue, "modest", 4)), Some(2));
    assert_eq!(displaced(&wait(&mut queue, "shy", 5)), Some(1));
    assert_eq!(wait(&mut queue, "greedy", 6), Queued::Full);
    assert_eq!(wait(&mut queue, "late", 7), Queued::Full, "nobody has more than one here");
    queue.give_back(&"greedy", 2);
    let admitted = [queue.next(), queue.next(), queue.next()];
    let admitted = admitted.map(|admitted| admitted.map(|admitted| admitted.told));
    assert_eq!(admitted, [Some(4), Some(5), None]);
}

#[test]
fn who_wants_much_is_not_overtaken() {
    let mut queue = FairQueue::new(Capacity { places: 2, waiting: 9 });
    assert_eq!(queue.enter(&"a", 1), Entry::Admitted);
    assert_eq!(queue.enter(&"b", 1), Entry::Admitted);
    assert_eq!(queue.enter(&"large", 2), Entry::MustWait);
    assert!(matches!(queue.wait(&"large", 2, 0), Queued::Waits { .. }));
    queue.give_back(&"a", 1);
    assert_eq!(queue.next(), None);
    assert_eq!(queue.enter(&"a", 1), Entry::MustWait, "although there is a place for it");
    queue.give_back(&"b", 1);
    assert_eq!(queue.next(), Some(Admitted { key: "large", places: 2, told: 0 }));
}

#[test]
fn without_a_queue_nobody_waits() {
    let mut queue = full(0);
    assert_eq!(wait(&mut queue, "modest", 1), Queued::Full);
    queue.give_back(&"greedy", 2);
    assert_eq!(queue.enter(&"modest", 1), Entry::Admitted);
}
