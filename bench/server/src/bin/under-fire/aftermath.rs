//! What must hold when the fire is out.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::time::{Duration, Instant};

use serde::Deserialize;
use testkit::process::{codex_children, descendants, is_running};
use testkit::server_process::{Target, metric};

use crate::client::Ended;
use crate::incident::IncidentKind;
use crate::mischief::MISCHIEF;
use crate::run::{Plan, Seen};
use crate::sampling::{self, Sample};
use crate::server::{Kind, Server};
use crate::tally::{Failure, PROBE, Tally};

/// How long the server has to put everything away: descriptors linger for 2 seconds, threads for 10.
const SETTLE_WITHIN: Duration = Duration::from_secs(40);

/// Samples in a row that must be equal before the server is at rest.
const AT_REST: usize = 4;

/// What an incident may still cost after the child is back: turns that wait are tried again.
const AFTER_EFFECT: Duration = Duration::from_secs(1);

/// What the narrow time may cost after its end: who waits does so for 5 seconds.
const QUEUE_AFTER_EFFECT: Duration = Duration::from_secs(6);

/// How much the memory of the last quarter may exceed that of the second.
const GROWTH: f64 = 0.15;
const GROWTH_KILOBYTES: f64 = 20_000.0;

/// Errors in the server's log that the incidents explain.
const EXPLAINED: [&str; 2] = ["Codex was lost", "Codex did not start"];

/// A line of the server's log.
#[derive(Deserialize)]
struct LogLine {
    level: String,
    message: String,
    target: Option<String>,
    request_id: Option<String>,
    stop_reason: Option<String>,
}

/// Checks everything, and stops the server.
pub(crate) async fn check(seen: &mut Seen, plan: &Plan, server: Server) -> io::Result<()> {
    let (before, is_long) = (seen.before, plan.is_long());
    // Threads that nobody needs stay for ten seconds, for which a short run does not wait.
    let is_put_away =
        |now: &Sample| now.files <= before.files && (now.threads <= before.threads || !is_long);
    match at_rest(&server, is_put_away).await {
        Ok(after) => seen.after = Some(after),
        Err(wrong) => seen.tally.violate("everything is put away", "server", wrong),
    }
    check_processes(&mut seen.tally, &server);
    check_causes(seen);
    check_memory(seen, plan);
    check_metrics(seen, &server.target).await;
    check_log(&mut seen.tally, &server.log()?);
    check_coverage(seen, plan);
    for wrong in server.stop().await {
        seen.tally.violate("the server stops well", "server", wrong);
    }
    Ok(())
}

/// The server once nothing moves any more.
pub(crate) async fn settled(server: &Server) -> Result<Sample, String> {
    at_rest(server, |_| true).await
}

/// Waits until nothing runs or waits, and the figures stay as they are and are as wanted.
async fn at_rest(server: &Server, wanted: impl Fn(&Sample) -> bool) -> Result<Sample, String> {
    let started = Instant::now();
    let mut last = Vec::<(usize, usize)>::new();
    loop {
        let now = sampling::take(server.pid, &server.target, started).await?;
        last.push((now.files, now.threads));
        let tail = &last[last.len().saturating_sub(AT_REST)..];
        let is_still = tail.len() == AT_REST && tail.iter().all(|sample| *sample == tail[0]);
        if is_still && now.running == 0 && now.waiting == 0 && wanted(&now) {
            return Ok(now);
        }
        if started.elapsed() > SETTLE_WITHIN {
            return Err(format!("after {SETTLE_WITHIN:?} there is still {now:?}"));
        }
        // Longer than the server lingers over the connection that asked.
        tokio::time::sleep(Duration::from_millis(700)).await;
    }
}

fn check_processes(tally: &mut Tally, server: &Server) {
    let children = codex_children(server.pid);
    if children.len() != 1 {
        tally.violate("one child is left", "server", format!("{children:?}"));
    }
    let dead: Vec<u32> =
        descendants(server.pid).into_iter().filter(|pid| !is_running(*pid)).collect();
    if !dead.is_empty() {
        tally.violate("no zombies", "server", format!("{dead:?}"));
    }
}

/// Every failure must have been caused by something that we did.
fn check_causes(seen: &mut Seen) {
    let (narrow_from, narrow_to) = seen.narrow;
    let narrow_to = narrow_to + QUEUE_AFTER_EFFECT;
    let befell = |failure: &Failure, is_cause: fn(IncidentKind) -> bool| {
        seen.incidents.iter().any(|incident| {
            let felt = (incident.from, incident.to + AFTER_EFFECT);
            is_cause(incident.kind) && failure.from <= felt.1 && felt.0 <= failure.to
        })
    };
    let mut violations = Vec::new();
    for failure in &seen.tally.failures {
        let has_cause = match failure.code.as_str() {
            // However many others ask, whoever has a key of his own is next.
            "too_many_turns" if failure.what == PROBE => befell(failure, |_| true),
            "queue_full" | "too_many_turns" if failure.what != PROBE => {
                failure.from <= narrow_to && narrow_from <= failure.to
            }
            "too_many_large_requests" => failure.is_large,
            "codex_unavailable" | "truncated" => befell(failure, IncidentKind::costs_the_child),
            "timeout" => befell(failure, |kind| kind == IncidentKind::Hung),
            _ => false,
        };
        if !has_cause {
            let what = format!("({}) {} without a cause", failure.what, failure.code);
            violations.push((failure.id.clone(), what));
        }
    }
    for (id, what) in violations {
        seen.tally.violate("every failure has a cause", id, what);
    }
}

fn check_memory(seen: &mut Seen, plan: &Plan) {
    let Some([second, last]) = seen.memory() else { return };
    if plan.is_long() && last > second * (1.0 + GROWTH) + GROWTH_KILOBYTES {
        let what = format!("{second:.0} kB in the second quarter, {last:.0} kB in the last");
        seen.tally.violate("memory stays flat", "server", what);
    }
}

/// The counters must agree with what the clients have seen: of turns whose end nobody saw, or whose
/// request failed for another choice, only the sum is known.
async fn check_metrics(seen: &mut Seen, target: &Target) {
    let metrics = match target.look("/metrics").await {
        Ok((200, metrics)) => metrics,
        other => {
            return seen.tally.violate("counters agree", "/metrics", format!("{other:?}"));
        }
    };
    let value = |name: &str| -> u64 { metric(&metrics, name).unwrap_or_default() };
    let turns = |end: &str| value(&format!(r#"turns_total{{end="{end}"}}"#));
    let (mut with_calls, mut without, mut unknown, mut calls) = (0, 0, 0, 0);
    for request in seen.tally.seen.values() {
        let turns = u64::from(request.turns);
        match &request.ended {
            Ended::Whole { calls: 0 } => without += turns,
            Ended::Whole { calls: some } => {
                with_calls += turns;
                calls += *some as u64;
            }
            _ => unknown += turns,
        }
    }
    // Those that warmed the server up.
    without += 3;
    let all = metrics.lines().filter_map(|line| line.strip_prefix("turns_total{"));
    let all = all.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum::<u64>();
    let most_calls = calls + unknown * 8;
    for (name, found, least, most) in [
        ("completed", turns("completed"), without, without + unknown),
        ("tool_calls", turns("tool_calls"), with_calls, with_calls + unknown),
        ("all", all, without + with_calls, without + with_calls + unknown),
        ("calls", value("tool_call_count_total"), calls, most_calls),
    ] {
        if !(least..=most).contains(&found) {
            let what = format!("{name}: {found} were counted, and {least} to {most} seen");
            seen.tally.violate("counters agree", "/metrics", what);
        }
    }
    seen.restarts = value("codex_restarts_total");
    let lost = seen.incidents.iter().filter(|incident| incident.kind.costs_the_child()).count();
    if seen.restarts != lost as u64 {
        let what = format!("{lost} children were lost, and {} restarts counted", seen.restarts);
        seen.tally.violate("counters agree", "/metrics", what);
    }
}

/// The log has no error that the incidents do not explain, nothing that was said, and one line for
/// each turn, which says what its client saw.
fn check_log(tally: &mut Tally, log: &str) {
    let mut ends = HashMap::<String, Vec<String>>::new();
    for line in log.lines() {
        let Ok(read) = serde_json::from_str::<LogLine>(line) else {
            tally.violate("the log is clean", "log", format!("no JSON: {line}"));
            continue;
        };
        if read.level == "ERROR" && !EXPLAINED.contains(&read.message.as_str()) {
            tally.violate("the log is clean", "log", line);
        }
        if line.contains("[[marked") {
            tally.violate("the log has no content", "log", line);
        }
        if let (Some("turn"), Some(id), Some(reason)) =
            (read.target.as_deref(), read.request_id, read.stop_reason)
        {
            ends.entry(id).or_default().push(reason);
        }
    }
    let mut wrong = Vec::new();
    for (id, request) in &tally.seen {
        let told = ends.get(id).map_or(&[][..], Vec::as_slice);
        let turns = usize::try_from(request.turns).unwrap_or_default();
        let all = |reason: &str| told.len() == turns && told.iter().all(|told| told == reason);
        let agrees = match &request.ended {
            Ended::Whole { calls: 0 } => all("completed"),
            Ended::Whole { .. } => all("tool_calls"),
            Ended::Truncated { .. } => {
                told.len() == turns && told.iter().any(|told| told == "failed_after_calls")
            }
            Ended::Broken { .. } => told.len() == turns && told.iter().any(|told| told == "failed"),
            Ended::Failed { .. } | Ended::Left | Ended::Cut => told.len() <= turns,
            Ended::Refused => told.is_empty(),
        };
        if !agrees {
            wrong.push((id.clone(), format!("{:?} in the log as {told:?}", request.ended)));
        }
    }
    for (id, what) in wrong {
        tally.violate("the log tells what the client saw", id, what);
    }
}

/// What a run has not seen, it has shown nothing about. A long one sees everything.
fn check_coverage(seen: &mut Seen, plan: &Plan) {
    let mut ends = BTreeMap::<&str, u64>::new();
    for ((manner, end), count) in &seen.tally.ends {
        *ends.entry(manner).or_default() += count;
        *ends.entry(end).or_default() += count;
    }
    let always = ["patient", PROBE, "whole and exact"];
    let in_time = [
        "refused as documented",
        "the client left",
        "patient, not streamed",
        "slow",
        "too slow",
        "half-closed",
        "leaves at once",
        "leaves in the middle",
        "error `codex_unavailable`",
        "error `codex_unavailable` in the stream",
        "connection cut",
    ];
    let in_time = in_time.into_iter().filter(|_| plan.is_long());
    let missing = always.into_iter().chain(in_time).filter(|way| !ends.contains_key(way));
    let mut missing: Vec<String> = missing.map(str::to_owned).collect();
    let refusals = ends.get("refused as documented").copied().unwrap_or_default();
    if plan.is_long() && refusals < MISCHIEF.len() as u64 {
        missing.push(format!("only {refusals} refusals"));
    }
    // Rare, and there are few turns with the real Codex.
    let truncated = "calls, said to be truncated";
    if plan.is_long() && plan.kind == Kind::Scripted && !ends.contains_key(truncated) {
        missing.push(truncated.to_owned());
    }
    if seen.incidents.is_empty() {
        missing.push("nothing befell the child".to_owned());
    }
    for way in missing {
        seen.tally.violate("every way to end was taken", "run", way);
    }
}

// === impl Seen ===

impl Seen {
    /// The mean memory of the second quarter and of the last, in kilobytes.
    #[allow(clippy::cast_precision_loss, reason = "some gigabytes")]
    pub(crate) fn memory(&self) -> Option<[f64; 2]> {
        let quarter = self.samples.len() / 4;
        let mean = |samples: &[Sample]| {
            let sum: u64 = samples.iter().map(|sample| sample.resident_kilobytes).sum();
            sum as f64 / samples.len() as f64
        };
        let second =
            self.samples.get(quarter..quarter * 2).filter(|samples| !samples.is_empty())?;
        Some([mean(second), mean(&self.samples[quarter * 3..])])
    }
}
