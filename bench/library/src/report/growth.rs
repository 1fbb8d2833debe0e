//! Whether a chunk costs more the longer the call already is.

use std::time::Duration;

use super::goals::Measured;
use super::{self as report, Table};
use crate::contender::{Contender, all};
use crate::corpus::Pattern;
use crate::format::Format;
use crate::inputs::{self, Content, Stream, chunks};
use crate::measure::{Run, interleave, slope};
use crate::options::Options;
use crate::reader::time;
use crate::{ours, structured};

/// The input that has a goal.
const BLOCK: &str = "text block";

const SIZES: [usize; 3] = [4 << 10, 64 << 10, 1 << 20];

pub fn report(options: &Options, measured: &mut Measured) -> String {
    let limit = options.longest_run.as_secs();
    let rounds = options.effort.rounds;
    let words = format!(
        "Time for a chunk of 4 bytes; prose. Medians of {rounds} rounds, fewer where they would take more than {} s \
         together. \"–\": one run would take more than {limit} s.",
        options.effort.limit.as_secs()
    );
    let mut table = Table::new("Growth", &words, &["parser", "format", "4 KiB", "64 KiB", "1 MiB"]);
    for contender in all() {
        let mut cells = vec![contender.label().to_owned(), contender.format().label().to_owned()];
        cells.extend(row(contender.as_ref(), options));
        table.row(&cells);
    }
    table.finish() + &slopes(options, measured)
}

fn row(contender: &dyn Contender, options: &Options) -> Vec<String> {
    // Each size is foretold from those before it, and these begin with two small ones.
    let mut known: Vec<(f64, f64)> = Vec::new();
    let mut cells = Vec::new();
    for bytes in [1 << 10, 2 << 10].into_iter().chain(SIZES) {
        let time = (foretold(&known, bytes) < options.longest_run.as_secs_f64() * 1e9).then(|| {
            let stream = Stream::new(contender.format(), Content::Prose, bytes);
            let chunks = stream.chunks();
            let mut runs: [Run<'_>; 1] = [Box::new(|| contender.time(&stream.tools, &chunks))];
            let times = interleave(&mut runs, options.effort);
            known.push((bytes as f64, times[0].median()));
            times[0].each(chunks.len()).median()
        });
        if SIZES.contains(&bytes) {
            cells.push(time.map_or_else(|| "–".to_owned(), report::time));
        }
    }
    cells
}

/// The time a size will take, if it grows as it did between the last two.
fn foretold(known: &[(f64, f64)], bytes: usize) -> f64 {
    let [.., before, last] = known else { return 0.0 };
    last.1 * (bytes as f64 / last.0).powf(slope(&[*before, *last]).max(1.0))
}

/// Ours at every power of two.
fn slopes(options: &Options, measured: &mut Measured) -> String {
    let words = format!(
        "Ours from 1 KiB to 1 MiB, powers of two: the slope of the whole time over the size, both logarithmic. 1 is \
         linear, 2 quadratic. The lowest of {} rounds: a busy machine only adds.",
        options.effort.rounds
    );
    let mut table =
        Table::new("Growth of ours", &words, &["input", "slope", "a chunk, 1 KiB … 1 MiB"]);
    let prose = |bytes| inputs::text(Content::Prose, bytes);
    let block = |bytes| Stream::new(Format::UseTool, Content::Prose, bytes).text;
    let mut row = |label: &str, text: &dyn Fn(usize) -> String, time: Timer| {
        let texts: Vec<String> = (10..=20).map(|power| text(1 << power)).collect();
        let cut: Vec<Vec<&str>> = texts.iter().map(|text| chunks(text)).collect();
        // All sizes in turn, so that a slow moment bends no part of the line.
        let mut runs: Vec<Run<'_>> =
            cut.iter().map(|chunks| -> Run<'_> { Box::new(|| time(chunks)) }).collect();
        let times = interleave(&mut runs, options.effort);
        let whole =
            texts.iter().zip(&times).map(|(text, times)| (text.len() as f64, times.lowest()));
        let each =
            cut.iter().zip(&times).map(|(cut, times)| report::time(times.each(cut.len()).lowest()));
        table.row(&[
            label.to_owned(),
            format!("{:.3}", slope(&whole.collect::<Vec<_>>())),
            each.collect::<Vec<_>>().join(", "),
        ]);
        if label == BLOCK {
            // 4 KiB is the third power of two, 1 MiB the last.
            let chunk = |place: usize| times[place].each(cut[place].len()).lowest();
            let last = times.len() - 1;
            measured.growth = chunk(last) / chunk(2);
            measured.megabyte = times[last].lowest();
        }
    };
    row(BLOCK, &block, time_text);
    row("plain text", &prose, time_text);
    row("structured increments, borrowed", &prose, structured::borrowed);
    table.finish()
}

/// Times all chunks of one stream.
type Timer = fn(&[&str]) -> Duration;

/// Both formats are looked for, as a server would.
fn time_text(chunks: &[&str]) -> Duration {
    time(ours::Text::new(Pattern::Both), chunks)
}
