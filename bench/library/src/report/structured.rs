//! The same argument as structured increments.

use super::goals::Measured;
use super::{Table, ratio, time};
use crate::inputs::{Content, call, chunks};
use crate::measure::{Run, interleave};
use crate::options::Options;
use crate::structured::{self, Events};

pub fn report(options: &Options, measured: &mut Measured) -> String {
    let arguments = call(Content::Prose, 64 << 10).text;
    let fragments = chunks(&arguments);
    let events = Events::new(&fragments);
    let words = "64 KiB of arguments in fragments of 4 bytes. The floor is `String::push_str` of the same \
        fragments.";
    let head = ["way in", "a fragment", "lowest–highest", "× floor", "rounds"];
    let mut table = Table::new("Structured increments", words, &head);
    let mut runs: Vec<Run<'_>> = vec![
        Box::new(|| structured::floor(&fragments)),
        Box::new(|| structured::borrowed(&fragments)),
        Box::new(|| structured::json(&events)),
        Box::new(|| structured::values(&events)),
        Box::new(|| structured::parsing(&events)),
    ];
    let times = interleave(&mut runs, options.effort);
    let labels = [
        "floor",
        "ours, borrowed",
        "ours, JSON text of `response.function_call_arguments.delta`",
        "ours, the same parsed into a `Value` first",
        "of that: `serde_json` alone",
    ];
    measured.borrowed = times[1].each(fragments.len()).median();
    measured.from_json = times[2].each(fragments.len()).median();
    let floor = times[0].each(fragments.len()).median();
    for (label, times) in labels.iter().zip(&times) {
        let times = times.each(fragments.len());
        let (low, high) = times.range();
        table.row(&[
            (*label).to_owned(),
            time(times.median()),
            format!("{}–{}", time(low), time(high)),
            ratio(times.median() / floor),
            times.rounds().to_string(),
        ]);
    }
    table.finish()
}
