//! Prints the comparison as Markdown.

use std::process::ExitCode;

use aggregator_bench::options::{Options, USAGE};
use aggregator_bench::report;

fn main() -> ExitCode {
    let Some(options) = Options::parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::FAILURE;
    };
    // Each table as soon as it is there: all of them take minutes.
    print!("{}", report::speed::report(&options));
    print!("{}", report::growth::report(&options));
    print!("{}", report::structured::report(&options));
    print!("{}", report::splits::report(&options));
    ExitCode::SUCCESS
}
