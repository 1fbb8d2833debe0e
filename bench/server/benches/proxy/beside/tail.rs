//! The slowest hundredth of each round, where there are enough to tell.

use crate::figures::Figures;
use crate::table::written;

use super::markdown::{differences, median};

/// 99th percentiles, round by round.
#[derive(Debug, Default, Clone)]
pub(crate) struct Tail {
    rounds: Vec<f64>,
    /// A round had too few values, so that its 99th percentile is its highest.
    is_highest: bool,
}

// === impl Tail ===

impl Tail {
    /// Adds a round.
    pub(crate) fn push(&mut self, values: &Figures) {
        self.is_highest |= !values.has_tail();
        self.rounds.push(values.percentile(99));
    }

    pub(crate) fn median(&self) -> f64 {
        self.rounds.iter().copied().collect::<Figures>().median()
    }

    /// The median of the rounds, called what it is.
    pub(crate) fn written(&self, unit: &str) -> String {
        match self.rounds.as_slice() {
            [] => "–".to_owned(),
            _ if self.is_highest => format!("max {} {unit}", written(self.median())),
            _ => format!("{} {unit}", written(self.median())),
        }
    }

    /// The median of what it is more than `direct`, round by round. The highest of some values and a
    /// percentile of others cannot be compared, nor can two highest.
    pub(crate) fn added_to(&self, direct: &Self, unit: &str) -> String {
        if self.is_highest || direct.is_highest {
            return "–".to_owned();
        }
        median(&differences(&self.rounds, &direct.rounds), unit)
    }
}
