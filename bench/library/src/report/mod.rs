//! The tables, in Markdown.

pub mod goals;
pub mod growth;
pub mod speed;
pub mod splits;
pub mod structured;

use std::fmt::Write as _;

/// A table, a row at a time.
pub struct Table(String);

/// A time in nanoseconds.
pub fn time(nanoseconds: f64) -> String {
    match nanoseconds {
        time if time < 10.0 => format!("{time:.1} ns"),
        time if time < 10_000.0 => format!("{time:.0} ns"),
        time => format!("{:.0} µs", time / 1000.0),
    }
}

/// A ratio.
pub fn ratio(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.1}") } else { format!("{ratio:.0}") }
}

/// A size in bytes.
pub fn size(bytes: usize) -> String {
    if bytes >= 1 << 20 { format!("{} MiB", bytes >> 20) } else { format!("{} KiB", bytes >> 10) }
}

/// A share, with the count it is made of.
pub fn share(part: u64, whole: u64) -> String {
    match part as f64 * 100.0 / whole as f64 {
        _ if part == 0 => "0".to_owned(),
        percent if percent < 0.01 => format!("less than 0.01 % ({part})"),
        percent => format!("{percent:.2} % ({part})"),
    }
}

// === impl Table ===

impl Table {
    pub fn new(title: &str, words: &str, head: &[&str]) -> Self {
        let mut table = Self(format!("\n### {title}\n\n{words}\n\n"));
        table.row(head);
        table.row(&vec!["---"; head.len()]);
        table
    }

    pub fn row(&mut self, cells: &[impl AsRef<str>]) {
        for cell in cells {
            let _ = write!(self.0, "| {} ", cell.as_ref());
        }
        self.0.push_str("|\n");
    }

    /// A paragraph after the table.
    pub fn words(&mut self, words: &str) {
        let _ = writeln!(self.0, "\n{words}");
    }

    pub fn finish(self) -> String {
        self.0
    }
}
