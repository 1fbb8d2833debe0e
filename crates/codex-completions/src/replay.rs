//! `replay`: a record of a request, played again.

mod show;

use std::error::Error;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use bridge::{OutputModeSetting, TurnPolicy, TurnSettings};
use capture::{Record, Redaction, Verdict};
use clap::Args;
use configuration::{Problems, turns_with};

use crate::console;

/// Exit code 0: the answer is the recorded one. 1: it is not, or the record cannot be read.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReplayOptions {
    /// The record; `-` is standard input
    file: PathBuf,
    /// Show the frames that a client would get, instead of what is in them
    #[arg(long)]
    frames: bool,
    /// Where the answer is not the recorded one, show every line that differs
    #[arg(long)]
    diff: bool,
    /// Print JSON
    #[arg(long, conflicts_with_all = ["frames", "diff"])]
    json: bool,
    /// Play it under another setting, such as `PROXY_TOOL_BLOCK_MAX=1`; can be given several times
    #[arg(long = "set", value_name = "NAME=VALUE")]
    settings: Vec<String>,
}

const EXAMPLES: &str = "\
Examples:
  codex-completions replay record.jsonl
  codex-completions replay record.jsonl --frames
  codex-completions replay record.jsonl --set PROXY_OUTPUT_MODE=obsidian-xml";

/// The settings that a record can be played under, and what they change.
const SETTINGS: [(&str, Change); 8] = [
    ("PROXY_OUTPUT_MODE", |policy, turns| {
        if let OutputModeSetting::Always(mode) = turns.output_mode {
            policy.mode = mode;
        }
    }),
    ("PROXY_STOP_AFTER_TOOLS", |policy, turns| policy.stop_after_tools = turns.stop_after_tools),
    ("PROXY_STOP_AFTER_TOOLS_MODE", |policy, turns| {
        policy.stop_after_tools = turns.stop_after_tools;
    }),
    ("PROXY_SUPPRESS_TAIL_AFTER_TOOLS", |policy, turns| policy.suppress_tail = turns.suppress_tail),
    ("PROXY_TOOL_BLOCK_MAX", |policy, turns| policy.max_calls = turns.max_calls),
    ("PROXY_TOOL_BLOCK_DEDUP", |policy, turns| policy.dedup = turns.dedup),
    ("PROXY_XML_ESCAPE", |policy, turns| policy.xml_escaping = turns.xml_escaping),
    ("PROXY_REASONING", |policy, turns| policy.reasoning = turns.reasoning),
];

type Change = fn(&mut TurnPolicy, &TurnSettings);

/// A record that cannot be played.
#[derive(Debug, thiserror::Error)]
enum ReplayError {
    #[error("{name} cannot be opened: {source}")]
    Open { name: String, source: io::Error },
    /// The reason may quote the file.
    #[error("{name} is not a record: {}", show::plain(reason))]
    Read { name: String, reason: String },
    #[error("--set {0}: write NAME=VALUE")]
    Setting(String),
    #[error("{0} cannot be set for a replay; possible are {names}", names = SETTINGS.map(|(name, _)| name).join(", "))]
    NoSuchSetting(String),
    #[error(transparent)]
    Value(#[from] Problems),
    /// A record does not say what else its request could have had.
    #[error("PROXY_OUTPUT_MODE is \"auto\": a replay takes obsidian-xml or openai-json")]
    AutoMode,
}

/// What is known about a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Finding {
    /// How it compares with the record.
    Compared(Verdict),
    /// It is not meant to be the same: another setting.
    Changed,
    /// It cannot be the same: the record was redacted, and the words mattered.
    Inexact,
}

pub(crate) fn run(options: &ReplayOptions) -> Result<ExitCode, Box<dyn Error>> {
    let mut record = read(options)?;
    for setting in &options.settings {
        let named = setting.split_once('=').filter(|(_, value)| !value.is_empty());
        let (name, value) = named.ok_or_else(|| ReplayError::Setting(setting.clone()))?;
        change(&mut record.header.policy, name, value)?;
    }
    let replayed = record.replay(Instant::now());
    let finding = match record.header.redaction {
        _ if !options.settings.is_empty() => Finding::Changed,
        Redaction::Inexact => Finding::Inexact,
        Redaction::None | Redaction::Exact => Finding::Compared(record.compare(&replayed)),
    };
    let output = console::stdout();
    if options.json {
        writeln!(output, "{}", show::json(&record, &replayed, finding))?;
    } else {
        let shown =
            if options.frames { show::frames(&replayed) } else { show::text(&record, &replayed) };
        write!(output, "{shown}")?;
        // Frames can be read by a program; the finding is for people.
        let found = show::finding(&record, &replayed, finding);
        if options.frames {
            writeln!(console::stderr(), "{found}")?;
        } else {
            writeln!(output, "{found}")?;
        }
        if options.diff {
            write!(output, "{}", show::differences(&record, &replayed))?;
        }
    }
    output.flush()?;
    Ok(if finding.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Plays a record under one other setting.
fn change(policy: &mut TurnPolicy, name: &str, value: &str) -> Result<(), ReplayError> {
    let known = SETTINGS.iter().find(|(setting, _)| *setting == name);
    let (_, change) = known.ok_or_else(|| ReplayError::NoSuchSetting(name.to_owned()))?;
    let turns = turns_with(name, value)?;
    if name == "PROXY_OUTPUT_MODE" && turns.output_mode == OutputModeSetting::Auto {
        return Err(ReplayError::AutoMode);
    }
    change(policy, &turns);
    Ok(())
}

fn read(options: &ReplayOptions) -> Result<Record, ReplayError> {
    let is_input = options.file.as_os_str() == "-";
    let name =
        if is_input { "standard input".to_owned() } else { options.file.display().to_string() };
    let record = if is_input {
        Record::read(io::stdin().lock())
    } else {
        let file = File::open(&options.file)
            .map_err(|source| ReplayError::Open { name: name.clone(), source })?;
        Record::read(BufReader::new(file))
    };
    record.map_err(|error| ReplayError::Read { name, reason: error.to_string() })
}

// === impl Finding ===

impl Finding {
    fn is_good(self) -> bool {
        match self {
            Self::Compared(Verdict::Same | Verdict::SameSoFar { .. })
            | Self::Changed
            | Self::Inexact => true,
            Self::Compared(Verdict::OtherAnswer { .. } | Verdict::OtherReport) => false,
        }
    }
}
