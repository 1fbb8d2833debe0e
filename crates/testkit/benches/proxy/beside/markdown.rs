//! Tables of the comparison, in Markdown.

use crate::figures::Figures;
use crate::table::{Goal, written};

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

/// Prints the goals of a part, and whether they are met.
pub(crate) fn goals(goals: &[(&str, Vec<f64>, &str, Goal)]) {
    println!();
    head(&["goal", "here", ""]);
    for (what, figures, unit, goal) in goals {
        if !figures.is_empty() {
            let figures: Figures = figures.iter().copied().collect();
            let here = format!("{} {unit}", written(figures.median()));
            row(&[(*what).to_owned(), here, goal.written(figures.median(), unit)]);
        }
    }
}

/// Round by round, the one over the other.
pub(crate) fn ratios(ours: &[f64], theirs: &[f64]) -> Vec<f64> {
    ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect()
}

/// Round by round, the one without the other.
pub(crate) fn differences(through: &[f64], direct: &[f64]) -> Vec<f64> {
    through.iter().zip(direct).map(|(through, direct)| through - direct).collect()
}
