//! What can happen to a log, and lines in it that are not about the turn.

use proptest::prelude::*;
use proptest::sample::Index;

use super::super::TURN;
use super::turns::{Ids, THREAD, Turn};
use crate::child_log::written;

/// The thread of another turn that runs at the same time.
pub(super) const LIVE_THREAD: &str = "thread-2";

/// The call of the response before, in a turn that was resumed.
pub(super) const OLD_CALL: &str = "call_old";

#[derive(Debug, Clone)]
pub(super) enum Damage {
    Lose(Index),
    Double {
        from: Index,
        to: Index,
    },
    Move {
        from: Index,
        to: Index,
    },
    Cut {
        line: Index,
        at: Index,
    },
    Change {
        line: Index,
        at: Index,
        byte: u8,
    },
    /// The lines of another call, in their order.
    Foreign {
        origin: Origin,
        ids: Ids,
        at: [Index; 5],
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// Of a turn that runs at the same time.
    Live,
    /// Of a turn that is not known.
    Unknown,
    /// Of the turn before in the same thread.
    EarlierTurn,
    /// Of the response before in the same turn.
    EarlierResponse,
}

impl Damage {
    /// Whether it has lines of the same turn.
    pub(super) fn is_of_turn(&self) -> bool {
        matches!(self, Self::Foreign { origin: Origin::EarlierResponse, .. })
    }
}

pub(super) fn damage() -> impl Strategy<Value = Damage> {
    let index = any::<Index>;
    let origin = prop_oneof![
        Just(Origin::Live),
        Just(Origin::Unknown),
        Just(Origin::EarlierTurn),
        Just(Origin::EarlierResponse),
    ];
    let ids = prop_oneof![Just(Ids::Unique), Just(Ids::Counted)];
    prop_oneof![
        3 => index().prop_map(Damage::Lose),
        3 => (index(), index()).prop_map(|(from, to)| Damage::Double { from, to }),
        3 => (index(), index()).prop_map(|(from, to)| Damage::Move { from, to }),
        2 => (index(), index()).prop_map(|(line, at)| Damage::Cut { line, at }),
        1 => (index(), index(), any::<u8>())
            .prop_map(|(line, at, byte)| Damage::Change { line, at, byte }),
        3 => (origin, ids, any::<[Index; 5]>())
            .prop_map(|(origin, ids, at)| Damage::Foreign { origin, ids, at }),
    ]
}

/// The log after what happened to it.
pub(super) fn damaged(turn: &Turn, mut lines: Vec<Vec<u8>>, damage: &[Damage]) -> Vec<Vec<u8>> {
    for damage in damage {
        match damage {
            Damage::Lose(line) => {
                lines.remove(line.index(lines.len()));
            }
            Damage::Double { from, to } => {
                let line = lines[from.index(lines.len())].clone();
                lines.insert(to.index(lines.len() + 1), line);
            }
            Damage::Move { from, to } => {
                let line = lines.remove(from.index(lines.len()));
                lines.insert(to.index(lines.len() + 1), line);
            }
            Damage::Cut { line, at } => {
                let line = line.index(lines.len());
                let at = at.index(lines[line].len() + 1);
                lines[line].truncate(at);
            }
            Damage::Change { line, at, byte } => {
                let line = line.index(lines.len());
                if !lines[line].is_empty() {
                    let at = at.index(lines[line].len());
                    lines[line][at] = *byte;
                }
            }
            Damage::Foreign { origin, ids, at } => {
                let mut places = at.map(|at| at.index(lines.len() + 1));
                places.sort_unstable();
                let foreign = foreign(*origin, *ids, turn.is_numbered);
                // From the end, so that the places before stay the same.
                for (place, line) in places.into_iter().zip(foreign).rev() {
                    lines.insert(place, line.into_bytes());
                }
            }
        }
        if lines.is_empty() {
            lines.push(Vec::new());
        }
    }
    lines
}

fn foreign(origin: Origin, ids: Ids, is_numbered: bool) -> [String; 5] {
    let (thread, turn, call_id) = match origin {
        Origin::Live => (LIVE_THREAD, "turn-2", "call_foreign"),
        Origin::Unknown => ("thread-3", "turn-3", "call_foreign"),
        Origin::EarlierTurn => (THREAD, "turn-0", "call_foreign"),
        Origin::EarlierResponse => (THREAD, TURN, OLD_CALL),
    };
    let item_id = match ids {
        Ids::Unique => &format!("fc_{thread}_{turn}_{call_id}"),
        Ids::Counted => "item_0",
    };
    let number = |number| is_numbered.then_some(number);
    let delta = |at, text| written::delta(number(at), 0, item_id, text);
    [
        written::added(number(1), 0, item_id, [call_id, "f"]),
        delta(2, "F"),
        written::owner("function_call", item_id, thread, turn),
        delta(3, "FF"),
        delta(4, "FFF"),
    ]
}

/// Whether two calls that are not of the turn have one id.
pub(super) fn others_share_an_id(damage: &[Damage]) -> bool {
    let is_counted = |damage: &&Damage| matches!(damage, Damage::Foreign { ids: Ids::Counted, .. });
    damage.iter().filter(is_counted).count() > 1
}

/// Whether the turn may fail for what happened to the log: where nothing shows that a line is missing,
/// or is another's.
pub(super) fn may_fail(turn: &Turn, damage: &[Damage]) -> bool {
    let is_changed = damage.iter().any(|damage| matches!(damage, Damage::Change { .. }));
    let is_incomplete = damage.iter().any(|damage| !matches!(damage, Damage::Foreign { .. }));
    let shares_ids = |damage: &Damage| {
        turn.ids == Ids::Counted && matches!(damage, Damage::Foreign { ids: Ids::Counted, .. })
    };
    let is_late = |damage: &Damage| {
        matches!(damage, Damage::Foreign { origin: Origin::EarlierTurn, .. }) && shares_ids(damage)
    };
    is_changed
        // Lines of a try may be anywhere.
        || turn.first.is_some() && !damage.is_empty()
        || is_incomplete && !turn.is_numbered
        || is_incomplete && damage.iter().any(shares_ids)
        || damage.iter().any(is_late)
}
