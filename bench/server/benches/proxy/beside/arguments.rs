//! Long arguments: 10,000 fragments of 20 bytes, and a megabyte of them. Everything on one core.

use std::time::{Duration, Instant};

use crate::case::{Case, Delivery};
use crate::figures::Figures;
use crate::processor::Cores;
use crate::table::{Goal, written};

use super::Setting;
use super::markdown::{self, Aim, median, spread};
use super::volley::{Spell, Volley};

/// The last is a megabyte.
const FRAGMENTS: [usize; 2] = [10_000, 50_000];

/// Whoever takes longer for one is asked no second time: it says no more.
const PATIENCE: Duration = Duration::from_secs(5);

const COLUMNS: [&str; 7] =
    ["fragments", "", "time (rounds)", "CPU", "on the wire", "memory peak, over before", "rounds"];

/// One contender and one size, round by round.
#[derive(Debug, Default)]
struct Tally {
    milliseconds: Vec<f64>,
    processor: Vec<f64>,
    megabytes_sent: Vec<f64>,
    peak: Vec<f64>,
    void: Option<String>,
    is_slow: bool,
}

pub(super) fn measure(setting: Setting<'_>) {
    Cores::One.pin();
    let field = setting.field(&Case::text(1, Delivery::Whole));
    let cases = FRAGMENTS.map(Case::block);
    let mut mock: [Tally; 2] = Default::default();
    let mut tallies: Vec<[Tally; 2]> =
        field.contenders.iter().map(|_| Default::default()).collect();
    for round in 0..=setting.effort.rounds {
        for (place, case) in cases.iter().enumerate() {
            let volley = Volley::new(case, 1, Spell::Once);
            // The first round makes room for the largest answer, but for whoever is slow.
            let is_first = round == 0;
            mock[place].keep(is_first, || {
                let (seen, time) = volley.fly(setting.runtime, &field.mock.endpoint)?;
                Ok([time.as_secs_f64() * 1e3, 0.0, megabytes(seen[0].wire_bytes), 0.0])
            });
            for (contender, tallies) in field.contenders.iter().zip(&mut tallies) {
                tallies[place].keep(is_first, || {
                    let (before, used) = (contender.megabytes(), contender.processor_time());
                    contender.forget_peak();
                    let (seen, time) = volley.fly(setting.runtime, contender.endpoint())?;
                    let used = (contender.processor_time() - used) / 1e3;
                    let peak = (contender.peak_megabytes() - before).max(0.0);
                    Ok([time.as_secs_f64() * 1e3, used, megabytes(seen[0].wire_bytes), peak])
                });
            }
        }
    }
    let (rounds, patience) = (setting.effort.rounds, PATIENCE.as_secs());
    markdown::rounds(&format!(
        "{rounds}, after one that does not count; one for whoever takes longer than {patience} s"
    ));
    markdown::head(&COLUMNS);
    for (place, fragments) in FRAGMENTS.into_iter().enumerate() {
        let fragments = fragments.to_string();
        for (contender, tallies) in field.contenders.iter().zip(&tallies) {
            tallies[place].print(&fragments, contender.name());
        }
        mock[place].print(&fragments, "*direct, HTTP mock*");
    }
    for (name, reason) in &field.absent {
        markdown::row(&["", name, reason, "", "", "", ""]);
    }
    let [small, large] = &tallies[0];
    let a_fifth: Vec<f64> = large.milliseconds.iter().map(|time| time / 5.0).collect();
    markdown::goals(&[Aim::ratio(
        "a fragment of 50,000 over one of 10,000",
        &a_fifth,
        &small.milliseconds,
        Goal::AtMost(1.25),
    )]);
    Cores::All.pin();
}

#[allow(clippy::cast_precision_loss, reason = "some million bytes")]
fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

// === impl Tally ===

impl Tally {
    fn keep(&mut self, is_first: bool, measure: impl FnOnce() -> Result<[f64; 4], String>) {
        if self.void.is_some() || self.is_slow {
            return;
        }
        let started = Instant::now();
        let measured = measure();
        self.is_slow = started.elapsed() > PATIENCE;
        match measured {
            Err(reason) => self.void = Some(reason),
            Ok([time, processor, sent, peak]) if !is_first || self.is_slow => {
                self.milliseconds.push(time);
                self.processor.push(processor);
                self.megabytes_sent.push(sent);
                self.peak.push(peak);
            }
            Ok(_) => {}
        }
    }

    fn print(&self, fragments: &str, name: &str) {
        if let Some(reason) = &self.void {
            let reason = reason.replace('|', "\\|");
            return markdown::row(&[fragments, name, &reason, "", "", "", ""]);
        }
        let is_process = self.processor.iter().any(|used| *used > 0.0);
        let of_process = |figures: &[f64], unit| {
            if is_process { median(figures, unit) } else { String::new() }
        };
        let sent: Figures = self.megabytes_sent.iter().copied().collect();
        markdown::row(&[
            fragments.to_owned(),
            name.to_owned(),
            spread(&self.milliseconds, "ms"),
            of_process(&self.processor, "ms"),
            format!("{} MB", written(sent.median())),
            of_process(&self.peak, "MB"),
            self.milliseconds.len().to_string(),
        ]);
    }
}
