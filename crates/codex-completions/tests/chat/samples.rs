//! What `/metrics` says, in parts.

use std::collections::{BTreeMap, BTreeSet};

use crate::proxy::Proxy;

/// The value of every series.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Samples(BTreeMap<Series, f64>);

/// A series: its name, and its labels by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) labels: BTreeMap<String, String>,
}

// === impl Samples ===

impl Samples {
    pub(crate) async fn of(proxy: &Proxy) -> Self {
        let metrics = proxy.metrics().await;
        let samples = metrics.lines().filter(|line| !line.starts_with('#'));
        Self(
            samples
                .map(|line| {
                    let (series, value) = line.rsplit_once(' ').unwrap();
                    (Series::parse(series), value.parse().unwrap())
                })
                .collect(),
        )
    }

    pub(crate) fn series(&self) -> BTreeSet<Series> {
        self.0.keys().cloned().collect()
    }

    /// The value of a series, named as [`Self::changed_since`] names them.
    pub(crate) fn value(&self, series: &str) -> Option<f64> {
        self.0.iter().find_map(|(known, value)| (known.to_string() == series).then_some(*value))
    }

    /// What differs now from what was before, as the text format writes the series; a series that was
    /// not there was 0.
    pub(crate) fn changed_since(&self, before: &Self) -> BTreeMap<String, f64> {
        let changes = self.0.iter().map(|(series, now)| {
            (series.to_string(), now - before.0.get(series).copied().unwrap_or_default())
        });
        changes.filter(|(_, change)| *change != 0.0).collect()
    }
}

// === impl Series ===

impl Series {
    fn parse(text: &str) -> Self {
        let (name, labels) = text.split_once('{').unwrap_or((text, "}"));
        let labels = labels.strip_suffix('}').unwrap();
        let labels = labels.split(',').filter(|label| !label.is_empty()).map(|label| {
            let (name, value) = label.split_once("=\"").unwrap();
            (name.to_owned(), value.strip_suffix('"').unwrap().to_owned())
        });
        Self { name: name.to_owned(), labels: labels.collect() }
    }
}

impl std::fmt::Display for Series {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)?;
        if self.labels.is_empty() {
            return Ok(());
        }
        let labels: Vec<_> =
            self.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        write!(f, "{{{}}}", labels.join(","))
    }
}
