//! The same turns through our client and directly, in turn.

use std::time::{Duration, Instant};

use codex_app_server::{Client, ClientConfig, CodexBinary};
use tempfile::TempDir;
use testkit::Outcome;
use tokio::runtime::Runtime;

use crate::case::Case;
use crate::cpu::CpuTimes;
use crate::direct::Direct;
use crate::figures::{Figures, micros};
use crate::recording::{Play, Recording};

/// Long enough for a turn's end to be read and answered.
const SETTLE: Duration = Duration::from_millis(20);

/// How many turns are measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    pub(crate) rounds: usize,
    /// In each round, of each kind, through and direct in turn: the load of a busy machine
    /// changes within seconds, and should change for both.
    pub(crate) blocks: usize,
    /// In each block.
    pub(crate) turns: usize,
}

/// Two children of one configuration: one behind our client, one without it.
pub(crate) struct Comparison<'a> {
    runtime: &'a Runtime,
    cases: &'a [Case],
    recording: Recording,
    client: Client,
    direct: Direct,
    _homes: [TempDir; 2],
}

/// Rounds of one kind of turn, one way.
#[derive(Default)]
pub(crate) struct Rounds {
    /// Microseconds of each turn of each round.
    turns: Vec<Vec<f64>>,
    /// Microseconds of processor time of this process, for each round.
    cpu: Vec<f64>,
}

/// What a case cost both ways.
pub(crate) struct CaseResult {
    name: String,
    pub(crate) through: Rounds,
    pub(crate) direct: Rounds,
}

// === impl Comparison ===

impl<'a> Comparison<'a> {
    pub(crate) fn start(runtime: &'a Runtime, binary: &CodexBinary, cases: &'a [Case]) -> Self {
        let homes = [(); 2].map(|()| tempfile::tempdir().expect("no temporary folder"));
        let [home, direct_home] = &homes;
        let recording = runtime.block_on(Recording::make(binary, direct_home.path(), cases));
        let config = ClientConfig::new(binary.clone(), home.path());
        let client = runtime.block_on(Client::start(config)).expect("the child does not start");
        let direct = Direct::start(&recording);
        Self { runtime, cases, recording, client, direct, _homes: homes }
    }

    pub(crate) fn run(mut self, effort: Effort) -> Vec<CaseResult> {
        let mut results: Vec<CaseResult> = self.cases.iter().map(CaseResult::new).collect();
        let pairs = || self.cases.iter().zip(&self.recording.plays);
        for (case, play) in pairs() {
            for _ in 0..effort.blocks {
                through(self.runtime, &self.client, case, effort.turns);
                direct(&mut self.direct, play, case, effort.turns);
            }
        }
        for _ in 0..effort.rounds {
            for ((case, play), result) in pairs().zip(&mut results) {
                result.through.begin();
                result.direct.begin();
                for _ in 0..effort.blocks {
                    let turns = || through(self.runtime, &self.client, case, effort.turns);
                    result.through.measure(turns);
                    let turns = || direct(&mut self.direct, play, case, effort.turns);
                    result.direct.measure(turns);
                }
            }
        }
        self.runtime.block_on(self.client.shutdown());
        results
    }
}

/// Turns through our client, and how long each took.
fn through(runtime: &Runtime, client: &Client, case: &Case, turns: usize) -> Vec<f64> {
    runtime.block_on(async {
        let mut times = Vec::with_capacity(turns);
        for _ in 0..turns {
            let request = case.request.clone();
            let started = Instant::now();
            let turn = client.start_turn(request).expect("an invalid turn");
            let outcome = Outcome::of(turn).await;
            times.push(micros(started.elapsed()));
            case.check(&outcome);
        }
        tokio::time::sleep(SETTLE).await;
        times
    })
}

/// The same without it.
fn direct(direct: &mut Direct, play: &Play, case: &Case, turns: usize) -> Vec<f64> {
    let mut times = Vec::with_capacity(turns);
    for _ in 0..turns {
        let started = Instant::now();
        let answer = direct.turn(play);
        times.push(micros(started.elapsed()));
        case.check_direct(&answer);
    }
    direct.settle(play);
    times
}

// === impl Rounds ===

impl Rounds {
    fn begin(&mut self) {
        self.turns.push(Vec::new());
        self.cpu.push(0.0);
    }

    /// Adds a block to the round.
    fn measure(&mut self, turns: impl FnOnce() -> Vec<f64>) {
        let before = CpuTimes::now();
        let times = turns();
        let cpu = before.elapsed_micros();
        if let (Some(round), Some(sum)) = (self.turns.last_mut(), self.cpu.last_mut()) {
            round.extend(times);
            *sum += cpu;
        }
    }

    /// Of all turns.
    fn times(&self) -> Figures {
        self.turns.iter().flatten().copied().collect()
    }

    /// One median for each round.
    fn medians(&self) -> impl Iterator<Item = f64> {
        self.turns.iter().map(|times| times.iter().copied().collect::<Figures>().median())
    }

    /// Processor time per turn: the median of the rounds.
    #[allow(clippy::cast_precision_loss, reason = "a few hundred turns")]
    pub(crate) fn cpu(&self) -> f64 {
        let per_turn =
            self.cpu.iter().zip(&self.turns).map(|(cpu, turns)| cpu / turns.len() as f64);
        per_turn.collect::<Figures>().median()
    }

    fn print(&self, way: &str) {
        let times = self.times();
        let (median, most) = (times.percentile(50), times.percentile(90));
        println!("  {way:<26}{median:>10.1}{most:>10.1}{:>14.1}", self.cpu());
    }
}

// === impl CaseResult ===

impl CaseResult {
    fn new(case: &Case) -> Self {
        Self { name: case.name.clone(), through: Rounds::default(), direct: Rounds::default() }
    }

    pub(crate) fn print(&self) {
        println!("  {:<26}{:>10}{:>10}{:>14}", self.name, "p50 µs", "p90 µs", "our CPU µs");
        self.through.print("  through our client");
        self.direct.print("  direct");
        let pairs = self.through.medians().zip(self.direct.medians());
        let added: Figures = pairs.map(|(through, direct)| through - direct).collect();
        println!(
            "  {:<26}{:>10.1}{:>10}{:>14.1}   (rounds {:.1} to {:.1})",
            "  added by us",
            added.median(),
            "",
            self.through.cpu() - self.direct.cpu(),
            added.min(),
            added.max(),
        );
    }
}
