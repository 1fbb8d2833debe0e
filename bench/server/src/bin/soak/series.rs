//! A record as figures over time.

use std::time::Duration;

use testkit::process::megabytes;

use crate::record::{Record, TurnLine};
use crate::sampling::Sample;
use crate::turn::Kind;

/// So many points has a long run, and a point is at least so long.
pub(crate) const POINTS: u32 = 60;
const SHORTEST: Duration = Duration::from_secs(5);

/// What was seen in a stretch of time. A figure that nothing was seen of is no number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Point {
    /// The middle of it.
    pub(crate) minute: f64,
    pub(crate) server_megabytes: f64,
    pub(crate) server_files: f64,
    pub(crate) server_threads: f64,
    pub(crate) codex_megabytes: f64,
    pub(crate) codex_files: f64,
    pub(crate) codex_threads: f64,
    pub(crate) idle_threads: f64,
    pub(crate) held_threads: f64,
    pub(crate) database_megabytes: f64,
    pub(crate) log_megabytes: f64,
    /// Processes that wanted to run.
    pub(crate) load: f64,
    /// Milliseconds of the fresh turn, not streamed.
    pub(crate) whole_p50: f64,
    pub(crate) whole_p99: f64,
    /// Milliseconds to the first text of the fresh turn, streamed.
    pub(crate) first_p50: f64,
    pub(crate) first_p99: f64,
    /// Turns a second.
    pub(crate) turns: f64,
    /// Milliseconds of processor time for each turn.
    pub(crate) server_processor: f64,
    pub(crate) codex_processor: f64,
}

/// A record as points of equal length.
pub(crate) fn points(record: &Record) -> Vec<Point> {
    let seen = record.samples.last().map_or(Duration::ZERO, |sample| sample.at);
    let length = (seen / POINTS).max(SHORTEST);
    let number =
        |at: Duration| usize::try_from(at.as_millis() / length.as_millis()).unwrap_or(usize::MAX);
    let last = number(seen);
    // The last stretch is not whole.
    (0..last.max(1))
        .filter_map(|stretch| {
            let samples: Vec<&Sample> =
                record.samples.iter().filter(|sample| number(sample.at) == stretch).collect();
            let turns: Vec<&TurnLine> =
                record.turns.iter().filter(|turn| number(turn.at) == stretch).collect();
            let before = record.samples.iter().rfind(|sample| number(sample.at) < stretch);
            let minute = (stretch as f64 + 0.5) * length.as_secs_f64() / 60.0;
            (!samples.is_empty()).then(|| Point::of(minute, length, before, &samples, &turns))
        })
        .collect()
}

// === impl Point ===

impl Point {
    fn of(
        minute: f64,
        length: Duration,
        before: Option<&Sample>,
        samples: &[&Sample],
        turns: &[&TurnLine],
    ) -> Self {
        let usual = |figure: fn(&Sample) -> f64| {
            median(samples.iter().map(|sample| figure(sample)).collect())
        };
        let times = |kind: Kind, time: fn(&TurnLine) -> Option<Duration>| {
            let of_kind = turns.iter().filter(|turn| turn.kind == kind);
            of_kind.filter_map(|turn| time(turn)).map(milliseconds).collect::<Vec<_>>()
        };
        let whole = times(Kind::Fresh, |turn| turn.took);
        let first = times(Kind::FreshStreamed, |turn| turn.first_text);
        let from = before.or(samples.first().copied());
        let processor = |figure: fn(&Sample) -> Duration| match (from, samples.last()) {
            (Some(from), Some(to)) if to.at > from.at => {
                let a_second = milliseconds(figure(to).saturating_sub(figure(from)))
                    / to.at.saturating_sub(from.at).as_secs_f64();
                a_second / (turns.len() as f64 / length.as_secs_f64())
            }
            _ => f64::NAN,
        };
        Self {
            minute,
            server_megabytes: usual(|sample| megabytes(sample.server.resident_kilobytes)),
            server_files: usual(|sample| sample.server.files as f64),
            server_threads: usual(|sample| sample.server.threads as f64),
            codex_megabytes: usual(|sample| megabytes(sample.codex.resident_kilobytes)),
            codex_files: usual(|sample| sample.codex.files as f64),
            codex_threads: usual(|sample| sample.codex.threads as f64),
            idle_threads: usual(|sample| sample.idle_threads as f64),
            held_threads: usual(|sample| sample.held_threads as f64),
            database_megabytes: usual(|sample| sample.database_bytes as f64 / 1e6),
            log_megabytes: usual(|sample| sample.log_bytes as f64 / 1e6),
            load: usual(|sample| sample.load),
            whole_p50: percentile(whole.clone(), 50),
            whole_p99: percentile(whole, 99),
            first_p50: percentile(first.clone(), 50),
            first_p99: percentile(first, 99),
            turns: turns.len() as f64 / length.as_secs_f64(),
            server_processor: processor(|sample| sample.server.processor),
            codex_processor: processor(|sample| sample.codex.processor),
        }
    }
}

/// The middle one; no number if there is none.
pub(crate) fn median(values: Vec<f64>) -> f64 {
    percentile(values, 50)
}

/// The one that so many percent do not exceed; no number if there is none.
pub(crate) fn percentile(mut values: Vec<f64>, percent: usize) -> f64 {
    values.retain(|value| value.is_finite());
    values.sort_by(f64::total_cmp);
    let at = (values.len() * percent).div_ceil(100).saturating_sub(1);
    values.get(at).copied().unwrap_or(f64::NAN)
}

pub(crate) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
