//! Settings of an aggregator.

use super::{ToolCallAggregator, Turn};
use crate::ids::IdPolicy;
use crate::limits::Limits;
use crate::options::{FragmentMode, RepeatPolicy};
use crate::text::TextPatterns;

/// Settings of a [`ToolCallAggregator`].
#[derive(Debug, Clone, Default)]
pub struct Builder {
    id_policy: IdPolicy,
    repeat_policy: RepeatPolicy,
    fragments: FragmentMode,
    limits: Limits,
    patterns: TextPatterns,
}

// === impl Builder ===

impl Builder {
    /// How ids are made.
    #[must_use]
    pub fn id_policy(mut self, policy: IdPolicy) -> Self {
        self.id_policy = policy;
        self
    }

    /// How repeated events are distinguished from new ones.
    #[must_use]
    pub fn repeat_policy(mut self, policy: RepeatPolicy) -> Self {
        self.repeat_policy = policy;
        self
    }

    /// What the backend's fragments are.
    #[must_use]
    pub fn fragments(mut self, mode: FragmentMode) -> Self {
        self.fragments = mode;
        self
    }

    /// How much a turn may hold.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The formats of calls in text.
    #[must_use]
    pub fn patterns(mut self, patterns: TextPatterns) -> Self {
        self.patterns = patterns;
        self
    }

    /// The aggregator.
    pub fn build(self) -> ToolCallAggregator {
        let Self { id_policy, repeat_policy, fragments, limits, patterns } = self;
        ToolCallAggregator {
            id_policy,
            repeat_policy,
            fragments,
            limits,
            patterns,
            turn: Turn::default(),
            changes: Vec::new(),
            limit: None,
            sequence: None,
            is_late: false,
            ingests: 0,
        }
    }
}
