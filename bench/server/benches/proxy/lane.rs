//! Several ways to the same answer, measured in turn.

use std::time::Duration;

use crate::figures::Figures;
use crate::processor::ProcessorTime;

/// Long enough for what a server does after an answer.
const SETTLE: Duration = Duration::from_millis(5);

/// How many requests are measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    pub(crate) rounds: usize,
    /// In each round, of all lanes in turn: the load of a busy machine changes within seconds, and
    /// should change for all of them.
    pub(crate) blocks: usize,
    /// In each block.
    pub(crate) requests: usize,
}

/// One way to an answer, and what it took.
pub(crate) struct Lane<'a> {
    /// Asks so often, checks each answer, and says how many microseconds each took.
    pub(crate) ask: Box<dyn FnMut(usize) -> Vec<f64> + 'a>,
    /// Whose processor time counts.
    pub(crate) process: Option<u32>,
    pub(crate) rounds: Rounds,
}

/// What one lane took.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    /// Microseconds of each request of each round.
    times: Vec<Vec<f64>>,
    /// Microseconds of processor time, for each round.
    processor: Vec<f64>,
}

/// Measures all lanes, after a block of each that does not count.
pub(crate) fn run(lanes: &mut [Lane<'_>], effort: Effort) {
    for lane in &mut *lanes {
        (lane.ask)(effort.requests);
    }
    for _ in 0..effort.rounds {
        for lane in &mut *lanes {
            lane.rounds.times.push(Vec::new());
            lane.rounds.processor.push(0.0);
        }
        for _ in 0..effort.blocks {
            for lane in &mut *lanes {
                lane.ask_block(effort.requests);
            }
        }
    }
}

// === impl Lane ===

impl<'a> Lane<'a> {
    pub(crate) fn new(process: Option<u32>, ask: impl FnMut(usize) -> Vec<f64> + 'a) -> Self {
        Self { ask: Box::new(ask), process, rounds: Rounds::default() }
    }

    fn ask_block(&mut self, requests: usize) {
        let before = self.process.map(ProcessorTime::of);
        let times = (self.ask)(requests);
        std::thread::sleep(SETTLE);
        if let (Some(round), Some(sum)) =
            (self.rounds.times.last_mut(), self.rounds.processor.last_mut())
        {
            round.extend(times);
            if let (Some(before), Some(process)) = (before, self.process) {
                *sum += ProcessorTime::of(process).since(before).total;
            }
        }
    }
}

// === impl Rounds ===

impl Rounds {
    /// The median of each round.
    pub(crate) fn medians(&self) -> Vec<f64> {
        self.percentiles(50)
    }

    /// That percentile of each round.
    pub(crate) fn percentiles(&self, percent: usize) -> Vec<f64> {
        let rounds = self.times.iter();
        rounds.map(|times| times.iter().copied().collect::<Figures>().percentile(percent)).collect()
    }

    /// Processor time of a request, for each round.
    #[allow(clippy::cast_precision_loss, reason = "some thousand requests")]
    pub(crate) fn processor(&self) -> Vec<f64> {
        let rounds = self.processor.iter().zip(&self.times);
        rounds.map(|(micros, times)| micros / times.len() as f64).collect()
    }

    /// What it took more than `other`, round by round.
    pub(crate) fn added_to(&self, other: &Self) -> Figures {
        let pairs = self.medians().into_iter().zip(other.medians());
        pairs.map(|(this, other)| this - other).collect()
    }
}
