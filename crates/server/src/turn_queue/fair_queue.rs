//! Whose turns run next: a fair queue as a pure state machine, without clock or waiting.
//!
//! Every key has a line of its own. When places are free, the line goes next that has the fewest in
//! use; among equals the one that has been left as it is for longest. If the first of that line
//! wants more places than are free, everybody waits for it: nobody overtakes for wanting less.
//!
//! So who waits in a line that has no place is overtaken only by the lines without a place that were
//! there before, and by each of them once.

use std::collections::VecDeque;

/// Places and those who want them: `K` tells whose, `W` is how somebody who waits is told.
#[derive(Debug)]
pub(super) struct FairQueue<K, W> {
    capacity: Capacity,
    door: Door,
    /// Every key that has places or waits for some, in no order.
    lines: Vec<Line<K, W>>,
    /// Places in use, in all lines.
    in_use: u32,
    /// Requests that wait, in all lines.
    waiting: usize,
    /// A clock of what happens.
    steps: u64,
}

/// How much fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Capacity {
    /// Places that may be in use at once.
    pub(super) places: u32,
    /// Requests that may wait at once.
    pub(super) waiting: usize,
}

/// What one key has.
#[derive(Debug)]
struct Line<K, W> {
    key: K,
    in_use: u32,
    /// The step at which it last got or gave back a place, or else came.
    since: u64,
    /// The first has waited longest.
    waiters: VecDeque<Waiter<W>>,
}

/// Somebody who waits.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Waiter<W> {
    ticket: Ticket,
    pub(super) places: u32,
    pub(super) told: W,
}

/// Names somebody who waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ticket(u64);

/// Whether anybody is let in at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Door {
    Open,
    Closed,
}

/// What becomes of somebody who asks for places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    /// The places are taken.
    Admitted,
    /// Somebody else is next, or the places are not free.
    MustWait,
    /// There will never be so many.
    NeverFits,
    /// Nobody is let in any more.
    Closed,
}

/// What becomes of somebody who wants to wait.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Queued<W> {
    /// There is room, for which somebody else may have to go.
    Waits { ticket: Ticket, displaced: Option<W> },
    /// There are too many who wait.
    Full,
}

/// Somebody whose waiting is over, and the places are taken.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Admitted<K, W> {
    pub(super) key: K,
    pub(super) places: u32,
    pub(super) told: W,
}

// === impl FairQueue ===

impl<K: Clone + Eq, W> FairQueue<K, W> {
    pub(super) fn new(capacity: Capacity) -> Self {
        Self { capacity, door: Door::Open, lines: Vec::new(), in_use: 0, waiting: 0, steps: 0 }
    }

    /// Somebody asks for places. Who must wait says so with [`Self::wait`].
    pub(super) fn enter(&mut self, key: &K, places: u32) -> Entry {
        if self.door == Door::Closed {
            Entry::Closed
        } else if places > self.capacity.places {
            Entry::NeverFits
        } else if self.is_free(places) && self.goes_before_all(key) {
            self.seat(key, places);
            Entry::Admitted
        } else {
            Entry::MustWait
        }
    }

    /// Somebody who must wait does so.
    ///
    /// In a full queue a newcomer takes the room of the newest waiter of the key that has most,
    /// running and waiting together, if the newcomer's key then still has no more than that one: who
    /// has little here is not kept out by who has much, and equals do not drive each other out.
    pub(super) fn wait(&mut self, key: &K, places: u32, told: W) -> Queued<W> {
        let displaced = if self.waiting < self.capacity.waiting {
            None
        } else {
            let wanted = self.line(key).map_or(0, Line::load) + u64::from(places);
            match self.displace(wanted) {
                Some(displaced) => Some(displaced),
                None => return Queued::Full,
            }
        };
        self.steps += 1;
        let ticket = Ticket(self.steps);
        self.line_mut(key).waiters.push_back(Waiter { ticket, places, told });
        self.waiting += 1;
        Queued::Waits { ticket, displaced }
    }

    /// Somebody who waits goes; `None` if that is over already. Then [`Self::next`] may have somebody.
    pub(super) fn leave(&mut self, key: &K, ticket: Ticket) -> Option<W> {
        let line = self.lines.iter_mut().find(|line| line.key == *key)?;
        let at = line.waiters.iter().position(|waiter| waiter.ticket == ticket)?;
        let waiter = line.waiters.remove(at)?;
        self.waiting -= 1;
        self.forget_idle();
        Some(waiter.told)
    }

    /// Places are free again. Then [`Self::next`] may have somebody.
    pub(super) fn give_back(&mut self, key: &K, places: u32) {
        self.steps += 1;
        let steps = self.steps;
        if let Some(line) = self.lines.iter_mut().find(|line| line.key == *key) {
            line.in_use -= places;
            line.since = steps;
            self.in_use -= places;
        }
        self.forget_idle();
    }

    /// Lets in who is next, if the places are free.
    pub(super) fn next(&mut self) -> Option<Admitted<K, W>> {
        let waiting = self.lines.iter_mut().filter(|line| !line.waiters.is_empty());
        let line = waiting.min_by_key(|line| line.rank())?;
        let free = self.capacity.places.saturating_sub(self.in_use);
        line.waiters.front().filter(|waiter| waiter.places <= free)?;
        let Waiter { places, told, .. } = line.waiters.pop_front()?;
        let key = line.key.clone();
        self.waiting -= 1;
        self.seat(&key, places);
        Some(Admitted { key, places, told })
    }

    /// From now on so much fits; gives those who wait for more places than there will be.
    ///
    /// Who has a place keeps it, and who waits goes on waiting, also if these are more than fit now.
    /// Then [`Self::next`] may have somebody.
    pub(super) fn change(&mut self, capacity: Capacity) -> Vec<Waiter<W>> {
        self.capacity = capacity;
        self.turn_away(|waiter| waiter.places > capacity.places)
    }

    /// Lets nobody in any more; gives all who wait. Who has a place keeps it.
    pub(super) fn close(&mut self) -> Vec<Waiter<W>> {
        self.door = Door::Closed;
        self.turn_away(|_| true)
    }

    pub(super) fn capacity(&self) -> Capacity {
        self.capacity
    }

    /// Places in use.
    pub(super) fn in_use(&self) -> u32 {
        self.in_use
    }

    /// Requests that wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Every key that is here, with its places in use and its requests that wait.
    pub(super) fn keys(&self) -> impl Iterator<Item = (&K, u32, usize)> {
        self.lines.iter().map(|line| (&line.key, line.in_use, line.waiters.len()))
    }

    fn is_free(&self, places: u32) -> bool {
        places <= self.capacity.places.saturating_sub(self.in_use)
    }

    /// Whether a newcomer would be next, if it waited.
    fn goes_before_all(&self, key: &K) -> bool {
        let line = self.line(key);
        let rank = line.map_or((0, u64::MAX), Line::rank);
        self.waiting == 0
            || line.is_none_or(|line| line.waiters.is_empty())
                && self.lines.iter().all(|other| other.waiters.is_empty() || rank < other.rank())
    }

    fn seat(&mut self, key: &K, places: u32) {
        self.in_use += places;
        self.steps += 1;
        let steps = self.steps;
        let line = self.line_mut(key);
        line.in_use += places;
        line.since = steps;
    }

    /// Takes out the newest waiter of the line that has most without it, if that is no less than what
    /// the newcomer's would have.
    fn displace(&mut self, wanted: u64) -> Option<W> {
        let without_newest = |line: &mut Line<K, W>| {
            let newest = line.waiters.back()?;
            Some((line.load() - u64::from(newest.places), newest.ticket))
        };
        let lines = self.lines.iter_mut();
        let (_, greediest) = lines
            .filter_map(|line| Some((without_newest(line)?, line)))
            .filter(|((left, _), _)| *left >= wanted)
            .max_by_key(|(left, _)| *left)?;
        let displaced = greediest.waiters.pop_back()?;
        self.waiting -= 1;
        Some(displaced.told)
    }

    fn turn_away(&mut self, is_unwanted: impl Fn(&Waiter<W>) -> bool) -> Vec<Waiter<W>> {
        let mut turned_away = Vec::new();
        for line in &mut self.lines {
            let waiters = std::mem::take(&mut line.waiters).into_iter();
            let (unwanted, kept): (VecDeque<_>, VecDeque<_>) = waiters.partition(&is_unwanted);
            line.waiters = kept;
            turned_away.extend(unwanted);
        }
        self.waiting -= turned_away.len();
        self.forget_idle();
        turned_away
    }

    fn line(&self, key: &K) -> Option<&Line<K, W>> {
        self.lines.iter().find(|line| line.key == *key)
    }

    /// The line of a key, which may be new.
    fn line_mut(&mut self, key: &K) -> &mut Line<K, W> {
        let at = self.lines.iter().position(|line| line.key == *key).unwrap_or_else(|| {
            let waiters = VecDeque::new();
            self.lines.push(Line { key: key.clone(), in_use: 0, since: self.steps, waiters });
            self.lines.len() - 1
        });
        &mut self.lines[at]
    }

    /// What a line remembers is of use only while it has something: a new one ranks last.
    fn forget_idle(&mut self) {
        self.lines.retain(|line| line.in_use > 0 || !line.waiters.is_empty());
    }
}

// === impl Line ===

impl<K, W> Line<K, W> {
    /// The lowest is next. No two lines have the same step.
    fn rank(&self) -> (u32, u64) {
        (self.in_use, self.since)
    }

    /// All places that it has and wants.
    fn load(&self) -> u64 {
        let wanted = self.waiters.iter().map(|waiter| u64::from(waiter.places));
        u64::from(self.in_use) + wanted.sum::<u64>()
    }
}

#[cfg(test)]
mod tests;
