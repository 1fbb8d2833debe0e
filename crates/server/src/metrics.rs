//! Counters and gauges, for Prometheus.

use std::fmt;
use std::sync::atomic::Ordering;

use bridge::EndReason;
use codex_app_server::StatsSnapshot;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::turn_queue::{Load, Refusal};
use crate::turn_record::TurnRecord;

/// Everything that is counted.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    tool_call_count: Counter,
    tool_call_truncated: Counter,
    turns: Family<TurnLabels, Counter>,
    codex_restarts: Counter,
    codex_declined_requests: Counter,
    turns_running: Gauge,
    turns_waiting: Gauge,
    requests_refused: Family<RefusedLabels, Counter>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TurnLabels {
    end: EndLabel,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct EndLabel(EndReason);

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RefusedLabels {
    reason: Refused,
}

/// Why a request that is right was not let in. Each has its error's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Refused {
    QueueFull,
    TooManyTurns,
    TooManyLargeRequests,
    RateLimitExceeded,
    ShuttingDown,
}

// === impl Metrics ===

impl Default for Metrics {
    fn default() -> Self {
        let mut metrics = Self {
            registry: Registry::default(),
            tool_call_count: Counter::default(),
            tool_call_truncated: Counter::default(),
            turns: Family::default(),
            codex_restarts: Counter::default(),
            codex_declined_requests: Counter::default(),
            turns_running: Gauge::default(),
            turns_waiting: Gauge::default(),
            requests_refused: Family::default(),
        };
        // The text format adds `_total` to the names of counters.
        let registry = &mut metrics.registry;
        registry.register(
            "tool_call_count",
            "Tool calls that were forwarded to clients",
            metrics.tool_call_count.clone(),
        );
        registry.register(
            "tool_call_truncated",
            "Turns of which a call was dropped, or that were cut before the response's end",
            metrics.tool_call_truncated.clone(),
        );
        registry.register("turns", "Turns by why they ended", metrics.turns.clone());
        registry.register(
            "codex_restarts",
            "Children of Codex that were lost or did not start, and were started again",
            metrics.codex_restarts.clone(),
        );
        registry.register(
            "codex_declined_requests",
            "Requests of Codex for approval or input, all of which are declined",
            metrics.codex_declined_requests.clone(),
        );
        registry.register(
            "turns_running",
            "Places for turns that are in use",
            metrics.turns_running.clone(),
        );
        registry.register(
            "turns_waiting",
            "Requests that wait for their turns to be let in",
            metrics.turns_waiting.clone(),
        );
        registry.register(
            "requests_refused",
            "Requests that were not let in, by why",
            metrics.requests_refused.clone(),
        );
        metrics
    }
}

impl Metrics {
    /// All of them, in the text format; `load` is what there is now.
    pub(crate) fn encode(&self, load: Load) -> Result<String, fmt::Error> {
        self.turns_running.set(load.running.into());
        self.turns_waiting.set(i64::try_from(load.waiting).unwrap_or(i64::MAX));
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &self.registry)?;
        Ok(text)
    }

    /// What the children's own counters say by now.
    pub(crate) fn set_codex(&self, stats: &StatsSnapshot) {
        self.codex_restarts.inner().store(stats.restarts, Ordering::Relaxed);
        self.codex_declined_requests.inner().store(stats.declined_requests, Ordering::Relaxed);
    }

    pub(crate) fn turn_ended(&self, turn: &TurnRecord<'_>) {
        let report = turn.report;
        self.tool_call_count.inc_by(report.call_count as u64);
        if report.truncated {
            self.tool_call_truncated.inc();
        }
        self.turns.get_or_create(&TurnLabels { end: EndLabel(report.end) }).inc();
    }

    pub(crate) fn request_refused(&self, reason: Refused) {
        let labels = RefusedLabels { reason };
        self.requests_refused.get_or_create(&labels).inc();
    }
}

// === impl Refused ===

impl Refused {
    /// `None` for a request that is wrong.
    pub(crate) fn of(refusal: &Refusal) -> Option<Self> {
        match refusal {
            Refusal::NeverFits { .. } => None,
            Refusal::QueueFull(_) => Some(Self::QueueFull),
            Refusal::WaitedTooLong { .. } => Some(Self::TooManyTurns),
            Refusal::ShuttingDown => Some(Self::ShuttingDown),
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::QueueFull => "queue_full",
            Self::TooManyTurns => "too_many_turns",
            Self::TooManyLargeRequests => "too_many_large_requests",
            Self::RateLimitExceeded => "rate_limit_exceeded",
            Self::ShuttingDown => "shutting_down",
        }
    }
}

impl EncodeLabelValue for Refused {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), fmt::Error> {
        EncodeLabelValue::encode(&self.as_str(), encoder)
    }
}

// === impl EndLabel ===

impl EncodeLabelValue for EndLabel {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), fmt::Error> {
        EncodeLabelValue::encode(&self.0.as_str(), encoder)
    }
}
