//! What a turn costs that goes on in an earlier thread, beside the same turn in a thread of its own.
//!
//! The server is the release binary in a process of its own, with the real Codex; the scripted model is
//! another process. Each conversation is asked to go on twice: with `x-proxy-continuity: off`, which
//! makes the turn fresh and leaves the thread alone, and with it on. So both send the same bytes and get
//! the same answer, one right after the other, in turn which of them is first. Every answer is checked.
//!
//! `bench/continuity [--quick]` builds the server and runs this.
#![allow(clippy::print_stdout, reason = "the table is the result")]
#![allow(clippy::expect_used, clippy::panic, reason = "a wrong answer must end the benchmark")]

#[path = "continuity/conversation.rs"]
mod conversation;
#[path = "continuity/exchange.rs"]
mod exchange;
#[allow(dead_code, reason = "the other benchmarks use more of it")]
#[path = "real_child/figures.rs"]
mod figures;
#[path = "continuity/memory.rs"]
mod memory;
#[allow(dead_code, reason = "the other benchmarks use more of it")]
#[path = "proxy/processor.rs"]
mod processor;
#[path = "continuity/server.rs"]
mod server;
#[path = "continuity/turns.rs"]
mod turns;

use std::path::Path;

use server_bench::own_process::{MODEL_ARGUMENT, OwnProcess, serve_model};
use tokio::runtime::Builder;

use server::Surroundings;

/// How much is measured.
struct Plan {
    rounds: usize,
    /// Threads whose memory is measured together.
    threads: usize,
}

const WHOLE: Plan = Plan { rounds: 60, threads: 200 };
const QUICK: Plan = Plan { rounds: 12, threads: 40 };

/// Items that a thread has when a turn goes on in it.
const HISTORIES: [usize; 3] = [2, 50, 400];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let runtime = Builder::new_current_thread().enable_all().build().expect("no runtime");
    if has(MODEL_ARGUMENT) {
        return runtime.block_on(serve_model()).expect("no port for the model");
    }
    let Some(server) = arguments.windows(2).find(|pair| pair[0] == "--server") else {
        // Also a test run of all targets, which has no release binary.
        println!("bench/continuity builds the server and runs this: --server PATH is missing");
        return;
    };
    let plan = if has("--quick") { &QUICK } else { &WHOLE };
    let codex = runtime.block_on(testkit::codex_binary());
    let model = OwnProcess::model().expect("no model");
    let surroundings = Surroundings {
        server: Path::new(&server[1]),
        codex: codex.path(),
        upstream: &model.address,
    };
    println!(
        "{}; Codex {}; load average before: {}\n",
        server_bench::machine::name(),
        codex.version(),
        processor::load_average()
    );
    turns::measure(&surroundings, plan.rounds);
    println!();
    memory::measure(&surroundings, plan.threads);
    println!("\nload average after: {}", processor::load_average());
}
