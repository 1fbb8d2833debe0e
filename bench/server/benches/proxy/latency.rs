//! One client: what we add to a turn, and what it costs.

use std::cell::RefCell;
use std::path::Path;
use std::time::Instant;

use codex_app_server::CodexBinary;
use tempfile::TempDir;
use testkit::workspace_program;
use tokio::runtime::Runtime;

use crate::case::{Case, Delivery};
use crate::direct::Direct;
use crate::endpoint::Endpoint;
use crate::figures::{Figures, micros};
use crate::lane::{self, Effort, Lane, Rounds};
use crate::processor::Cores;
use crate::recording::{Play, Recording};
use crate::server_process::ServerProcess;
use crate::table::{self, Goal};

/// Deltas of a text that is streamed.
const DELTAS: usize = 66;

/// What one case took, both ways.
struct Measured {
    name: String,
    ours: Rounds,
    direct: Rounds,
}

/// Our server, and a child without it that plays the same turns.
pub(crate) struct Bench {
    pub(crate) server: ServerProcess,
    direct: RefCell<Direct>,
    plays: Vec<Play>,
    _home: TempDir,
}

/// Everything on one core, where what is measured is work and repeats well.
pub(crate) fn on_one_core(runtime: &Runtime, server: &Path, effort: Effort) {
    Cores::One.pin();
    let cases = [
        Case::text(1, Delivery::Whole),
        Case::text(1, Delivery::Streamed),
        Case::text(DELTAS, Delivery::Streamed),
        Case::calls(Delivery::Whole),
        Case::calls(Delivery::Streamed),
    ];
    let limits = [Some(60.0), None, Some(100.0), None, None];
    let (measured, health) = run(runtime, server, &cases, effort);
    for (case, limit) in measured.iter().zip(limits) {
        let goal = limit.map_or(Goal::None, Goal::AtMost);
        table::row(format!("added p50, {}", case.name), "µs", &case.added(), goal);
    }
    let health: Figures = health.medians().into_iter().collect();
    table::row("health route, round trip", "µs", &health, Goal::None);
    let [whole, one, many, ..] = measured.as_slice() else { return };
    let ratio: Figures = [whole.added().median() / health.median()].into_iter().collect();
    table::row("added p50, not streamed / health route", "×", &ratio, Goal::AtMost(3.0));
    whole.print_tail();
    many.print_tail();
    for case in [whole, one, many] {
        let name = format!("CPU per request, 1 client, {}", case.name);
        table::row(name, "µs", &case.ours.processor().into_iter().collect(), Goal::None);
    }
    #[allow(clippy::cast_precision_loss, reason = "a small number")]
    let per_delta = |(many, one): (f64, f64)| (many - one) / (DELTAS - 1) as f64;
    let pairs = many.ours.processor().into_iter().zip(one.ours.processor());
    let per_delta = pairs.map(per_delta).collect();
    table::row("CPU per delta in a burst", "µs", &per_delta, Goal::AtMost(1.5));
}

/// Here the waking of another core is measured as well, so there are no goals.
pub(crate) fn on_all_cores(runtime: &Runtime, server: &Path, effort: Effort) {
    Cores::All.pin();
    let cases = [Case::text(1, Delivery::Whole), Case::text(DELTAS, Delivery::Streamed)];
    for case in run(runtime, server, &cases, effort).0 {
        let name = format!("all cores: added p50, {}", case.name);
        table::row(name, "µs", &case.added(), Goal::None);
    }
}

/// Every case through our server and directly, and the server's health route.
fn run(
    runtime: &Runtime,
    server: &Path,
    cases: &[Case],
    effort: Effort,
) -> (Vec<Measured>, Rounds) {
    let bench = Bench::start(runtime, server, cases);
    let mut lanes = vec![bench.health()];
    for pair in bench.lanes(cases) {
        lanes.extend(pair);
    }
    lane::run(&mut lanes, effort);
    let mut rounds = lanes.into_iter().map(|lane| lane.rounds);
    let health = rounds.next().unwrap_or_default();
    let mut measured = Vec::new();
    while let (Some(ours), Some(direct)) = (rounds.next(), rounds.next()) {
        measured.push(Measured { name: cases[measured.len()].name.clone(), ours, direct });
    }
    (measured, health)
}

// === impl Bench ===

impl Bench {
    /// In front of the scripted app-server.
    pub(crate) fn start(runtime: &Runtime, server: &Path, cases: &[Case]) -> Self {
        let child = &workspace_program("scripted-app-server");
        let binary = runtime.block_on(CodexBinary::at(child)).expect("no scripted app-server");
        Self::with(runtime, &binary, ServerProcess::start(server), cases)
    }

    /// A server in front of this Codex.
    pub(crate) fn with(
        runtime: &Runtime,
        codex: &CodexBinary,
        server: ServerProcess,
        cases: &[Case],
    ) -> Self {
        let home = tempfile::tempdir().expect("no temporary folder");
        let recording = runtime.block_on(Recording::make(codex, home.path(), cases));
        Self {
            server,
            direct: RefCell::new(Direct::start(&recording)),
            plays: recording.plays,
            _home: home,
        }
    }

    /// For each case a lane through our server, and one directly to the child.
    pub(crate) fn lanes<'a>(&'a self, cases: &'a [Case]) -> impl Iterator<Item = [Lane<'a>; 2]> {
        cases.iter().zip(&self.plays).map(|(case, play)| {
            let ours = through(&self.server.endpoint, case, Some(self.server.id()));
            [ours, directly(&self.direct, case, play)]
        })
    }

    fn health(&self) -> Lane<'_> {
        let endpoint = &self.server.endpoint;
        let request = format!("GET /livez HTTP/1.1\r\nhost: {}\r\n\r\n", endpoint.address);
        let mut connection = endpoint.connect();
        Lane::new(None, move |count| {
            let ask = |_| {
                let started = Instant::now();
                let response = connection.ask(request.as_bytes());
                let time = micros(started.elapsed());
                assert_eq!((response.status, &*response.body), (200, &b"ok\n"[..]));
                time
            };
            (0..count).map(ask).collect()
        })
    }
}

// === impl Measured ===

impl Measured {
    fn added(&self) -> Figures {
        self.ours.added_to(&self.direct)
    }

    /// How far the slowest requests are from the usual one, in rounds that were quiet enough to tell.
    fn print_tail(&self) {
        let tails = |rounds: &Rounds| -> Vec<f64> {
            let pairs = rounds.percentiles(99).into_iter().zip(rounds.medians());
            pairs.map(|(slow, usual)| slow / usual).collect()
        };
        let rounds = tails(&self.ours).into_iter().zip(tails(&self.direct));
        let quiet: Vec<f64> =
            rounds.filter(|(_, direct)| *direct <= 3.0).map(|(ours, _)| ours).collect();
        let name = format!("p99 / p50, {}", self.name);
        if quiet.is_empty() {
            table::note(name, "no round was quiet enough");
        } else {
            table::row(name, "×", &quiet.into_iter().collect(), Goal::AtMost(3.0));
        }
    }
}

/// Requests to a server, one after the other on one connection.
pub(crate) fn through<'a>(
    endpoint: &'a Endpoint,
    case: &'a Case,
    process: Option<u32>,
) -> Lane<'a> {
    let request = endpoint.request(case);
    let mut connection = endpoint.connect();
    Lane::new(process, move |count| {
        (0..count)
            .map(|_| {
                let started = Instant::now();
                let response = connection.ask(&request);
                let time = micros(started.elapsed());
                endpoint.check(case, response);
                time
            })
            .collect()
    })
}

/// The same turns without a server.
fn directly<'a>(direct: &'a RefCell<Direct>, case: &'a Case, play: &'a Play) -> Lane<'a> {
    Lane::new(None, move |count| {
        let mut direct = direct.borrow_mut();
        let times = (0..count)
            .map(|_| {
                let started = Instant::now();
                let answer = direct.turn(play);
                let time = micros(started.elapsed());
                case.check_direct(&answer);
                time
            })
            .collect();
        direct.settle(play);
        times
    })
}
