//! The report, in Markdown.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::path::Path;
use std::time::Duration;
use std::{fs, io};

use server_bench::machine::{self, first_line, load_average};
use server_bench::report_section;

use crate::incident::IncidentKind;
use crate::mischief::MISCHIEF;
use crate::plot;
use crate::run::{Plan, Seen};
use crate::sampling::Sample;
use crate::server::{Kind, SETTINGS};
use crate::tally::PROBE;

/// What is written about a run.
pub(crate) struct Report {
    kind: Kind,
    pub(crate) markdown: String,
    /// Memory over time.
    plot: String,
}

/// One figure of the server.
type Figure = fn(&Sample) -> u64;

/// Writes a report.
pub(crate) fn write(plan: &Plan, seen: &Seen) -> Report {
    let mut markdown = String::new();
    // A string takes everything.
    let _ = write_sections(&mut markdown, plan, seen);
    Report { kind: plan.kind, markdown, plot: plot::memory(&seen.samples) }
}

fn write_sections(text: &mut String, plan: &Plan, seen: &Seen) -> fmt::Result {
    let Plan { kind, streams, time, seed, .. } = plan;
    let minutes = time.as_secs_f64() / 60.0;
    let real = if *kind == Kind::Real { " --real" } else { "" };
    writeln!(
        text,
        "`bench/under-fire{real} --minutes {minutes} --streams {streams} --seed {seed}`, {}: \
         {}, load average {} afterwards; {}; {}.\n",
        first_line("date", &["-u", "+%Y-%m-%d"]),
        machine::name(),
        load_average(),
        first_line(&plan.server.to_string_lossy(), &["--version"]),
        match kind {
            Kind::Scripted => "the scripted app-server".to_owned(),
            Kind::Real => first_line(&plan.codex.to_string_lossy(), &["--version"]),
        },
    )?;
    let violations = seen.tally.violations.len();
    let requests = seen.tally.requests();
    let took = seen.took.as_secs();
    writeln!(text, "**{requests} requests in {took} seconds, {violations} violations.**\n")?;
    write_ends(text, seen)?;
    write_incidents(text, seen)?;
    write_probes(text, seen)?;
    write_server(text, plan, seen)
}

/// How often which client saw which end.
fn write_ends(text: &mut String, seen: &Seen) -> fmt::Result {
    let mut manners = Vec::new();
    let mut ends = BTreeMap::<&str, BTreeMap<&str, u64>>::new();
    for ((manner, end), count) in &seen.tally.ends {
        if !manners.contains(manner) {
            manners.push(*manner);
        }
        *ends.entry(end).or_default().entry(*manner).or_default() += count;
    }
    writeln!(text, "| end | {} | all |", manners.join(" | "))?;
    writeln!(text, "|---|{}---|", "---|".repeat(manners.len()))?;
    for (end, counts) in ends {
        let cells = manners.iter().map(|manner| match counts.get(manner) {
            Some(count) => count.to_string(),
            None => String::new(),
        });
        let all: u64 = counts.values().sum();
        writeln!(text, "| {end} | {} | {all} |", cells.collect::<Vec<_>>().join(" | "))?;
    }
    writeln!(
        text,
        "\n*Mischief* is one of {} requests that must be refused, each with its own status and code.",
        MISCHIEF.len()
    )
}

fn write_incidents(text: &mut String, seen: &Seen) -> fmt::Result {
    writeln!(text, "\n| the child was | times | until it took turns again: median | longest |")?;
    writeln!(text, "|---|---|---|---|")?;
    for kind in [IncidentKind::Killed, IncidentKind::Stalled, IncidentKind::Hung] {
        let incidents = seen.incidents.iter().filter(|incident| incident.kind == kind);
        let times = Times::of(incidents.map(|incident| incident.to - incident.from));
        writeln!(
            text,
            "| {} | {} | {} | {} |",
            kind.as_str(),
            times.0.len(),
            times.at(50),
            times.at(100),
        )?;
    }
    writeln!(text, "\nThe server counts {} restarts.", seen.restarts)
}

/// What somebody who behaves has noticed of all that.
fn write_probes(text: &mut String, seen: &Seen) -> fmt::Result {
    let probes = &seen.tally.probes;
    let is_disturbed =
        |from, to| seen.incidents.iter().any(|incident| from <= incident.to && incident.from <= to);
    let (disturbed, calm): (Vec<_>, Vec<_>) = probes
        .iter()
        .filter(|probe| probe.went_well)
        .partition(|probe| is_disturbed(probe.from, probe.from + probe.took));
    writeln!(
        text,
        "\n| a small question every second, with a key of its own | answered | p50 | p95 | longest |"
    )?;
    writeln!(text, "|---|---|---|---|---|")?;
    for (when, probes) in
        [("the child is well", calm), ("it is killed, stopped or started", disturbed)]
    {
        let times = Times::of(probes.iter().map(|probe| probe.took));
        let [p50, p95, longest] = [50, 95, 100].map(|percent| times.at(percent));
        writeln!(text, "| {when} | {} | {p50} | {p95} | {longest} |", times.0.len())?;
    }
    let mut codes = BTreeMap::<&str, usize>::new();
    for failure in seen.tally.failures.iter().filter(|failure| failure.what == PROBE) {
        *codes.entry(&failure.code).or_default() += 1;
    }
    let failed = probes.iter().filter(|probe| !probe.went_well).count();
    let codes: Vec<_> = codes.iter().map(|(code, count)| format!("{count} `{code}`")).collect();
    let codes = if codes.is_empty() { String::new() } else { format!(": {}", codes.join(", ")) };
    writeln!(
        text,
        "\n{failed} of {} failed{codes}. They may in the second case alone.",
        probes.len()
    )
}

fn write_server(text: &mut String, plan: &Plan, seen: &Seen) -> fmt::Result {
    let most = |figure: Figure| seen.samples.iter().map(figure).max().unwrap_or(0);
    let figure = |sample: Option<&Sample>, figure: Figure| {
        sample.map_or("—".to_owned(), |sample| figure(sample).to_string())
    };
    writeln!(text, "\n| the server | before | most | after |\n|---|---|---|---|")?;
    let rows: [(&str, Figure); 5] = [
        ("turns that run", |sample| sample.running),
        ("requests that wait", |sample| sample.waiting),
        ("descriptors", |sample| sample.files as u64),
        ("threads", |sample| sample.threads as u64),
        ("resident memory, MB", |sample| sample.resident_kilobytes / 1_000),
    ];
    for (name, of) in rows {
        let (before, after) = (figure(Some(&seen.before), of), figure(seen.after.as_ref(), of));
        writeln!(text, "| {name} | {before} | {} | {after} |", most(of))?;
    }
    if let Some([second, last]) = seen.memory() {
        writeln!(
            text,
            "\nMean memory: {:.0} MB in the second quarter, {:.0} MB in the last.\n\n\
             ![Memory over time]({})",
            second / 1_000.0,
            last / 1_000.0,
            plot_name(plan.kind)
        )?;
    }
    writeln!(text, "\nSettings other than the defaults:\n")?;
    for (name, value, why) in SETTINGS {
        writeln!(text, "- `{name}={value}`: {why}")?;
    }
    writeln!(
        text,
        "- `max_concurrent_turns` in the file: {}, but 16 (the default) from half to seven tenths of the time",
        plan.many_turns()
    )
}

/// Durations in order.
struct Times(Vec<Duration>);

// === impl Times ===

impl Times {
    fn of(times: impl Iterator<Item = Duration>) -> Self {
        let mut times: Vec<_> = times.collect();
        times.sort();
        Self(times)
    }

    /// The one that so many percent do not exceed.
    fn at(&self, percent: usize) -> String {
        let last = self.0.len().checked_sub(1);
        let at = last.map(|last| (self.0.len() * percent / 100).min(last));
        at.map_or("—".to_owned(), |at| format!("{:.0} ms", self.0[at].as_secs_f64() * 1_000.0))
    }
}

// === impl Report ===

impl Report {
    /// Writes the section of this kind of run anew, and the plot beside the file.
    pub(crate) fn put_into(&self, path: &Path) -> io::Result<()> {
        report_section::rewrite(path, self.kind.as_str(), &self.markdown)?;
        fs::write(path.with_file_name(plot_name(self.kind)), &self.plot)
    }
}

fn plot_name(kind: Kind) -> String {
    format!("under-fire-{}.svg", kind.as_str())
}
