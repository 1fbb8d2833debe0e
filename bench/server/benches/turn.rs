//! Where the time of a turn goes before the model is asked, and what saves some of it.
//!
//! Every way of running a turn has a real Codex of its own, with one thing changed. They take turns, in
//! one order and then in the other, so that a busy machine is busy for all of them. The model is a thread
//! of this program that answers at once, and notes when it was asked. Every answer is checked.
//!
//! `bench/turn [--quick] [stages] [several]` runs this.
#![allow(clippy::print_stdout, reason = "the tables are the result")]
#![allow(clippy::expect_used, clippy::panic, reason = "a wrong turn must end the benchmark")]

#[allow(dead_code, reason = "the other benchmarks use more of it")]
#[path = "real_child/figures.rs"]
mod figures;
#[path = "turn/model.rs"]
mod model;
#[allow(dead_code, reason = "the other benchmarks use more of it")]
#[path = "proxy/processor.rs"]
mod processor;
#[path = "turn/several.rs"]
mod several;
#[path = "turn/stages.rs"]
mod stages;
#[path = "turn/way.rs"]
mod way;

use std::time::Instant;

use tokio::runtime::Builder;

use model::Model;

/// How much is measured.
struct Plan {
    /// Turns of each way, one after the other.
    turns: usize,
    /// Turns of each number of children and of clients.
    at_once: usize,
}

const WHOLE: Plan = Plan { turns: 100, at_once: 320 };
const QUICK: Plan = Plan { turns: 20, at_once: 64 };

/// Parts that can be measured alone: one turn after the other, and many at once.
const PARTS: [&str; 2] = ["stages", "several"];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    if !has("--bench") {
        // A test run of all targets, in which figures mean nothing.
        println!("bench/turn runs this");
        return;
    }
    let plan = if has("--quick") { &QUICK } else { &WHOLE };
    let runtime = Builder::new_current_thread().enable_all().build().expect("no runtime");
    let codex = runtime.block_on(testkit::codex_binary());
    let model = Model::start();
    println!(
        "{}; Codex {}; load average before: {}\n",
        server_bench::machine::name(),
        codex.version(),
        processor::load_average()
    );
    let chosen = |part: &str| has(part) || !PARTS.iter().any(|part| has(part));
    if chosen("stages") {
        timed("stages", || runtime.block_on(stages::measure(&codex, &model, plan.turns)));
    }
    if chosen("several") {
        timed("several", || runtime.block_on(several::measure(&codex, &model, plan.at_once)));
    }
    println!("load average after: {}", processor::load_average());
}

/// Says how long a part took: on a slow machine it is minutes.
fn timed(part: &str, measure: impl FnOnce()) {
    let started = Instant::now();
    measure();
    println!("\n`{part}` took {:.0} s.\n", started.elapsed().as_secs_f64());
}
