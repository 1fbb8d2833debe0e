//! Many clients on all cores: requests a second, processor time and memory.

use std::path::Path;
use std::time::Duration;

use testkit::process::{megabytes, resident_kilobytes};
use tokio::runtime::Runtime;

use crate::case::{Case, Delivery};
use crate::endpoint::Endpoint;
use crate::figures::Figures;
use crate::processor::{Cores, ProcessorTime};
use crate::server_process::ServerProcess;
use crate::table::{self, Goal};

const CLIENTS: usize = 16;

/// Clients after which the memory is looked at.
const MANY_CLIENTS: usize = 64;

/// How long, and how often.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    pub(crate) rounds: usize,
    pub(crate) time: Duration,
}

/// What a round of load has shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    pub(crate) requests_per_second: f64,
    /// Microseconds of the server's processor time.
    pub(crate) per_request: f64,
}

pub(crate) fn measure(runtime: &Runtime, server: &Path, effort: Effort) {
    Cores::All.pin();
    let case = Case::text(1, Delivery::Whole);
    let server = ServerProcess::start(server);
    let resident = || [megabytes(resident_kilobytes(server.id()))].into_iter().collect();
    let idle: Figures = resident();
    let rounds: Vec<Load> = (0..effort.rounds)
        .map(|_| load(runtime, &server.endpoint, &[server.id()], &case, effort.time))
        .collect();
    let figures = |part: fn(&Load) -> f64| rounds.iter().map(part).collect::<Figures>();
    let name = format!("requests/s, {CLIENTS} clients");
    table::row(name, "", &figures(|load| load.requests_per_second), Goal::AtLeast(15_000.0));
    let name = format!("CPU per request, {CLIENTS} clients");
    table::row(name, "µs", &figures(|load| load.per_request), Goal::AtMost(50.0));

    server.endpoint.load(runtime, &case, MANY_CLIENTS, effort.time);
    let streamed = Case::text(66, Delivery::Streamed);
    server.endpoint.load(runtime, &streamed, MANY_CLIENTS, effort.time);
    let after = resident();
    table::row("memory, idle", "MB", &idle, Goal::AtMost(10.0));
    table::row(format!("memory, after {MANY_CLIENTS} clients"), "MB", &after, Goal::AtMost(20.0));
}

/// A round of load.
#[allow(clippy::cast_precision_loss, reason = "some ten thousand requests")]
pub(crate) fn load(
    runtime: &Runtime,
    endpoint: &Endpoint,
    processes: &[u32],
    case: &Case,
    time: Duration,
) -> Load {
    let used = || processes.iter().map(|process| ProcessorTime::of(*process).total).sum::<f64>();
    let before = used();
    let (answered, time) = endpoint.load(runtime, case, CLIENTS, time);
    Load {
        requests_per_second: answered as f64 / time.as_secs_f64(),
        per_request: (used() - before) / answered as f64,
    }
}
