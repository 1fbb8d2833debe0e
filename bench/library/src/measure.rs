//! Times in rounds: A B C A B C, so that a busy moment of the machine hits all alike.

use std::time::Duration;

/// Something to be timed: each call is one run, and gives its time.
pub type Run<'a> = Box<dyn FnMut() -> Duration + 'a>;

/// What came out of the rounds, each in nanoseconds a run.
#[derive(Debug, Clone)]
pub struct Times(Vec<f64>);

/// How much is measured.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    pub rounds: usize,
    /// Short runs are repeated until a round has taken this long.
    pub round: Duration,
    /// No contender takes longer than this over all its rounds, but for its first.
    pub limit: Duration,
}

/// Times all, in turn.
pub fn interleave(runs: &mut [Run<'_>], effort: Effort) -> Vec<Times> {
    // The first run is for the caches, and says how many rounds there is time for.
    let rounds: Vec<usize> = runs
        .iter_mut()
        .map(|run| {
            let fit = effort.limit.as_secs_f64() / run().max(effort.round).as_secs_f64();
            (1..effort.rounds).rev().find(|n| fit >= *n as f64 + 1.0).map_or(1, |n| n + 1)
        })
        .collect();
    let mut times = vec![Times(Vec::new()); runs.len()];
    for round in 0..effort.rounds {
        for ((run, times), rounds) in runs.iter_mut().zip(&mut times).zip(&rounds) {
            if round < *rounds {
                times.0.push(once(run, effort.round));
            }
        }
    }
    times
}

/// The mean of as many runs as fill a round, at least one.
fn once(run: &mut Run<'_>, round: Duration) -> f64 {
    let (mut total, mut count) = (Duration::ZERO, 0.0);
    while total < round {
        total += run();
        count += 1.0;
    }
    total.as_nanos() as f64 / count
}

/// The slope of a line through the points in a log-log plot: 1 is linear, 2 quadratic.
pub fn slope(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logs.len() as f64;
    let mean = |f: fn(&(f64, f64)) -> f64| logs.iter().map(f).sum::<f64>() / count;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let covariance: f64 = logs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    covariance / logs.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>()
}

// === impl Times ===

impl Times {
    pub fn rounds(&self) -> usize {
        self.0.len()
    }

    /// The same for one of `parts` that a run has.
    #[must_use]
    pub fn each(&self, parts: usize) -> Self {
        Self(self.0.iter().map(|time| time / parts as f64).collect())
    }

    pub fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        if sorted.len() % 2 == 1 {
            sorted[middle]
        } else {
            f64::midpoint(sorted[middle - 1], sorted[middle])
        }
    }

    /// What it takes when nobody disturbs.
    pub fn lowest(&self) -> f64 {
        self.range().0
    }

    pub fn range(&self) -> (f64, f64) {
        self.0.iter().fold((f64::MAX, 0.0), |(low, high), time| (low.min(*time), high.max(*time)))
    }
}
