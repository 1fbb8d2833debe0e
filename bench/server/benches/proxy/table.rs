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
    println!("| what | median | lowest – highest | rounds | goal |\n|---|---|---|---|---|");
}

/// Prints a median, its spread, and of how many rounds they are.
pub(crate) fn row(what: impl AsRef<str>, unit: &str, figures: &Figures, goal: Goal) {
    let [median, min, max] = [figures.median(), figures.min(), figures.max()].map(written);
    let (what, goal) = (what.as_ref(), goal.written(figures.median(), unit));
    let rounds = figures.count();
    let spread = if rounds > 1 { format!("{min} – {max}") } else { String::new() };
    println!("| {what} | {median} {unit} | {spread} | {rounds} | {goal} |");
}

/// The same for a difference that varies by more than it is: its goal is judged only if every round says the
/// same, and none says that work was saved by doing more of it.
pub(crate) fn noisy_row(what: impl AsRef<str>, unit: &str, figures: &Figures, limit: f64) {
    let is_met = figures.min() >= 0.0 && figures.max() <= limit;
    if is_met || figures.min() > limit {
        return row(what, unit, figures, Goal::AtMost(limit));
    }
    let what =
        format!("{} (≤ {} {unit}: not told apart from noise)", what.as_ref(), written(limit));
    row(what, unit, figures, Goal::None);
}

/// Prints words where there is no figure.
pub(crate) fn note(what: impl AsRef<str>, words: &str) {
    println!("| {} | {words} | | | |", what.as_ref());
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
