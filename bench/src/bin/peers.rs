//! Prints the comparison as Markdown.

use std::process::ExitCode;

use aggregator_bench::options::{Options, USAGE};
use aggregator_bench::report;

fn main() -> ExitCode {
    let Some(options) = Options::parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::FAILURE;
    };
    println!("{}", surroundings());
    // Each table as soon as it is there: all of them take minutes.
    print!("{}", report::speed::report(&options));
    print!("{}", report::growth::report(&options));
    print!("{}", report::structured::report(&options));
    print!("{}", report::splits::report(&options));
    ExitCode::SUCCESS
}

/// What the figures depend on besides the code.
fn surroundings() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    format!(
        "tool-parser 1.10.0, dynamo-parsers-v2 0.9.6; {cores} cores, load average {load} at the start."
    )
}
