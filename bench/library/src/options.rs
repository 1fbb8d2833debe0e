//! What the command line says.

use std::path::PathBuf;
use std::time::Duration;

use crate::corpus;
use crate::measure::Effort;

/// How much is measured, and from which seed.
#[derive(Debug)]
pub struct Options {
    pub seed: u64,
    /// Splits of ours.
    pub splits: u64,
    /// For the splits of each peer.
    pub judging: Duration,
    pub effort: Effort,
    /// A size is left out if one run of it would take longer than this.
    pub longest_run: Duration,
    pub corpus: PathBuf,
    /// Where charts are put, if they are wanted.
    pub charts: Option<PathBuf>,
}

pub const USAGE: &str = "\
peers [--quick] [--seed N] [--splits N] [--corpus DIR] [--charts DIR]
  --quick       a minute or two: fewer rounds, and a tenth of the splits
  --seed N      where the random splits begin (default 1)
  --splits N    splits of ours (default 1000000; --quick 100000)
  --corpus DIR  another corpus
  --charts DIR  puts a chart there";

// === impl Options ===

impl Options {
    /// None if the arguments make no sense.
    pub fn parse(arguments: impl Iterator<Item = String>) -> Option<Self> {
        let (quick, rest): (Vec<_>, Vec<_>) = arguments.partition(|argument| argument == "--quick");
        let mut options = if quick.is_empty() { Self::full() } else { Self::quick() };
        let mut arguments = rest.into_iter();
        while let Some(argument) = arguments.next() {
            let value = arguments.next()?;
            match argument.as_str() {
                "--seed" => options.seed = value.parse().ok()?,
                "--splits" => options.splits = value.parse().ok()?,
                "--charts" => options.charts = Some(PathBuf::from(value)),
                "--corpus" => options.corpus = PathBuf::from(value),
                _ => return None,
            }
        }
        Some(options)
    }

    fn full() -> Self {
        Self {
            seed: 1,
            splits: 1_000_000,
            judging: Duration::from_mins(1),
            effort: Effort {
                rounds: 15,
                round: Duration::from_millis(10),
                limit: Duration::from_secs(30),
            },
            longest_run: Duration::from_secs(15),
            corpus: corpus::folder(),
            charts: None,
        }
    }

    fn quick() -> Self {
        let effort =
            Effort { rounds: 5, round: Duration::from_millis(5), limit: Duration::from_secs(5) };
        Self {
            splits: 100_000,
            judging: Duration::from_secs(4),
            effort,
            longest_run: Duration::from_secs(3),
            ..Self::full()
        }
    }
}
