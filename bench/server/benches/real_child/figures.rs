//! Medians and their spread.

use std::time::Duration;

/// Measured values, in order of size.
#[derive(Debug, Clone)]
pub(crate) struct Figures(Vec<f64>);

// === impl Figures ===

impl Figures {
    /// The lowest value that `percent` of all values do not exceed.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        self.0[(self.0.len() * percent).div_ceil(100).saturating_sub(1)]
    }

    /// Whether there are enough for a 99th percentile that is not simply the highest.
    pub(crate) fn has_tail(&self) -> bool {
        self.0.len() >= 100
    }

    /// In order of size.
    pub(crate) fn values(&self) -> &[f64] {
        &self.0
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn median(&self) -> f64 {
        self.percentile(50)
    }

    pub(crate) fn min(&self) -> f64 {
        self.0[0]
    }

    pub(crate) fn max(&self) -> f64 {
        self.0[self.0.len() - 1]
    }
}

impl FromIterator<f64> for Figures {
    fn from_iter<T: IntoIterator<Item = f64>>(values: T) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        assert!(!values.is_empty(), "nothing was measured");
        values.sort_by(f64::total_cmp);
        Self(values)
    }
}

pub(crate) fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}
