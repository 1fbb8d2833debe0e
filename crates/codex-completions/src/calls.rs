//! `calls`: what the aggregator makes of a captured stream, to find out what a backend really said.

mod chunks;
mod events;
mod fault;
mod lines;
mod options;
mod report;
mod sse;
mod xml;

use std::error::Error;
use std::process::ExitCode;

use serde_json::Value;

use chunks::Chunks;
use events::Events;
use fault::{Fault, json};
use lines::{Lines, ReadError, Record};
pub(crate) use options::CallsOptions;
use options::Mode;
use report::Report;
use sse::SseData;
use xml::Blocks;

/// What a mode makes of its records.
trait Reader {
    /// What is known now, one value a line.
    fn take(&mut self, record: Value) -> Result<Vec<Value>, Fault>;

    /// What is known at the end of the input.
    fn end(&mut self) -> Vec<Value> {
        Vec::new()
    }
}

pub(crate) fn run(options: &CallsOptions) -> Result<ExitCode, Box<dyn Error>> {
    let lines = Lines::open(options.file.as_deref())?;
    match options.mode() {
        Mode::Events => read(lines, Events::new(options)),
        Mode::Sse => read(SseData::new(lines), Events::new(options)),
        Mode::Chunks => read(lines, Chunks::new(options)?),
        Mode::Xml => read(lines, Blocks::new(options)),
    }
}

/// A record that cannot be read is reported, and the next one is read all the same.
fn read(
    records: impl Iterator<Item = Result<Record, ReadError>>,
    mut reader: impl Reader,
) -> Result<ExitCode, Box<dyn Error>> {
    let mut report = Report::new();
    for record in records {
        let Record { line, text } = record?;
        let lines = match text {
            Ok(text) if text.trim_ascii().is_empty() => continue,
            Ok(text) => json(&text).and_then(|record| reader.take(record)),
            Err(fault) => Err(fault),
        };
        match lines {
            Ok(lines) => report.write(&lines)?,
            Err(fault) => report.complain(line, &fault),
        }
    }
    report.write(&reader.end())?;
    Ok(report.exit_code())
}
