//! What happens, a line of JSON each, written as it happens.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::sampling::Sample;
use crate::turn::Kind;

/// What the run was to be, and where.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Start {
    pub(crate) date: String,
    pub(crate) machine: String,
    pub(crate) server: String,
    pub(crate) codex: String,
    pub(crate) time: Duration,
    pub(crate) rate: f64,
    pub(crate) seed: u64,
}

/// A turn that went well.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TurnLine {
    /// When it was asked for, since the start.
    pub(crate) at: Duration,
    pub(crate) kind: Kind,
    /// How much too late that was.
    pub(crate) late: Duration,
    pub(crate) took: Option<Duration>,
    pub(crate) first_text: Option<Duration>,
    pub(crate) continuity: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    Start(Start),
    Turn(TurnLine),
    Sample(Sample),
    Wrong(String),
    /// The run came to its end.
    End(Duration),
}

/// A record that is being written.
pub(crate) struct RecordFile {
    file: Mutex<BufWriter<File>>,
    pub(crate) path: PathBuf,
}

/// A record that was written.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) start: Start,
    pub(crate) turns: Vec<TurnLine>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) wrong: Vec<String>,
    /// How long it took, if it came to its end.
    pub(crate) end: Option<Duration>,
}

// === impl RecordFile ===

impl RecordFile {
    pub(crate) fn create(folder: &Path, start: Start) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let path = folder.join(format!("soak-{}.jsonl", start.seed));
        let file = Mutex::new(BufWriter::new(File::create(&path)?));
        let record = Self { file, path };
        record.write(&Line::Start(start));
        Ok(record)
    }

    pub(crate) fn turn(&self, turn: &TurnLine) {
        self.write(&Line::Turn(turn.clone()));
    }

    pub(crate) fn sample(&self, sample: Sample) {
        self.write(&Line::Sample(sample));
    }

    pub(crate) fn wrong(&self, what: &str) {
        eprintln!("wrong: {what}");
        self.write(&Line::Wrong(what.to_owned()));
    }

    pub(crate) fn end(&self, took: Duration) {
        self.write(&Line::End(took));
    }

    fn write(&self, line: &Line) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let written = serde_json::to_writer(&mut *file, line).map_err(io::Error::from);
        // Every line at once: the run may be cut off.
        let written = written.and_then(|()| file.write_all(b"\n")).and_then(|()| file.flush());
        if let Err(error) = written {
            eprintln!("not recorded: {error}");
        }
    }
}

// === impl Record ===

impl Record {
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        let mut lines = BufReader::new(File::open(path)?).lines();
        let first = lines.next().transpose()?.unwrap_or_default();
        let Line::Start(start) = serde_json::from_str(&first)? else {
            return Err(io::Error::other("the record has no start"));
        };
        let mut record =
            Self { start, turns: Vec::new(), samples: Vec::new(), wrong: Vec::new(), end: None };
        for line in lines {
            // The last line of a run that was cut off may be half a line.
            let Ok(line) = serde_json::from_str(&line?) else { break };
            match line {
                Line::Start(_) => return Err(io::Error::other("the record starts twice")),
                Line::Turn(turn) => record.turns.push(turn),
                Line::Sample(sample) => record.samples.push(sample),
                Line::Wrong(what) => record.wrong.push(what),
                Line::End(took) => record.end = Some(took),
            }
        }
        Ok(record)
    }
}
