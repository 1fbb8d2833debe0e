//! What a metric is, for those who explain it.

use std::sync::atomic::AtomicU64;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;

use super::labels::LabelNames;

/// One metric, as it is documented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Described {
    /// Without what the text format adds.
    pub name: &'static str,
    /// Whether it only grows, moves, or sorts values.
    pub kind: Kind,
    /// The names of its labels.
    pub labels: &'static [&'static str],
}

/// What a metric is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Only grows; the text format adds `_total`.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Sorts values by their size; the text format adds `_bucket`, `_sum` and `_count`.
    Histogram,
}

/// What a type of metric says about itself.
pub(super) trait Metric {
    const KIND: Kind;
    const LABELS: &'static [&'static str] = &[];
}

// === impl Metric ===

impl Metric for Counter<u64, AtomicU64> {
    const KIND: Kind = Kind::Counter;
}

impl Metric for Gauge {
    const KIND: Kind = Kind::Gauge;
}

impl Metric for Histogram {
    const KIND: Kind = Kind::Histogram;
}

impl<L: LabelNames, M: Metric> Metric for Family<L, M> {
    const KIND: Kind = M::KIND;
    const LABELS: &'static [&'static str] = L::NAMES;
}

// === impl Described ===

impl Described {
    /// Its names in the text format.
    pub fn series(&self) -> Vec<String> {
        let endings: &[&str] = match self.kind {
            Kind::Counter => &["_total"],
            Kind::Gauge => &[""],
            Kind::Histogram => &["_bucket", "_sum", "_count"],
        };
        endings.iter().map(|ending| format!("{}{ending}", self.name)).collect()
    }
}
