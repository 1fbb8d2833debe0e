//! What became of every request.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::client::Ended;
use crate::story::{Act, Story};

/// The manner of somebody who behaves.
pub(crate) const PROBE: &str = "probe";

/// Counts, and everything that has to be looked at in the end.
#[derive(Default)]
pub(crate) struct Tally {
    /// How often a client of this manner saw this end.
    pub(crate) ends: BTreeMap<(&'static str, String), u64>,
    /// Every request by its id.
    pub(crate) seen: HashMap<String, Seen>,
    pub(crate) failures: Vec<Failure>,
    pub(crate) violations: Vec<Violation>,
    pub(crate) probes: Vec<Probe>,
}

/// A request that a client has seen to its end.
pub(crate) struct Seen {
    /// Turns that it asked for.
    pub(crate) turns: u32,
    pub(crate) ended: Ended,
}

/// A failure, which must have a cause.
pub(crate) struct Failure {
    pub(crate) id: String,
    pub(crate) what: String,
    pub(crate) code: String,
    pub(crate) from: Instant,
    pub(crate) to: Instant,
    /// Whether the request was a large one.
    pub(crate) is_large: bool,
}

/// Something that must not happen.
#[derive(Debug)]
pub(crate) struct Violation {
    pub(crate) rule: &'static str,
    /// The id of a request, or whatever it is about.
    pub(crate) whose: String,
    pub(crate) what: String,
}

/// A question of somebody who behaves.
pub(crate) struct Probe {
    pub(crate) from: Instant,
    pub(crate) took: Duration,
    pub(crate) went_well: bool,
}

/// The tally of all clients.
#[derive(Default)]
pub(crate) struct SharedTally(Mutex<Tally>);

// === impl SharedTally ===

impl SharedTally {
    pub(crate) fn with<T>(&self, look: impl FnOnce(&mut Tally) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn into_inner(self) -> Tally {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Tally ===

impl Tally {
    /// Takes up what became of a story.
    pub(crate) fn add(
        &mut self,
        manner: &'static str,
        story: &Story,
        from: Instant,
        ended: Result<Ended, String>,
    ) {
        let ended = match ended {
            Ok(ended) => ended,
            Err(what) => {
                let what = format!("({manner}) {what}");
                self.violate("every answer is exact or an explicit failure", &story.id, what);
                return;
            }
        };
        *self.ends.entry((manner, ended.told())).or_default() += 1;
        let (turns, is_large) = match &story.act {
            Act::Ask(ask) => (ask.choices, ask.ballast > 0),
            Act::Mischief(_) | Act::Look(_) => (0, false),
        };
        let code = match &ended {
            Ended::Failed { code } | Ended::Broken { code } => Some(code.as_str()),
            Ended::Truncated { .. } => Some("truncated"),
            Ended::Whole { .. } | Ended::Refused | Ended::Left | Ended::Cut => None,
        };
        if let Some(code) = code {
            let what = match &story.act {
                Act::Mischief(mischief) => mischief.name,
                Act::Ask(_) | Act::Look(_) => manner,
            };
            self.failures.push(Failure {
                id: story.id.clone(),
                what: what.to_owned(),
                code: code.to_owned(),
                from,
                to: Instant::now(),
                is_large,
            });
        }
        self.seen.insert(story.id.clone(), Seen { turns, ended });
    }

    pub(crate) fn violate(
        &mut self,
        rule: &'static str,
        whose: impl Into<String>,
        what: impl Into<String>,
    ) {
        self.violations.push(Violation { rule, whose: whose.into(), what: what.into() });
    }

    /// How many requests there were.
    pub(crate) fn requests(&self) -> u64 {
        self.ends.values().sum()
    }
}
