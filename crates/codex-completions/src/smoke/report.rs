//! What the checks have shown, for a person or for a script.

use std::io;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use conformance::reading::Mismatch;
use serde::Serialize;
use serde_json::json;

use crate::console;
use crate::target::Target;

/// The checks so far. For a person each is told at once, for a script all of them at the end.
pub(super) struct Report {
    base_url: String,
    model: String,
    json: bool,
    started: Instant,
    checks: Vec<Checked>,
}

#[derive(Serialize)]
struct Checked {
    name: String,
    ok: bool,
    duration_ms: u128,
    problem: Option<Mismatch>,
}

// === impl Report ===

impl Report {
    pub(super) fn new(target: &Target, model: &str, json: bool) -> Self {
        Self {
            base_url: target.base_url.to_string(),
            model: model.to_owned(),
            json,
            started: Instant::now(),
            checks: Vec::new(),
        }
    }

    pub(super) fn add(
        &mut self,
        name: &str,
        duration: Duration,
        outcome: Result<(), Mismatch>,
    ) -> io::Result<()> {
        let problem = outcome.err().map(Mismatch::shortened);
        let duration_ms = duration.as_millis();
        if !self.json {
            match &problem {
                None => writeln!(console::stdout(), "ok    {name}  {duration_ms} ms")?,
                Some(problem) => {
                    // Foreign text must not look like the next check.
                    let problem = problem.to_string();
                    let problem = console::visible_line(&problem);
                    writeln!(console::stdout(), "FAIL  {name}  {problem}")?;
                }
            }
        }
        let ok = problem.is_none();
        self.checks.push(Checked { name: name.to_owned(), ok, duration_ms, problem });
        Ok(())
    }

    /// The sum of it.
    pub(super) fn end(self) -> io::Result<ExitCode> {
        let Self { base_url, model, json, started, checks } = self;
        let passed = checks.iter().filter(|check| check.ok).count();
        let (all, duration) = (checks.len(), started.elapsed());
        if json {
            let report = json!({
                "base_url": base_url,
                "model": model,
                "ok": passed == all,
                "passed": passed,
                "failed": all - passed,
                "duration_ms": duration.as_millis(),
                "checks": checks,
            });
            writeln!(console::stdout(), "{report:#}")?;
        } else {
            let seconds = duration.as_secs_f64();
            let line = format!("{passed} of {all} checks passed in {seconds:.1} s");
            writeln!(console::stdout(), "\n{line} ({base_url}, model {model})")?;
        }
        Ok(if passed == all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
