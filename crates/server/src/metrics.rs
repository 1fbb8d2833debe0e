//! Counters, for Prometheus.

use std::fmt;

use bridge::{ChoiceReport, EndReason};
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// Everything that is counted.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    tool_call_count: Counter,
    tool_call_truncated: Counter,
    turns: Family<TurnLabels, Counter>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TurnLabels {
    end: EndLabel,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct EndLabel(EndReason);

// === impl Metrics ===

impl Default for Metrics {
    fn default() -> Self {
        let mut metrics = Self {
            registry: Registry::default(),
            tool_call_count: Counter::default(),
            tool_call_truncated: Counter::default(),
            turns: Family::default(),
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
        metrics
    }
}

impl Metrics {
    /// All of them, in the text format.
    pub(crate) fn encode(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &self.registry)?;
        Ok(text)
    }

    pub(crate) fn turn_ended(&self, report: &ChoiceReport) {
        self.tool_call_count.inc_by(report.call_count as u64);
        if report.truncated {
            self.tool_call_truncated.inc();
        }
        self.turns.get_or_create(&TurnLabels { end: EndLabel(report.end) }).inc();
    }
}

// === impl EndLabel ===

impl EncodeLabelValue for EndLabel {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), fmt::Error> {
        EncodeLabelValue::encode(&self.0.as_str(), encoder)
    }
}
