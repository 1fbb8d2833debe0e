//! What the figures should be, and what they are.

use super::{Table, ratio, time};

/// What was measured of ours, as far as there is a goal for it; nanoseconds.
#[derive(Debug, Default)]
pub struct Measured {
    /// A chunk of a text block of 64 KiB.
    pub block: f64,
    /// The same of the fastest that dynamo-parsers-v2 has.
    pub dynamo: f64,
    /// A chunk at 1 MiB over one at 4 KiB, of the lowest rounds.
    pub growth: f64,
    /// All of 1 MiB, in the lowest round.
    pub megabyte: f64,
    pub borrowed: f64,
    pub from_json: f64,
    pub wrong_splits: u64,
    pub splits: u64,
}

pub fn report(measured: &Measured) -> String {
    let words = "Of the medians above; but a chunk at 1 MiB over one at 4 KiB, and 1 MiB as a whole, of the lowest \
        rounds in \"Growth of ours\".";
    let mut table = Table::new("Goals", words, &["goal", "here", ""]);
    let mut row = |goal: &str, here: String, met: bool| {
        let verdict = if met { "met" } else { "**missed**" };
        table.row(&[goal, &here, verdict]);
    };
    let Measured { block, dynamo, growth, megabyte, borrowed, from_json, .. } = *measured;
    row("64 KiB argument as a text block, a chunk of 4 bytes: ≤ 40 ns", time(block), block <= 40.0);
    let share = dynamo / block;
    row("the same: ≤ 1/10 of dynamo-parsers-v2", format!("1/{}", ratio(share)), share >= 10.0);
    row("a chunk at 1 MiB over one at 4 KiB: ≤ 1.2 ×", format!("{growth:.2} ×"), growth <= 1.2);
    row(
        "1 MiB in chunks of 4 bytes: ≤ 30 ms",
        format!("{:.1} ms", megabyte / 1e6),
        megabyte <= 30e6,
    );
    row("structured fragment, borrowed: ≤ 25 ns", time(borrowed), borrowed <= 25.0);
    row("the same from JSON text: ≤ 250 ns", time(from_json), from_json <= 250.0);
    row(
        "wrong outcomes under random splits: none",
        format!("{} of {}", measured.wrong_splits, measured.splits),
        measured.wrong_splits == 0,
    );
    table.finish()
}
