//! How much of what Codex writes to standard error is logged.
//!
//! By hand: a crate for rates says whether a line may pass, and not how many did not.

use std::time::{Duration, Instant};

/// Lines that are logged within a [`WINDOW`].
const MOST_LINES: u32 = 100;

/// From the first line to when the next ones count anew.
const WINDOW: Duration = Duration::from_secs(1);

/// What may still be logged: a child that writes without end must not fill the log.
#[derive(Debug, Default)]
pub(crate) struct LineBudget {
    /// When the present window ends, if one has begun.
    ends_at: Option<Instant>,
    /// Lines of the window that were logged, and those that were not.
    logged: u32,
    left_out: u64,
}

// === impl LineBudget ===

impl LineBudget {
    /// Whether a line that comes now is logged.
    pub(crate) fn admits(&mut self, now: Instant) -> bool {
        self.ends_at.get_or_insert(now + WINDOW);
        let admits = self.logged < MOST_LINES;
        if admits {
            self.logged += 1;
        } else {
            self.left_out += 1;
        }
        admits
    }

    /// When it has to be told that lines were left out.
    pub(crate) fn tells_at(&self) -> Option<Instant> {
        self.ends_at.filter(|_| self.left_out > 0)
    }

    /// Ends a window whose time is over; says how many of its lines were left out, if any were.
    pub(crate) fn lapse(&mut self, now: Instant) -> Option<u64> {
        if self.ends_at.is_some_and(|ends_at| ends_at <= now) { self.end() } else { None }
    }

    /// Ends the window in any case.
    pub(crate) fn end(&mut self) -> Option<u64> {
        let Self { left_out, .. } = std::mem::take(self);
        (left_out > 0).then_some(left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_has_its_lines_and_tells_of_the_others_once() {
        let mut budget = LineBudget::default();
        let begun = Instant::now();
        let admitted = |budget: &mut LineBudget, lines: u32, now| {
            (0..lines).filter(|_| budget.admits(now)).count()
        };
        assert_eq!(admitted(&mut budget, MOST_LINES, begun), MOST_LINES as usize);
        // All were logged: there is nothing to tell.
        assert_eq!((budget.tells_at(), budget.lapse(begun + WINDOW)), (None, None));

        let begun = begun + 2 * WINDOW;
        let within = begun + WINDOW / 2;
        assert_eq!(admitted(&mut budget, 1, begun), 1);
        assert_eq!(admitted(&mut budget, MOST_LINES + 6, within), MOST_LINES as usize - 1);
        assert_eq!((budget.tells_at(), budget.lapse(within)), (Some(begun + WINDOW), None));
        assert_eq!(budget.lapse(begun + WINDOW), Some(7));
        assert_eq!((budget.tells_at(), budget.lapse(begun + 2 * WINDOW)), (None, None));

        assert_eq!(admitted(&mut budget, MOST_LINES + 1, begun + 3 * WINDOW), MOST_LINES as usize);
        assert_eq!((budget.end(), budget.end()), (Some(1), None));
    }
}
