//! Prints the comparison as Markdown.

use std::process::ExitCode;

use aggregator_bench::options::{Options, USAGE};
use aggregator_bench::report::{goals, growth, speed, splits, structured};

fn main() -> ExitCode {
    let Some(options) = Options::parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::FAILURE;
    };
    println!("Load average before: {}.", load_average());
    let mut measured = goals::Measured::default();
    // Each table as soon as it is there: all of them take minutes.
    let (table, chart) = speed::report(&options, &mut measured);
    print!("{table}");
    if let Some(folder) = &options.charts {
        let file = "benchmarks-library.svg";
        if let Err(error) = std::fs::write(folder.join(file), chart) {
            eprintln!("no chart: {error}");
            return ExitCode::FAILURE;
        }
        println!("\n![Time of a chunk, ours beside its peers]({file})");
    }
    print!("{}", growth::report(&options, &mut measured));
    print!("{}", structured::report(&options, &mut measured));
    print!("{}", splits::report(&options, &mut measured));
    print!("{}", goals::report(&measured));
    println!("\nLoad average after: {}.", load_average());
    ExitCode::SUCCESS
}

/// The machine's load over 1, 5 and 15 minutes.
fn load_average() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').take(3).collect::<Vec<_>>().join(" ")
}
