//! `completions`: what lets a shell complete our commands.

use std::error::Error;
use std::process::ExitCode;

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::console;

pub(crate) fn run(shell: Shell) -> Result<ExitCode, Box<dyn Error>> {
    // Not straight to standard output: it may not be read to its end, which the generator takes for a panic.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), env!("CARGO_PKG_NAME"), &mut script);
    write!(console::stdout(), "{}", String::from_utf8(script)?)?;
    Ok(ExitCode::SUCCESS)
}
