//! Answers that come slowly: a word every 20 ms, on one stream and on many.

use std::time::Duration;

use server_bench::chart::{self, Bar, Colour, Group};

use crate::case::{Case, Delivery, PAUSE};
use crate::figures::{Figures, micros};
use crate::processor::Cores;
use crate::table::written;

use super::Setting;
use super::contender::{Contender, Field};
use super::markdown::{self, differences, median, spread};
use super::pipes::Pipes;
use super::tail::Tail;
use super::volley::{Seen, Spell, Volley};

const WORDS: usize = 64;
const STREAMS: [usize; 2] = [1, 64];

/// Streams that are held at once.
const HELD: [usize; 4] = [100, 250, 500, 1_000];

/// Words of each, so that the last has begun long before the first ends.
const HELD_WORDS: usize = 128;

/// In which they begin.
const HELD_START: Duration = Duration::from_secs(1);

/// Whoever is so late with a word does not hold them, in milliseconds.
const LATE: f64 = 1_000.0;

const COLUMNS: [&str; 9] = [
    "streams",
    "",
    "first word p50",
    "p99",
    "added p50 (rounds)",
    "between words p50",
    "p99",
    "off 20 ms, p50",
    "p99",
];

/// One way with so many streams.
#[derive(Debug, Default)]
struct Tally {
    /// Microseconds to the first word, round by round: half of the streams, and nearly all.
    first: Vec<f64>,
    first_tail: Tail,
    /// Microseconds between two words, of all rounds.
    gaps: Vec<f64>,
    /// Microseconds of processor time for a thousand words, round by round.
    per_thousand: Vec<f64>,
    void: Option<String>,
}

pub(super) fn measure(setting: Setting<'_>) {
    Cores::All.pin();
    let field = setting.field(&Case::text(1, Delivery::Whole));
    steady(setting, &field);
    held(setting, &field);
}

fn steady(setting: Setting<'_>, field: &Field) {
    let case = [Case::paced(WORDS)];
    let mut pipes = Pipes::start(setting.runtime, &case, STREAMS[1]);
    let mut direct: [[Tally; 2]; 2] = Default::default();
    let mut contenders: Vec<[Tally; 2]> =
        field.contenders.iter().map(|_| Default::default()).collect();
    for _ in 0..setting.effort.rounds {
        for (place, clients) in STREAMS.into_iter().enumerate() {
            let stagger = PAUSE / u32::try_from(clients).unwrap_or(1);
            let volley = Volley { stagger, ..Volley::new(&case[0], clients, Spell::Once) };
            let fly = |endpoint| Ok(volley.fly(setting.runtime, endpoint)?.0);
            direct[place][0].add(Ok(pipes.fly(&volley, 0)), 0.0);
            direct[place][1].add(fly(&field.mock.endpoint), 0.0);
            for (contender, tallies) in field.contenders.iter().zip(&mut contenders) {
                if tallies[place].void.is_none() {
                    let before = contender.processor_time();
                    let seen = fly(contender.endpoint());
                    tallies[place].add(seen, contender.processor_time() - before);
                }
            }
        }
    }
    markdown::rounds(&format!("{}, and one of each number of streams held", setting.effort.rounds));
    markdown::head(&COLUMNS);
    for (place, streams) in STREAMS.into_iter().enumerate() {
        let streams = streams.to_string();
        let [pipes, mock] = &direct[place];
        for (contender, tallies) in field.contenders.iter().zip(&contenders) {
            let is_ours = contender.colour() == Colour::Ours;
            let direct = if is_ours { pipes } else { mock };
            tallies[place].print(&streams, contender.name(), Some(direct));
        }
        pipes.print(&streams, "*direct, pipes*", None);
        mock.print(&streams, "*direct, HTTP mock*", None);
    }
    println!();
    markdown::head(&["", "CPU per 1,000 frames, 64 streams (rounds)"]);
    let mut bars = Vec::new();
    for (contender, [_, many]) in field.contenders.iter().zip(&contenders) {
        if let Some(reason) = &many.void {
            markdown::void(contender.name(), reason, 2);
            continue;
        }
        let milliseconds: Vec<f64> = many.per_thousand.iter().map(|us| us / 1e3).collect();
        let words = spread(&milliseconds, "ms");
        markdown::row(&[contender.name(), &words]);
        let value = milliseconds.iter().copied().collect::<Figures>().median();
        let (label, colour) = (contender.name().to_owned(), contender.colour());
        bars.push(Bar { label, value, text: format!("{} ms", written(value)), colour });
    }
    for (name, reason) in &field.absent {
        markdown::void(name, reason, 2);
    }
    let title = "CPU per 1,000 frames, 64 streams, a word every 20 ms";
    let svg = chart::bars(title, "ms", &[Group { title: String::new(), bars }]);
    setting.chart("frames", title, &svg);
}

/// How many streams can be open at once, every word of each there and in time.
fn held(setting: Setting<'_>, field: &Field) {
    println!();
    let mut columns = vec![String::new()];
    columns.extend(HELD.map(|streams| format!("{streams} streams")));
    markdown::head(&columns.iter().map(String::as_str).collect::<Vec<_>>());
    let case = Case::paced(HELD_WORDS);
    let mut rows: Vec<Vec<String>> =
        field.contenders.iter().map(|contender| vec![contender.name().to_owned()]).collect();
    let mut gave_up = vec![false; rows.len()];
    for streams in HELD {
        let stagger = HELD_START / u32::try_from(streams).unwrap_or(1);
        let volley = Volley { stagger, ..Volley::new(&case, streams, Spell::Once) };
        let everybody = field.contenders.iter().zip(&mut rows).zip(&mut gave_up);
        for ((contender, row), gave_up) in everybody {
            if *gave_up {
                row.push("not tried".to_owned());
                continue;
            }
            let (words, holds) = hold(setting, contender, &volley);
            row.push(words);
            *gave_up = !holds;
        }
    }
    for row in &rows {
        markdown::row(row);
    }
}

/// What is to be said of so many streams, and whether they were held.
fn hold(setting: Setting<'_>, contender: &Contender, volley: &Volley<'_>) -> (String, bool) {
    let before = contender.processor_time();
    match volley.fly(setting.runtime, contender.endpoint()) {
        Err(reason) => (format!("**lost**: {}", reason.replace('|', "\\|")), false),
        Ok((seen, time)) => {
            let used = (contender.processor_time() - before) / 1e6 / time.as_secs_f64();
            let first: Figures =
                seen.iter().filter_map(|seen| seen.words.first().copied()).collect();
            let late: Figures = seen.iter().flat_map(lateness).collect();
            let told = |figures: &Figures| {
                let [half, tail] = [50, 99].map(|percent| figures.percentile(percent) / 1_000.0);
                format!("p50 {} ms, p99 {} ms", written(half), written(tail))
            };
            let holds = late.percentile(99) / 1_000.0 < LATE;
            let verdict = if holds { "all" } else { "all, **too late**" };
            let (first, late) = (told(&first), told(&late));
            (format!("{verdict}; first word {first}; late {late}; {used:.2} cores"), holds)
        }
    }
}

/// How much later than in its time each word came; in microseconds. The first is due with the request, and
/// every other a pause later: whoever keeps them all back and gives them at once is late with each.
fn lateness(seen: &Seen) -> impl Iterator<Item = f64> + '_ {
    let due = (0_u32..).map(|place| micros(PAUSE * place));
    seen.words.iter().zip(due).map(|(at, due)| (at - due).max(0.0))
}

// === impl Tally ===

impl Tally {
    fn add(&mut self, seen: Result<Vec<Seen>, String>, processor: f64) {
        match seen {
            Err(reason) => self.void = Some(reason),
            Ok(seen) => {
                let firsts = seen.iter().filter_map(|seen| seen.words.first().copied());
                let firsts: Figures = firsts.collect();
                self.first.push(firsts.percentile(50));
                self.first_tail.push(&firsts);
                let pairs = seen.iter().flat_map(|seen| seen.words.windows(2));
                self.gaps.extend(pairs.map(|pair| pair[1] - pair[0]));
                #[allow(clippy::cast_precision_loss, reason = "some thousand words")]
                let words = (seen.len() * WORDS) as f64;
                self.per_thousand.push(processor / words * 1_000.0);
            }
        }
    }

    fn print(&self, streams: &str, name: &str, direct: Option<&Self>) {
        if let Some(reason) = &self.void {
            let reason = reason.replace('|', "\\|");
            return markdown::row(&[streams, name, &reason, "", "", "", "", "", ""]);
        }
        let added = direct.map(|direct| spread(&differences(&self.first, &direct.first), "µs"));
        let gaps: Figures = self.gaps.iter().map(|gap| gap / 1_000.0).collect();
        let off: Figures = self.gaps.iter().map(|gap| (gap - micros(PAUSE)).abs()).collect();
        markdown::row(&[
            streams.to_owned(),
            name.to_owned(),
            median(&self.first, "µs"),
            self.first_tail.written("µs"),
            added.unwrap_or_default(),
            format!("{:.2} ms", gaps.percentile(50)),
            format!("{:.2} ms", gaps.percentile(99)),
            format!("{} µs", written(off.percentile(50))),
            format!("{} µs", written(off.percentile(99))),
        ]);
    }
}
