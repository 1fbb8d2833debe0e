//! Tables of the comparison, in Markdown.

use crate::figures::Figures;
use crate::table::{Goal, written};

/// A figure that has a goal.
pub(crate) struct Aim {
    what: &'static str,
    here: f64,
    /// Of all rounds.
    lowest: f64,
    highest: f64,
    unit: &'static str,
    goal: Goal,
}

// === impl Aim ===

impl Aim {
    /// The median of the rounds.
    pub(crate) fn of(
        what: &'static str,
        rounds: &[f64],
        unit: &'static str,
        goal: Goal,
    ) -> Option<Self> {
        let rounds: Figures = (!rounds.is_empty()).then(|| rounds.iter().copied().collect())?;
        let (lowest, highest) = (rounds.min(), rounds.max());
        Some(Self { what, here: rounds.median(), lowest, highest, unit, goal })
    }

    /// The one median over the other, as they stand in the table; the spread is that of the rounds.
    pub(crate) fn ratio(
        what: &'static str,
        ours: &[f64],
        theirs: &[f64],
        goal: Goal,
    ) -> Option<Self> {
        let rounds: Vec<f64> =
            ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect();
        let medians = [ours, theirs].map(|rounds| Self::of(what, rounds, "", goal));
        let [Some(ours), Some(theirs)] = medians else { return None };
        Some(Self { here: ours.here / theirs.here, ..Self::of(what, &rounds, "×", goal)? })
    }
}

/// Prints of how many rounds the figures of a part are.
pub(crate) fn rounds(words: &str) {
    println!("Rounds: {words}.\n");
}

/// Prints the head of a table.
pub(crate) fn head(cells: &[&str]) {
    println!("| {} |", cells.join(" | "));
    println!("|{}", "---|".repeat(cells.len()));
}

/// Prints a row.
pub(crate) fn row<T: AsRef<str>>(cells: &[T]) {
    let cells: Vec<&str> = cells.iter().map(AsRef::as_ref).collect();
    println!("| {} |", cells.join(" | "));
}

/// Prints a row of `columns` cells about somebody who has no figures.
pub(crate) fn void(name: &str, reason: &str, columns: usize) {
    let reason = reason.replace('|', "\\|").replace('\n', " ");
    println!("| {name} | {reason} |{}", " |".repeat(columns.saturating_sub(2)));
}

/// A median.
pub(crate) fn median(figures: &[f64], unit: &str) -> String {
    if figures.is_empty() {
        return "–".to_owned();
    }
    format!("{} {unit}", written(figures.iter().copied().collect::<Figures>().median()))
}

/// A median with the spread of the rounds.
pub(crate) fn spread(figures: &[f64], unit: &str) -> String {
    if figures.is_empty() {
        return "–".to_owned();
    }
    let figures: Figures = figures.iter().copied().collect();
    let [median, min, max] = [figures.median(), figures.min(), figures.max()].map(written);
    format!("{median} {unit} ({min} – {max})")
}

/// Prints the goals of a part, and whether they are met. Who was not measured has none.
pub(crate) fn goals(aims: &[Option<Aim>]) {
    println!();
    head(&["goal", "here (rounds)", ""]);
    for Aim { what, here, lowest, highest, unit, goal } in aims.iter().flatten() {
        let [shown, lowest, highest] = [*here, *lowest, *highest].map(written);
        let shown = format!("{shown} {unit} ({lowest} – {highest})");
        row(&[(*what).to_owned(), shown, goal.written(*here, unit)]);
    }
}

/// Round by round, the one without the other.
pub(crate) fn differences(through: &[f64], direct: &[f64]) -> Vec<f64> {
    through.iter().zip(direct).map(|(through, direct)| through - direct).collect()
}
