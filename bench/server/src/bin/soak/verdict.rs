//! What counts as flat.
//!
//! After a warm-up, the medians of the first and of the last third are compared, and a straight line is
//! laid through all points. A figure grew if both say so. Memory that is taken back at one stroke is also
//! looked at between two falls: one fall would hide how it rises.

use crate::series::{Point, median};

/// Of a run: caches fill, the allocator finds its size.
const WARM_UP_MINUTES: f64 = 10.0;

/// Of a shorter run that share is the warm-up.
const WARM_UP_SHARE: f64 = 1.0 / 6.0;

/// A shorter run says nothing about growth.
const SHORTEST_MINUTES: f64 = 5.0;

/// By so much may the load of the machine differ before times are not compared.
const OTHER_LOAD: f64 = 0.25;

/// A figure and its rule.
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    pub(crate) of: fn(&Point) -> f64,
    pub(crate) limit: Limit,
    pub(crate) basis: Basis,
}

/// How much more is too much.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Limit {
    /// So much an hour.
    AnHour(f64),
    /// Such a share of the first third.
    Share(f64),
}

/// What a figure depends on besides the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Basis {
    /// Nothing.
    Own,
    /// Who takes it back: the allocator, or a kernel that reclaims idle memory.
    Reclaiming,
    /// How busy the machine is.
    Machine,
}

/// Everything that is judged.
pub(crate) const RULES: [Rule; 8] = [
    rule("memory of the server, MB", |p| p.server_megabytes, Limit::AnHour(2.0)),
    on(Basis::Reclaiming, "memory of Codex, MB", |p| p.codex_megabytes, Limit::Share(0.05)),
    rule("descriptors of the server", |p| p.server_files, Limit::AnHour(1.0)),
    rule("descriptors of Codex", |p| p.codex_files, Limit::AnHour(1.0)),
    rule("threads of the server", |p| p.server_threads, Limit::AnHour(1.0)),
    rule("threads of Codex", |p| p.codex_threads, Limit::AnHour(1.0)),
    on(Basis::Machine, "a new chat, p50 ms", |p| p.whole_p50, Limit::Share(0.15)),
    on(Basis::Machine, "first text of a new chat, p50 ms", |p| p.first_p50, Limit::Share(0.15)),
];

/// A rule and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Judged {
    pub(crate) name: &'static str,
    pub(crate) limit: Limit,
    /// Medians of the thirds.
    pub(crate) first: f64,
    pub(crate) last: f64,
    /// Of the straight line.
    pub(crate) an_hour: f64,
    pub(crate) ruling: Ruling,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ruling {
    Flat,
    Grew,
    /// It would be flat, but rose by more than is allowed in the longest time without a fall. Whether it
    /// would go on to rise, the run does not show.
    RoseBetweenFalls {
        by: f64,
        minutes: f64,
    },
    /// Because of this.
    NotJudged(String),
}

const fn rule(name: &'static str, of: fn(&Point) -> f64, limit: Limit) -> Rule {
    on(Basis::Own, name, of, limit)
}

const fn on(basis: Basis, name: &'static str, of: fn(&Point) -> f64, limit: Limit) -> Rule {
    Rule { name, of, limit, basis }
}

/// How long the warm-up of such a run is.
pub(crate) fn warm_up(points: &[Point]) -> f64 {
    let minutes = points.last().map_or(0.0, |point| point.minute);
    WARM_UP_MINUTES.min(minutes * WARM_UP_SHARE)
}

/// Holds a run against every rule.
pub(crate) fn judge(points: &[Point]) -> Vec<Judged> {
    let warm_up = warm_up(points);
    let warm: Vec<Point> = points.iter().filter(|point| point.minute >= warm_up).copied().collect();
    RULES.iter().map(|rule| rule.judge(&warm)).collect()
}

// === impl Rule ===

impl Rule {
    fn judge(&self, points: &[Point]) -> Judged {
        let third = points.len() / 3;
        let (early, late) = (&points[..third], &points[points.len() - third..]);
        let [first, last] = [early, late].map(|third| median_of(third, self.of));
        let an_hour = slope(points, self.of) * 60.0;
        let [from, to] = [early, late].map(|third| median_of(third, |point| point.minute));
        let hours = (to - from) / 60.0;
        let [was, is] = [early, late].map(|third| median_of(third, |point| point.load));
        let other_load = (is - was).abs() > OTHER_LOAD * was.max(1.0);
        let allowed = match self.limit {
            Limit::AnHour(limit) => limit * hours,
            Limit::Share(share) => share * first,
        };
        // Something that is no number is not within any limit.
        let is_within = last - first <= allowed || an_hour * hours <= allowed;
        let ruling = if minutes(points) < SHORTEST_MINUTES {
            Ruling::NotJudged("the run is too short".to_owned())
        } else if is_within {
            self.rise_between_falls(points, allowed, hours * 60.0).unwrap_or(Ruling::Flat)
        } else if self.basis == Basis::Machine && other_load {
            Ruling::NotJudged(format!("the machine's load went from {was:.1} to {is:.1}"))
        } else {
            Ruling::Grew
        };
        Judged { name: self.name, limit: self.limit, first, last, an_hour, ruling }
    }

    /// Whether the longest time without a fall has a rise that is more than allowed. It is counted over no
    /// more than `at_most` minutes, as the growth between the thirds is. What falls often enough, the
    /// thirds tell.
    fn rise_between_falls(&self, points: &[Point], allowed: f64, at_most: f64) -> Option<Ruling> {
        let stretch = (self.basis == Basis::Reclaiming)
            .then(|| without_a_fall(points, self.of, allowed))
            .filter(|stretch| minutes(stretch) >= minutes(points) / 3.0)?;
        let minutes = minutes(stretch).min(at_most);
        let by = slope(stretch, self.of) * minutes;
        (by > allowed).then_some(Ruling::RoseBetweenFalls { by, minutes })
    }
}

// === impl Limit ===

impl Limit {
    pub(crate) fn told(self) -> String {
        match self {
            Self::AnHour(limit) => format!("{limit:+} an hour"),
            Self::Share(share) => format!("{:+.0} %", share * 100.0),
        }
    }
}

// === impl Ruling ===

impl Ruling {
    pub(crate) fn told(&self) -> String {
        match self {
            Self::Flat => "flat".to_owned(),
            Self::Grew => "**grew**".to_owned(),
            Self::RoseBetweenFalls { by, minutes } => {
                format!("not flat: {by:+.1} in {minutes:.0} minutes without a fall")
            }
            Self::NotJudged(why) => format!("not judged: {why}"),
        }
    }
}

fn median_of(points: &[Point], of: fn(&Point) -> f64) -> f64 {
    median(points.iter().map(of).collect())
}

fn minutes(points: &[Point]) -> f64 {
    points.last().map_or(0.0, |last| last.minute - points[0].minute)
}

/// The longest part in which no point is lower than an earlier one of it by more than `fall`.
fn without_a_fall(points: &[Point], of: fn(&Point) -> f64, fall: f64) -> &[Point] {
    let (mut longest, mut start, mut highest) = (&points[..0], 0, f64::MIN);
    for (at, point) in points.iter().enumerate() {
        if of(point) < highest - fall {
            (start, highest) = (at, f64::MIN);
        }
        highest = highest.max(of(point));
        if at + 1 - start > longest.len() {
            longest = &points[start..=at];
        }
    }
    longest
}

/// Of the straight line with the least squares, a minute.
fn slope(points: &[Point], of: fn(&Point) -> f64) -> f64 {
    let known: Vec<(f64, f64)> = points
        .iter()
        .map(|point| (point.minute, of(point)))
        .filter(|(_, value)| value.is_finite())
        .collect();
    let count = known.len() as f64;
    let mean = |part: fn(&(f64, f64)) -> f64| known.iter().map(part).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let together: f64 = known.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    let alone: f64 = known.iter().map(|point| (point.0 - x).powi(2)).sum();
    together / alone
}

#[cfg(test)]
mod tests;
