//! One long call: the time of each chunk.

use super::goals::Measured;
use super::{Table, ratio, size, time};
use crate::chart::{self, Bar, Colour, Group};
use crate::contender::{Contender, all};
use crate::inputs::{Content, Stream};
use crate::measure::{Effort, Run, Times, interleave};
use crate::options::Options;

const SIZE: usize = 64 << 10;

/// One contender with its own input.
struct Entry {
    contender: Box<dyn Contender>,
    stream: Stream,
    size: usize,
}

/// The table, and its chart.
pub fn report(options: &Options, measured: &mut Measured) -> (String, String) {
    let words = "One call whose argument is a string of 64 KiB, in chunks of 4 bytes. The same process, the \
        rounds interleaved; making the parser is not timed. The ratio is to ours in `<use_tool>`.";
    let head = [
        "parser",
        "format",
        "string of",
        "argument",
        "a chunk",
        "lowest–highest",
        "× ours",
        "rounds",
    ];
    let mut table = Table::new("Time", words, &head);
    let mut groups = Vec::new();
    for content in [Content::Prose, Content::ManyLt] {
        let entries: Vec<Entry> =
            all().into_iter().map(|contender| Entry::new(contender, content, options)).collect();
        let times = times(&entries, options.effort);
        let ours = times[0].median();
        let mut bars = Vec::new();
        for (entry, times) in entries.iter().zip(&times) {
            let (low, high) = times.range();
            bars.push(entry.bar(times.median()));
            if content == Content::Prose && entry.is_dynamo() {
                let fastest = if measured.dynamo > 0.0 { measured.dynamo } else { f64::MAX };
                measured.dynamo = times.median().min(fastest);
            }
            table.row(&[
                entry.contender.label().to_owned(),
                entry.contender.format().label().to_owned(),
                content.label().to_owned(),
                size(entry.size),
                time(times.median()),
                format!("{}–{}", time(low), time(high)),
                ratio(times.median() / ours),
                times.rounds().to_string(),
            ]);
        }
        if content == Content::Prose {
            measured.block = ours;
        }
        groups.push(Group { title: format!("String of {}", content.label()), bars });
    }
    let title = "A call of 64 KiB in chunks of 4 bytes: a chunk";
    (table.finish(), chart::bars(title, "ns", &groups))
}

/// Nanoseconds a chunk.
fn times(entries: &[Entry], effort: Effort) -> Vec<Times> {
    let chunks: Vec<Vec<&str>> = entries.iter().map(|entry| entry.stream.chunks()).collect();
    let mut runs: Vec<Run<'_>> = entries
        .iter()
        .zip(&chunks)
        .map(|(entry, chunks)| -> Run<'_> {
            Box::new(|| entry.contender.time(&entry.stream.tools, chunks))
        })
        .collect();
    let times = interleave(&mut runs, effort);
    times.iter().zip(&chunks).map(|(times, chunks)| times.each(chunks.len())).collect()
}

// === impl Entry ===

impl Entry {
    /// The input is halved until one run is short enough.
    fn new(contender: Box<dyn Contender>, content: Content, options: &Options) -> Self {
        let small = Stream::new(contender.format(), content, SIZE / 16);
        let outcome = contender.read(&small.tools, &small.chunks());
        assert!(small.is_right(&outcome), "{} reads the call", contender.label());
        let small = contender.time(&small.tools, &small.chunks());
        let mut size = SIZE;
        // The worst is assumed: that it is quadratic.
        while small * u32::try_from((size * 16 / SIZE).pow(2)).unwrap_or(u32::MAX)
            > options.longest_run
        {
            size /= 2;
        }
        let stream = Stream::new(contender.format(), content, size);
        Self { contender, stream, size }
    }

    fn is_dynamo(&self) -> bool {
        self.contender.label().starts_with("dynamo")
    }

    fn bar(&self, value: f64) -> Bar {
        let colour = match self.contender.label() {
            _ if self.contender.ours() => Colour::Ours,
            _ if self.is_dynamo() => Colour::First,
            _ => Colour::Second,
        };
        // The names have no room for more than one of both.
        let label = if self.contender.ours() {
            format!(
                "ours, {}",
                self.contender.format().label().split([' ', ',']).next().unwrap_or_default()
            )
        } else {
            self.contender.label().to_owned()
        };
        let label = label.replace('`', "").replace("-parsers-v2", "");
        Bar { label, value, text: time(value), colour }
    }
}
