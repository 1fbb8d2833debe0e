//! Several builds of our server, measured in turn: what a change is worth, even on a busy machine.

use std::path::Path;

use tokio::runtime::Runtime;

use crate::case::{Case, Delivery};
use crate::lane::{self, Effort, Lane};
use crate::latency::{Bench, through};
use crate::processor::Cores;
use crate::server_process::ServerProcess;
use crate::table::{self, Goal};

/// Measures the first build and the others.
pub(crate) fn compare(runtime: &Runtime, first: &Path, others: &[&Path], effort: Effort) {
    Cores::One.pin();
    // They take turns more often: all of them should have the same share of what else goes on.
    let effort = Effort { blocks: effort.blocks * 5, requests: effort.requests / 5, ..effort };
    let cases = [
        Case::text(1, Delivery::Whole),
        Case::text(66, Delivery::Streamed),
        Case::calls(Delivery::Streamed),
    ];
    let bench = Bench::start(runtime, first, &cases);
    let servers: Vec<_> = others.iter().map(|path| ServerProcess::start(path)).collect();
    for (case, [ours, direct]) in cases.iter().zip(bench.lanes(&cases)) {
        let mut lanes: Vec<Lane<'_>> = vec![direct, ours];
        lanes.extend(servers.iter().map(|other| through(&other.endpoint, case, Some(other.id()))));
        lane::run(&mut lanes, effort);
        let Some((direct, lanes)) = lanes.split_first() else { continue };
        for (path, lane) in [first].iter().chain(others).zip(lanes) {
            let name = |what: &str| format!("{}: {what}, {}", path.display(), case.name);
            let added = lane.rounds.added_to(&direct.rounds);
            table::row(name("added p50"), "µs", &added, Goal::None);
            let processor = lane.rounds.processor().into_iter().collect();
            table::row(name("CPU per request"), "µs", &processor, Goal::None);
        }
    }
    Cores::All.pin();
}
