//! Things that are kept for their owners, within bounds, each of which is taken at most once.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use super::transcript::Fingerprint;
use super::{ContinuityLimits, FreshReason};

/// Of how many that are gone it is known why.
const REMEMBERED: usize = 4_096;

/// What is kept, by the conversation that it belongs to.
#[derive(Debug)]
pub(super) struct Shelf<T> {
    limits: ContinuityLimits,
    places: HashMap<Fingerprint, Place<T>>,
    /// The oldest first.
    order: BTreeMap<Age, Fingerprint>,
    owners: HashMap<Arc<str>, Share>,
    bytes: usize,
    next_age: Age,
    gone: Gone,
}

/// What an owner has here.
#[derive(Debug, Clone, Copy, Default)]
struct Share {
    things: usize,
    bytes: usize,
}

/// What becomes of a thing that somebody asks for.
pub(super) enum Verdict<R> {
    /// It is taken.
    Take(R),
    /// It is not, and stays.
    Leave(FreshReason),
    /// It is good for nothing any more.
    Drop(FreshReason),
}

/// What came of asking for a thing.
pub(super) enum Taken<T, R> {
    Found(T, R),
    /// It is not to be had; what is good for nothing any more is given back.
    Not(FreshReason, Option<T>),
}

/// How long ago something was put here, compared with others.
type Age = u64;

#[derive(Debug)]
struct Place<T> {
    thing: T,
    owner: Arc<str>,
    bytes: usize,
    age: Age,
    since: Instant,
}

/// Why things are not here any more, those that left last.
#[derive(Debug, Default)]
struct Gone {
    why: HashMap<Fingerprint, FreshReason>,
    order: VecDeque<Fingerprint>,
}

// === impl Shelf ===

impl<T> Shelf<T> {
    pub(super) fn new(limits: ContinuityLimits) -> Self {
        Self {
            limits,
            places: HashMap::new(),
            order: BTreeMap::new(),
            owners: HashMap::new(),
            bytes: 0,
            next_age: 0,
            gone: Gone::default(),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn things(&self) -> impl Iterator<Item = &T> {
        self.places.values().map(|place| &place.thing)
    }

    /// Puts a thing here, and gives back what has to go for it; which may be the thing itself.
    pub(super) fn put(
        &mut self,
        fingerprint: Fingerprint,
        owner: Arc<str>,
        bytes: usize,
        thing: T,
        now: Instant,
    ) -> Vec<T> {
        if bytes > self.limits.max_bytes {
            self.gone.remember(fingerprint, FreshReason::Evicted);
            return vec![thing];
        }
        let mut going: Vec<_> =
            self.remove(fingerprint, FreshReason::Evicted).into_iter().collect();
        let age = self.next_age;
        self.next_age += 1;
        let share = self.owners.entry(Arc::clone(&owner)).or_default();
        share.things += 1;
        share.bytes += bytes;
        self.bytes += bytes;
        self.order.insert(age, fingerprint);
        self.places.insert(fingerprint, Place { thing, owner, bytes, age, since: now });
        self.gone.forget(fingerprint);
        while self.places.len() > self.limits.max_threads {
            let Some(oldest) = self.oldest_of_the_greediest(|share| share.things) else { break };
            going.extend(self.remove(oldest, FreshReason::Evicted));
        }
        while self.bytes > self.limits.max_bytes {
            let Some(oldest) = self.oldest_of_the_greediest(|share| share.bytes) else { break };
            going.extend(self.remove(oldest, FreshReason::Evicted));
        }
        going
    }

    /// Takes a thing, if it is here and good for what it is wanted for. `None` if nothing is known of
    /// it at all.
    pub(super) fn take<R>(
        &mut self,
        fingerprint: Fingerprint,
        judge: impl FnOnce(&T) -> Verdict<R>,
    ) -> Option<Taken<T, R>> {
        let Some(place) = self.places.get(&fingerprint) else {
            return Some(Taken::Not(self.gone.why(fingerprint)?, None));
        };
        Some(match judge(&place.thing) {
            Verdict::Take(found) => {
                Taken::Found(self.remove(fingerprint, FreshReason::Taken)?, found)
            }
            Verdict::Leave(why) => Taken::Not(why, None),
            Verdict::Drop(why) => Taken::Not(why, self.remove(fingerprint, why)),
        })
    }

    /// Gives back what was kept for its time.
    pub(super) fn expire(&mut self, now: Instant) -> Vec<T> {
        let mut going = Vec::new();
        while let Some((_, oldest)) = self.order.first_key_value()
            && self.expiry_of(*oldest).is_some_and(|expiry| expiry <= now)
        {
            going.extend(self.remove(*oldest, FreshReason::Expired));
        }
        going
    }

    /// When [`Self::expire`] finds something.
    pub(super) fn next_expiry(&self) -> Option<Instant> {
        self.expiry_of(*self.order.first_key_value()?.1)
    }

    /// Gives back what is not wanted any more.
    pub(super) fn remove_where(
        &mut self,
        unwanted: impl Fn(&T) -> bool,
        why: FreshReason,
    ) -> Vec<T> {
        self.remove_places(|place| unwanted(&place.thing), why)
    }

    /// The same of one owner's.
    pub(super) fn remove_of(
        &mut self,
        owner: &str,
        unwanted: impl Fn(&T) -> bool,
        why: FreshReason,
    ) -> Vec<T> {
        self.remove_places(|place| *place.owner == *owner && unwanted(&place.thing), why)
    }

    fn remove_places(&mut self, unwanted: impl Fn(&Place<T>) -> bool, why: FreshReason) -> Vec<T> {
        let places = self.places.iter().filter(|(_, place)| unwanted(place));
        let fingerprints: Vec<_> = places.map(|(fingerprint, _)| *fingerprint).collect();
        fingerprints.into_iter().filter_map(|fingerprint| self.remove(fingerprint, why)).collect()
    }

    fn expiry_of(&self, fingerprint: Fingerprint) -> Option<Instant> {
        self.places.get(&fingerprint)?.since.checked_add(self.limits.max_age)
    }

    /// Whoever has most makes room, so that nobody can push out everybody else.
    fn oldest_of_the_greediest(&self, much: impl Fn(&Share) -> usize) -> Option<Fingerprint> {
        let most = self.owners.values().map(&much).max()?;
        let is_greedy = |fingerprint: &&Fingerprint| {
            let place = self.places.get(*fingerprint);
            let share = place.and_then(|place| self.owners.get(&place.owner));
            share.is_some_and(|share| much(share) == most)
        };
        self.order.values().find(is_greedy).copied()
    }

    fn remove(&mut self, fingerprint: Fingerprint, why: FreshReason) -> Option<T> {
        let place = self.places.remove(&fingerprint)?;
        self.order.remove(&place.age);
        self.bytes -= place.bytes;
        if let Some(share) = self.owners.get_mut(&place.owner) {
            share.things -= 1;
            share.bytes -= place.bytes;
            if share.things == 0 {
                self.owners.remove(&place.owner);
            }
        }
        self.gone.remember(fingerprint, why);
        Some(place.thing)
    }
}

// === impl Gone ===

impl Gone {
    fn why(&self, fingerprint: Fingerprint) -> Option<FreshReason> {
        self.why.get(&fingerprint).copied()
    }

    fn remember(&mut self, fingerprint: Fingerprint, why: FreshReason) {
        if self.why.insert(fingerprint, why).is_none() {
            self.order.push_back(fingerprint);
        }
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.why.remove(&oldest);
        }
    }

    fn forget(&mut self, fingerprint: Fingerprint) {
        if self.why.remove(&fingerprint).is_some() {
            self.order.retain(|other| *other != fingerprint);
        }
    }
}

#[cfg(test)]
mod tests;
