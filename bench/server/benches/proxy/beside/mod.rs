//! Our server beside other gateways, in the same run.
//!
//! They get an HTTP mock as their upstream, where ours gets a child with pipes: what each adds is
//! measured over its own upstream. They also do less: nothing of theirs translates a protocol. Every
//! answer is checked; a wrong one voids its row, which then says what was wrong.

mod arguments;
mod contender;
mod footprint;
mod latency;
mod markdown;
mod pipes;
mod streams;
mod tail;
mod throughput;
mod volley;

use std::fs;
use std::path::Path;
use std::time::Duration;

use tokio::runtime::Runtime;

use crate::case::Case;
use contender::Field;

/// Parts that are measured and written each by itself.
pub(crate) const PARTS: [&str; 5] = ["latency", "throughput", "streams", "arguments", "footprint"];

/// Where everything is.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'a> {
    pub(crate) runtime: &'a Runtime,
    /// The binary of our server.
    pub(crate) server: &'a Path,
    /// The folder of the gateways.
    pub(crate) installed: &'a Path,
    /// Where charts are put, if they are wanted.
    pub(crate) charts: Option<&'a Path>,
    pub(crate) effort: Effort,
}

/// How much is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    pub(crate) rounds: usize,
    /// Of load in each round.
    pub(crate) spell: Duration,
    /// Rounds of what takes seconds each.
    pub(crate) long_rounds: usize,
}

pub(crate) const WHOLE: Effort =
    Effort { rounds: 7, spell: Duration::from_millis(600), long_rounds: 5 };
pub(crate) const QUICK: Effort =
    Effort { rounds: 5, spell: Duration::from_millis(200), long_rounds: 1 };

/// Measures one part, and prints it.
pub(crate) fn measure(setting: Setting<'_>, part: &str) {
    match part {
        "latency" => latency::measure(setting),
        "throughput" => throughput::measure(setting),
        "streams" => streams::measure(setting),
        "arguments" => arguments::measure(setting),
        _ => footprint::measure(setting),
    }
}

// === impl Setting ===

impl Setting<'_> {
    fn field(&self, case: &Case) -> Field {
        Field::start(self.server, self.installed, case)
    }

    /// Puts a chart beside the report, and refers to it.
    fn chart(&self, name: &str, what: &str, svg: &str) {
        if let Some(folder) = self.charts {
            let file = format!("benchmarks-{name}.svg");
            fs::write(folder.join(&file), svg).expect("no chart");
            println!("\n![{what}]({file})");
        }
    }
}
