//! What our client costs: its start-up, and its share of a turn.
//!
//! "Direct" plays the same lines over the pipes of a child of its own with blocking reads and no
//! JSON parser: the least that any client could do. Rounds of both are interleaved, and every turn
//! is checked. Machines are busy, so only differences within one run mean anything.
//!
//! `cargo bench -p testkit --bench real_child [-- [--quick] [start-up] [real] [scripted]]`
#![allow(clippy::print_stdout, reason = "the table is the result")]
#![allow(clippy::expect_used, clippy::panic, reason = "a wrong turn must end the benchmark")]

#[path = "real_child/case.rs"]
mod case;
#[path = "real_child/comparison.rs"]
mod comparison;
#[path = "real_child/cpu.rs"]
mod cpu;
#[path = "real_child/direct.rs"]
mod direct;
#[allow(dead_code, reason = "the other benchmarks use more of it")]
#[path = "real_child/figures.rs"]
mod figures;
#[path = "real_child/recording.rs"]
mod recording;
#[path = "real_child/start_up.rs"]
mod start_up;

use codex_app_server::CodexBinary;
use server_bench::own_process::{MODEL_ARGUMENT, OwnProcess, serve_model};
use testkit::workspace_program;
use tokio::runtime::{Builder, Runtime};

use case::Case;
use comparison::{Comparison, Effort};

/// How much is measured.
struct Plan {
    starts: usize,
    real: Effort,
    scripted: Effort,
}

const WHOLE: Plan = Plan {
    starts: 10,
    real: Effort { rounds: 9, blocks: 5, turns: 10 },
    scripted: Effort { rounds: 15, blocks: 5, turns: 100 },
};

const QUICK: Plan = Plan {
    starts: 3,
    real: Effort { rounds: 3, blocks: 2, turns: 10 },
    scripted: Effort { rounds: 5, blocks: 3, turns: 100 },
};

/// Parts that can be measured alone.
const PARTS: [&str; 3] = ["start-up", "real", "scripted"];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let runtime = runtime();
    if has(MODEL_ARGUMENT) {
        return runtime.block_on(serve_model()).expect("no port for the model");
    }
    // Without `--bench` this is a test run of all targets.
    let plan = if has("--quick") || !has("--bench") { &QUICK } else { &WHOLE };
    let chosen = |part: &str| has(part) || !PARTS.iter().any(|part| has(part));
    println!("load average before: {}", cpu::load_average());
    if chosen("start-up") {
        start_up::measure(&runtime, plan.starts);
    }
    if chosen("real") {
        measure_real_turns(&runtime, plan.real);
    }
    if chosen("scripted") {
        measure_scripted_turns(&runtime, plan.scripted);
    }
    println!("\nload average after: {}", cpu::load_average());
}

/// One thread, as the proxy runs it, so that its processor time can be read exactly.
fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("no runtime")
}

fn measure_real_turns(runtime: &Runtime, effort: Effort) {
    let codex = runtime.block_on(testkit::codex_binary());
    let model = OwnProcess::model().expect("no model");
    let cases = [Case::real_text(&model.address), Case::real_calls(&model.address)];
    println!("\nTurns of the real child, the scripted model in a process of its own");
    for result in Comparison::start(runtime, &codex, &cases).run(effort) {
        result.print();
    }
}

fn measure_scripted_turns(runtime: &Runtime, effort: Effort) {
    let path = &workspace_program("scripted-app-server");
    let binary = runtime.block_on(CodexBinary::at(path)).expect("no scripted app-server");
    let cases = [Case::scripted_text(1), Case::scripted_text(66), Case::scripted_calls(3)];
    println!("\nTurns of the scripted app-server, one after the other, pinned to nothing");
    let results = Comparison::start(runtime, &binary, &cases).run(effort);
    for result in &results {
        result.print();
    }
    if let [one, many, ..] = results.as_slice() {
        let per_delta = |one: f64, many: f64| (many - one) / 65.0;
        println!(
            "  CPU per delta, (66 deltas - 1 delta) / 65: ours {:.2} µs, direct {:.2} µs",
            per_delta(one.through.cpu(), many.through.cpu()),
            per_delta(one.direct.cpu(), many.direct.cpu()),
        );
    }
}
