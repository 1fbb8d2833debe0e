//! Figures beside their goals, as Markdown.

use crate::figures::Figures;

/// What a figure should be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Goal {
    None,
    AtMost(f64),
    AtLeast(f64),
}

/// Prints the head of the table. Rows follow as they are measured: the whole run takes minutes.
pub(crate) fn head() {
    println!("| what | median | rounds | goal |\n|---|---|---|---|");
}

/// Prints a median and its spread.
pub(crate) fn row(what: impl AsRef<str>, unit: &str, figures: &Figures, goal: Goal) {
    let [median, min, max] = [figures.median(), figures.min(), figures.max()].map(written);
    let (what, goal) = (what.as_ref(), goal.written(figures.median(), unit));
    println!("| {what} | {median} {unit} | {min} – {max} | {goal} |");
}

/// Prints words where there is no figure.
pub(crate) fn note(what: impl AsRef<str>, words: &str) {
    println!("| {} | {words} | | |", what.as_ref());
}

// === impl Goal ===

impl Goal {
    pub(crate) fn written(self, figure: f64, unit: &str) -> String {
        let (sign, limit, met) = match self {
            Self::None => return String::new(),
            Self::AtMost(limit) => ("≤", limit, figure <= limit),
            Self::AtLeast(limit) => ("≥", limit, figure >= limit),
        };
        let verdict = if met { "met" } else { "**missed**" };
        format!("{sign} {} {unit}: {verdict}", written(limit))
    }
}

/// With as many digits as mean something.
pub(crate) fn written(figure: f64) -> String {
    match figure.abs() {
        0.0..10.0 => format!("{figure:.2}"),
        10.0..100.0 => format!("{figure:.1}"),
        _ => format!("{figure:.0}"),
    }
}
