//! The report, in Markdown, and its plots.

mod plots;

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::path::Path;
use std::{fs, io};

use server_bench::plot::Plot;
use server_bench::report_section;

use crate::record::Record;
use crate::series::{POINTS, Point, median, milliseconds, percentile, points};
use crate::turn::MIX;
use crate::verdict::{Judged, Ruling, judge, warm_up};

/// Rows of the table over time.
const ROWS: usize = 7;

/// Of fewer turns a 99th percentile is the slowest.
const FEWEST: usize = 100;

/// What is written about a run.
pub(crate) struct Report {
    pub(crate) markdown: String,
    pub(crate) in_a_line: String,
    /// The run came to its end, every answer was right, and nothing grew.
    pub(crate) is_well: bool,
    plots: Vec<(&'static str, Plot)>,
}

/// How many figures came out how.
struct Tally {
    flat: usize,
    rose: usize,
    grew: usize,
    open: usize,
}

/// A column of the table over time.
type Column = (&'static str, fn(&Point) -> f64, usize);

/// Writes a report.
pub(crate) fn write(record: &Record) -> Report {
    let points = points(record);
    let judged = judge(&points);
    let tally = Tally::of(&judged);
    let in_a_line = format!(
        "{} turns, {} wrong, of {} figures {tally}{}",
        record.turns.len(),
        record.wrong.len(),
        judged.len(),
        if record.end.is_some() { "" } else { "; the run was cut off" },
    );
    let mut markdown = String::new();
    let plots = plots::plots(&points);
    // A string takes everything.
    let _ = write_sections(&mut markdown, record, &points, &judged, &plots);
    let is_well = record.end.is_some()
        && record.wrong.is_empty()
        && tally.grew == 0
        && missing(record).is_empty();
    Report { markdown, in_a_line, is_well, plots }
}

/// Kinds of turns that a run has not seen: it has shown nothing about them.
fn missing(record: &Record) -> Vec<&'static str> {
    let kinds = MIX.iter().map(|(kind, _)| kind);
    kinds
        .filter(|kind| !record.turns.iter().any(|turn| turn.kind == **kind))
        .map(|kind| kind.as_str())
        .collect()
}

fn write_sections(
    text: &mut String,
    record: &Record,
    points: &[Point],
    judged: &[Judged],
    plots: &[(&'static str, Plot)],
) -> fmt::Result {
    let start = &record.start;
    writeln!(
        text,
        "`bench/soak --minutes {} --rate {} --seed {}`, {}: {}; {}; {}, with the scripted model as a process of its own.\n",
        start.time.as_secs_f64() / 60.0,
        start.rate,
        start.seed,
        start.date,
        start.machine,
        start.server,
        start.codex,
    )?;
    let minutes = record.samples.last().map_or(0.0, |sample| sample.at.as_secs_f64() / 60.0);
    writeln!(
        text,
        "**{} turns in {minutes:.0} minutes, {} wrong; of {} figures {}.**",
        record.turns.len(),
        record.wrong.len(),
        judged.len(),
        Tally::of(judged),
    )?;
    if record.end.is_none() {
        writeln!(
            text,
            "\nThe run was cut off, and so has not passed: this is what there is of it."
        )?;
    }
    for wrong in record.wrong.iter().take(10) {
        writeln!(text, "\n- wrong: {}", wrong.chars().take(300).collect::<String>())?;
    }
    for kind in missing(record) {
        writeln!(text, "\n- never seen: {kind}")?;
    }
    write_verdict(text, points, judged)?;
    for (name, plot) in plots {
        writeln!(text, "\n![{}]({name})", plot.title)?;
    }
    write_table(text, points)?;
    write_mix(text, record)
}

fn write_verdict(text: &mut String, points: &[Point], judged: &[Judged]) -> fmt::Result {
    writeln!(
        text,
        "\nAfter the first {:.0} minutes:\n\n| | first third | last third | straight line, an hour | allowed | |\n|---|---|---|---|---|---|",
        warm_up(points)
    )?;
    for Judged { name, limit, first, last, an_hour, ruling } in judged {
        writeln!(
            text,
            "| {name} | {} | {} | {an_hour:+.2} | {} | {} |",
            figure(*first, 1),
            figure(*last, 1),
            limit.told(),
            ruling.told()
        )?;
    }
    Ok(())
}

/// A few moments of the run.
fn write_table(text: &mut String, points: &[Point]) -> fmt::Result {
    let columns: [Column; 12] = [
        ("minute", |p| p.minute, 0),
        ("server MB", |p| p.server_megabytes, 1),
        ("Codex MB", |p| p.codex_megabytes, 0),
        ("descriptors", |p| p.server_files, 0),
        ("threads", |p| p.server_threads, 0),
        ("kept threads", |p| p.idle_threads + p.held_threads, 0),
        ("new chat p50 ms", |p| p.whole_p50, 1),
        ("p99 ms", |p| p.whole_p99, 0),
        ("first text p50 ms", |p| p.first_p50, 1),
        ("CPU ms a turn: server", |p| p.server_processor, 2),
        ("Codex", |p| p.codex_processor, 1),
        ("load", |p| p.load, 1),
    ];
    let names: Vec<_> = columns.iter().map(|(name, ..)| *name).collect();
    writeln!(text, "\n| {} |\n|{}", names.join(" | "), "---|".repeat(columns.len()))?;
    let apart = points.len().div_ceil(ROWS).max(1);
    for stretch in points.chunks(apart) {
        let cells = columns
            .iter()
            .map(|(_, of, digits)| figure(median(stretch.iter().map(of).collect()), *digits));
        writeln!(text, "| {} |", cells.collect::<Vec<_>>().join(" | "))?;
    }
    writeln!(
        text,
        "\nEach row is the median of a {ROWS}th of the time. A megabyte is a million bytes. Each point of p99 is of as many turns as came in a {POINTS}th of the time: of fewer than {FEWEST} it is the slowest."
    )?;
    if let Some(last) = points.last() {
        writeln!(
            text,
            "At the end the database had {:.1} MB and the log {:.1} MB: stored responses, a row and a line for each turn, which age and not the run's length bounds.",
            last.database_megabytes, last.log_megabytes
        )?;
    }
    Ok(())
}

fn write_mix(text: &mut String, record: &Record) -> fmt::Result {
    writeln!(
        text,
        "\n| turns | | p50 ms | p99 ms | fresh | reused | resumed |\n|---|---|---|---|---|---|---|"
    )?;
    for (kind, _) in MIX {
        let turns: Vec<_> = record.turns.iter().filter(|turn| turn.kind == kind).collect();
        let times: Vec<f64> = turns.iter().filter_map(|turn| turn.took).map(milliseconds).collect();
        let mut threads = BTreeMap::<&str, usize>::new();
        for turn in &turns {
            *threads.entry(&turn.continuity).or_default() += 1;
        }
        let threads = ["fresh", "reused", "resumed"]
            .map(|how| threads.get(how).map_or(String::new(), ToString::to_string));
        writeln!(
            text,
            "| {} | {} | {} | {} | {} |",
            kind.as_str(),
            turns.len(),
            figure(percentile(times.clone(), 50), 1),
            tail(times),
            threads.join(" | ")
        )?;
    }
    let late = record.turns.iter().map(|turn| milliseconds(turn.late)).collect();
    writeln!(
        text,
        "\nTurns were asked for at most {} ms after their moment, in 99 of 100 cases: what is above that is not the load's own doing.",
        figure(percentile(late, 99), 1)
    )
}

/// The slowest hundredth, if there are enough to tell.
fn tail(times: Vec<f64>) -> String {
    let is_slowest = (1..FEWEST).contains(&times.len());
    let slowest = if is_slowest { "max " } else { "" };
    slowest.to_owned() + &figure(percentile(times, 99), 0)
}

fn figure(value: f64, digits: usize) -> String {
    if value.is_finite() { format!("{value:.digits$}") } else { "—".to_owned() }
}

// === impl Tally ===

impl Tally {
    fn of(judged: &[Judged]) -> Self {
        let mut tally = Self { flat: 0, rose: 0, grew: 0, open: 0 };
        for judged in judged {
            *match judged.ruling {
                Ruling::Flat => &mut tally.flat,
                Ruling::RoseBetweenFalls { .. } => &mut tally.rose,
                Ruling::Grew => &mut tally.grew,
                Ruling::NotJudged(_) => &mut tally.open,
            } += 1;
        }
        tally
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { flat, rose, grew, open } = self;
        write!(f, "{flat} are flat, {rose} rose between falls, {grew} grew, {open} not judged")
    }
}

// === impl Report ===

impl Report {
    /// Writes the section anew, and the plots beside the file.
    pub(crate) fn put_into(&self, path: &Path) -> io::Result<()> {
        report_section::rewrite(path, "soak", &self.markdown)?;
        for (name, plot) in &self.plots {
            fs::write(path.with_file_name(name), plot.svg())?;
        }
        Ok(())
    }
}
