//! The same requests through other gateways, in the same run.
//!
//! They get an HTTP mock as their upstream, where ours gets a child with pipes: what each adds is
//! measured over its own upstream. They also do less: nothing of theirs translates a protocol.

use std::path::Path;

use tokio::runtime::Runtime;

use crate::case::{Case, Delivery};
use crate::figures::Figures;
use crate::gateway::{Gateway, Product};
use crate::lane::{self, Lane};
use crate::latency::{Bench, through};
use crate::mock_upstream::MockUpstream;
use crate::processor::Cores;
use crate::server_process::ServerProcess;
use crate::table::{self, Goal};
use crate::throughput::{self, Load};

/// Measures ours beside every gateway that runs.
pub(crate) fn measure(
    runtime: &Runtime,
    server: &Path,
    installed: &Path,
    latency: lane::Effort,
    load: throughput::Effort,
) {
    let whole = Case::text(1, Delivery::Whole);
    Cores::One.pin();
    added(runtime, server, installed, latency, &whole, 0.25);
    let streamed = Case::text(66, Delivery::Streamed);
    added(runtime, server, installed, latency, &streamed, 0.33);
    Cores::All.pin();
    under_load(runtime, server, installed, load, &whole);
}

/// Everything on one core, one client. Ours should add no more than `share` of what smg does.
fn added(
    runtime: &Runtime,
    server: &Path,
    installed: &Path,
    effort: lane::Effort,
    case: &Case,
    share: f64,
) {
    let mock = MockUpstream::start();
    let gateways = start(installed, &mock, case);
    let cases = std::slice::from_ref(case);
    let bench = Bench::start(runtime, server, cases);
    let mut lanes: Vec<Lane<'_>> = bench.lanes(cases).flatten().collect();
    lanes.push(through(&mock.endpoint, case, None));
    lanes.extend(gateways.iter().map(|gateway| through(&gateway.endpoint, case, None)));
    lane::run(&mut lanes, effort);
    let [ours, direct, mocked, others @ ..] = lanes.as_slice() else { return };
    let name = |who: &str| format!("{who}: added p50, {}", case.name);
    let ours = ours.rounds.added_to(&direct.rounds);
    table::row(name("codex-completions"), "µs", &ours, Goal::None);
    for (gateway, lane) in gateways.iter().zip(others) {
        let added = lane.rounds.added_to(&mocked.rounds);
        table::row(name(gateway.endpoint.name), "µs", &added, Goal::None);
        if gateway.endpoint.name == Product::Smg.name() {
            let ratio = [ours.median() / added.median()].into_iter().collect();
            table::row(name("ours / smg"), "×", &ratio, Goal::AtMost(share));
        }
    }
}

/// All cores, many clients.
fn under_load(
    runtime: &Runtime,
    server: &Path,
    installed: &Path,
    effort: throughput::Effort,
    case: &Case,
) {
    let mock = MockUpstream::start();
    let gateways = start(installed, &mock, case);
    let server = ServerProcess::start(server);
    let mut contenders = vec![(&server.endpoint, vec![server.id()], Vec::new())];
    for gateway in &gateways {
        contenders.push((&gateway.endpoint, gateway.processes(), Vec::new()));
    }
    for _ in 0..effort.rounds {
        for (endpoint, processes, loads) in &mut contenders {
            loads.push(throughput::load(runtime, endpoint, processes, case, effort.time));
        }
    }
    let mut ours: Option<[f64; 2]> = None;
    for (endpoint, _, loads) in &contenders {
        let figures = |part: fn(&Load) -> f64| loads.iter().map(part).collect::<Figures>();
        let speed = figures(|load| load.requests_per_second);
        let cost = figures(|load| load.per_request);
        let name = |who: &str, what: &str| format!("{who}: {what}, 16 clients");
        table::row(name(endpoint.name, "requests/s"), "", &speed, Goal::None);
        table::row(name(endpoint.name, "CPU per request"), "µs", &cost, Goal::None);
        let [our_speed, our_cost] = *ours.get_or_insert([speed.median(), cost.median()]);
        if endpoint.name == Product::Smg.name() {
            let ratio = [our_speed / speed.median()].into_iter().collect();
            table::row(name("ours / smg", "requests/s"), "×", &ratio, Goal::AtLeast(3.0));
            let ratio = [our_cost / cost.median()].into_iter().collect();
            table::row(name("ours / smg", "CPU per request"), "×", &ratio, Goal::AtMost(0.25));
        }
    }
    for gateway in &gateways {
        let name = |what: &str| format!("{}: {what}", gateway.endpoint.name);
        let memory = throughput::megabytes(gateway.resident_kilobytes());
        table::row(name("memory under load"), "MB", &memory, Goal::None);
        let accepting = [gateway.accepting.as_secs_f64() * 1e3].into_iter().collect();
        table::row(name("process start to accepting"), "ms", &accepting, Goal::None);
    }
}

/// Those that run and can answer; why another does not is a row of its own.
fn start(installed: &Path, mock: &MockUpstream, case: &Case) -> Vec<Gateway> {
    let started = Product::ALL.map(|product| Gateway::start(product, installed, mock, case));
    let mut gateways = Vec::new();
    for gateway in started {
        match gateway {
            Ok(gateway) => gateways.push(gateway),
            Err(reason) => table::note(&case.name, &reason),
        }
    }
    gateways
}
