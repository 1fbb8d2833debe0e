//! The metrics that are looked up when somebody asks.

use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

use codex_app_server::account::RateLimits;
use codex_app_server::{KeptCounts, StatsSnapshot, WorkerState};

use super::labels::{AllowanceWindow, Build, ChildState, Incident, KeptState, LogState};
use super::{Metrics, process};
use crate::turn_queue::Load;

/// What they are made of.
#[derive(Debug, Clone)]
pub(crate) struct Now {
    /// When the server started.
    pub(crate) started: SystemTime,
    pub(crate) load: Load,
    pub(crate) children: Vec<WorkerState>,
    pub(crate) codex: StatsSnapshot,
    pub(crate) kept: KeptCounts,
    /// `None` where there is no allowance, or nobody knows it.
    pub(crate) allowance: Option<RateLimits>,
    pub(crate) usage_rows_lost: u64,
    pub(crate) stored_response_bytes: u64,
}

// === impl Metrics ===

impl Metrics {
    pub(super) fn look_at(&self, now: &Now) {
        let Now { started, load, children, codex, kept, allowance, .. } = now;
        self.turns_running.set(load.running.into());
        self.turns_waiting.set(level(load.waiting));
        self.turns_limit.set(load.limit.into());
        for state in ChildState::ALL {
            let count = children.iter().filter(|child| ChildState::of(child) == state).count();
            self.codex_children.get_or_create(&state).set(level(count));
        }
        for (state, threads) in [("idle", kept.idle), ("held", kept.held)] {
            self.kept_threads.get_or_create(&KeptState { state }).set(level(threads));
        }
        self.kept_thread_bytes.set(level(kept.bytes));
        self.codex_restarts.inner().store(codex.restarts, Ordering::Relaxed);
        self.codex_renewals.inner().store(codex.renewals, Ordering::Relaxed);
        self.codex_declined_requests.inner().store(codex.declined_requests, Ordering::Relaxed);
        self.codex_probes.inner().store(codex.probes, Ordering::Relaxed);
        self.codex_extra_model_requests
            .inner()
            .store(codex.extra_model_requests, Ordering::Relaxed);
        for state in ["off", "checking", "on", "lost"] {
            let is_so = |child: &&WorkerState| matches!(child, WorkerState::Ready { early_arguments, .. } if early_arguments.as_str() == state);
            let count = level(children.iter().filter(is_so).count());
            self.codex_completions_early_arguments.get_or_create(&LogState { state }).set(count);
        }
        for (counter, count) in [
            (&self.codex_completions_argument_fragments, codex.fragments),
            (&self.codex_completions_unattributed_fragments, codex.unattributed_fragments),
            (&self.codex_completions_log_mismatches, codex.log_mismatches),
        ] {
            counter.inner().store(count, Ordering::Relaxed);
        }
        for (incident, count) in Incident::all(codex) {
            let counter = self.codex_incidents.get_or_create(&incident);
            counter.inner().store(count, Ordering::Relaxed);
        }
        self.usage_rows_lost.inner().store(now.usage_rows_lost, Ordering::Relaxed);
        self.stored_response_bytes.set(level(now.stored_response_bytes));
        self.look_at_allowance(allowance.as_ref());
        // Another version of Codex is another series.
        self.build_info.clear();
        self.build_info.get_or_create(&Build::of(children)).set(1);
        let started = started.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        self.process_start_time_seconds.set(level(started));
        if let Some(memory) = process::resident_bytes() {
            self.process_resident_memory_bytes.set(memory);
        }
        if let Some(count) = process::open_descriptors() {
            self.process_open_fds.set(count);
        }
    }

    /// What is not known any more is no series any more.
    fn look_at_allowance(&self, allowance: Option<&RateLimits>) {
        let (used, resets) =
            (&self.account_limit_used_percent, &self.account_limit_resets_at_seconds);
        used.clear();
        resets.clear();
        let windows =
            allowance.map(|limits| [("primary", limits.primary), ("secondary", limits.secondary)]);
        for (window, known) in windows.into_iter().flatten() {
            let Some(known) = known else { continue };
            let labels = AllowanceWindow { window };
            used.get_or_create(&labels).set(known.used_percent.into());
            if let Some(at) = known.resets_at {
                resets.get_or_create(&labels).set(level(at));
            }
        }
    }
}

/// A figure as a gauge has it.
fn level(figure: impl TryInto<i64>) -> i64 {
    figure.try_into().unwrap_or(i64::MAX)
}

// === impl Now ===

#[cfg(test)]
impl Now {
    /// A server that does nothing.
    pub(crate) fn nothing() -> Self {
        Self {
            started: UNIX_EPOCH,
            load: Load::default(),
            children: vec![],
            codex: StatsSnapshot::default(),
            kept: KeptCounts::default(),
            allowance: None,
            usage_rows_lost: 0,
            stored_response_bytes: 0,
        }
    }
}
