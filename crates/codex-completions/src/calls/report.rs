//! What goes out: results on standard output, faults on standard error.

use std::io;
use std::process::ExitCode;

use serde_json::Value;

use super::Fault;
use crate::console::{self, Console};

pub(super) struct Report {
    out: Console,
    /// Whether there was a record that could not be read.
    faulty: bool,
}

// === impl Report ===

impl Report {
    pub(super) fn new() -> Self {
        Self { out: console::stdout(), faulty: false }
    }

    /// Writes each value as a line, at once: somebody may be waiting at the other end of a pipe.
    pub(super) fn write(&mut self, lines: &[Value]) -> io::Result<()> {
        for line in lines {
            writeln!(self.out, "{line}")?;
        }
        self.out.flush()
    }

    pub(super) fn complain(&mut self, line: u64, fault: &Fault) {
        self.faulty = true;
        let _ = writeln!(console::stderr(), "line {line}: {fault}");
    }

    pub(super) fn exit_code(&self) -> ExitCode {
        if self.faulty { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }
}
