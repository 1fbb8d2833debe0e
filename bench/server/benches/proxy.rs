//! What our server costs: its share of a turn, its processor time, its memory and its start.
//!
//! The server is the release binary in a process of its own, its Codex the scripted app-server,
//! which answers as fast as it reads. "Direct" plays the very lines that the server sends over the
//! pipes of a child of its own, with blocking reads, no JSON parser and no HTTP; what the server
//! takes more is *added*. Rounds are interleaved, and every answer is checked. Latency is measured
//! with everything on one core: between two cores it is mostly the hypervisor's.
//!
//! `bench/proxy [--quick]` builds the server and runs this.
#![allow(clippy::print_stdout, reason = "the table is the result")]
#![allow(clippy::expect_used, clippy::panic, reason = "a wrong answer must end the benchmark")]

#[path = "proxy/answer.rs"]
mod answer;
#[path = "proxy/beside/mod.rs"]
mod beside;
#[path = "proxy/case.rs"]
mod case;
#[path = "real_child/direct.rs"]
mod direct;
#[path = "proxy/endpoint.rs"]
mod endpoint;
#[path = "real_child/figures.rs"]
mod figures;
#[path = "proxy/gateway.rs"]
mod gateway;
#[path = "proxy/instructions.rs"]
mod instructions;
#[path = "proxy/lane.rs"]
mod lane;
#[path = "proxy/latency.rs"]
mod latency;
#[path = "proxy/mock_pace.rs"]
mod mock_pace;
#[path = "proxy/mock_upstream.rs"]
mod mock_upstream;
#[path = "proxy/processor.rs"]
mod processor;
#[path = "proxy/profile.rs"]
mod profile;
#[path = "proxy/real.rs"]
mod real;
#[path = "real_child/recording.rs"]
mod recording;
#[path = "proxy/server_process.rs"]
mod server_process;
#[path = "proxy/streams.rs"]
mod streams;
#[path = "proxy/table.rs"]
mod table;
#[path = "proxy/throughput.rs"]
mod throughput;
#[path = "proxy/versions.rs"]
mod versions;

use std::path::Path;
use std::time::Duration;

use server_bench::own_process::{MODEL_ARGUMENT, serve_model};
use tokio::runtime::{Builder, Runtime};

use figures::{Figures, micros};
use lane::Effort;
use table::Goal;

/// How much is measured.
struct Plan {
    latency: Effort,
    load: throughput::Effort,
    /// Rounds of everything else.
    rounds: usize,
    /// Deltas of a paced stream.
    paced_deltas: usize,
    starts: usize,
    /// Turns of the real Codex.
    real: Effort,
}

const WHOLE: Plan = Plan {
    latency: Effort { rounds: 9, blocks: 5, requests: 100 },
    load: throughput::Effort { rounds: 7, time: Duration::from_secs(3) },
    rounds: 7,
    paced_deltas: 250,
    starts: 20,
    // A turn takes so long that each way can have its turn after every one.
    real: Effort { rounds: 9, blocks: 50, requests: 1 },
};

const QUICK: Plan = Plan {
    latency: Effort { rounds: 5, blocks: 2, requests: 100 },
    load: throughput::Effort { rounds: 5, time: Duration::from_secs(1) },
    rounds: 5,
    paced_deltas: 60,
    starts: 5,
    real: Effort { rounds: 5, blocks: 20, requests: 1 },
};

/// Parts that can be measured alone. The last one is measured only then.
const PARTS: [&str; 6] = ["latency", "throughput", "paced", "fragments", "start-up", real::PART];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let paths_after = |name: &str| -> Vec<&Path> {
        let pairs = arguments.windows(2).filter(|pair| pair[0] == name);
        pairs.map(|pair| Path::new(&pair[1])).collect()
    };
    let runtime = Builder::new_current_thread().enable_all().build().expect("no runtime");
    if has(mock_upstream::ARGUMENT) {
        return runtime.block_on(mock_upstream::serve());
    }
    if has(MODEL_ARGUMENT) {
        return runtime.block_on(serve_model()).expect("no port for the model");
    }
    let Some(&server) = paths_after("--server").first() else {
        // Also a test run of all targets, which has no release binary.
        println!("bench/proxy builds the server and runs this: --server PATH is missing");
        return;
    };
    if has("--instructions") {
        return instructions::count(server);
    }
    if let (Some(&kind), Some(&file)) =
        (paths_after("--profile").first(), paths_after("--into").first())
    {
        return profile::record(server, kind, file);
    }
    let plan = if has("--quick") { &QUICK } else { &WHOLE };
    println!("Load average before: {}.\n", processor::load_average());
    let others = paths_after("--against");
    if let Some(&installed) = paths_after("--gateways").first() {
        let effort = if has("--quick") { beside::QUICK } else { beside::WHOLE };
        let charts = paths_after("--charts").first().copied();
        let setting = beside::Setting { runtime: &runtime, server, installed, charts, effort };
        for part in chosen(&beside::PARTS, &arguments) {
            beside::measure(setting, part);
        }
    } else if others.is_empty() {
        table::head();
        let mut parts = chosen(&PARTS, &arguments);
        parts.retain(|part| *part != real::PART || has(real::PART));
        measure(&runtime, server, plan, &parts);
    } else {
        table::head();
        versions::compare(&runtime, server, &others, plan.latency);
    }
    println!("\nLoad average after: {}.", processor::load_average());
}

/// The parts that are asked for; all, if none is.
fn chosen<'a>(parts: &[&'a str], arguments: &[String]) -> Vec<&'a str> {
    let asked = |part: &&str| arguments.iter().any(|argument| argument == *part);
    let some: Vec<_> = parts.iter().copied().filter(asked).collect();
    if some.is_empty() { parts.to_vec() } else { some }
}

fn measure(runtime: &Runtime, server: &Path, plan: &Plan, parts: &[&str]) {
    let chosen = |part: &str| parts.contains(&part);
    if chosen("latency") {
        latency::on_one_core(runtime, server, plan.latency);
        latency::on_all_cores(runtime, server, plan.latency);
    }
    if chosen("throughput") {
        throughput::measure(runtime, server, plan.load);
    }
    if chosen("paced") {
        streams::paced(server, plan.rounds, plan.paced_deltas);
    }
    if chosen("fragments") {
        streams::fragments(server, plan.rounds);
    }
    if chosen("start-up") {
        let times = server_process::time_to_accept(server, plan.starts);
        let times: Figures = times.into_iter().map(|time| micros(time) / 1_000.0).collect();
        table::row("process start to accepting", "ms", &times, Goal::AtMost(20.0));
    }
    if chosen(real::PART) {
        real::measure(runtime, server, plan.real);
    }
}
