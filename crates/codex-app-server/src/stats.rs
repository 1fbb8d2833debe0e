//! Counters of things that should be rare, and of those that should be seen.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($($(#[doc = $doc:literal])+ $variant:ident => $field:ident,)*) => {
        /// Something worth counting.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Counter {
            $($variant,)*
        }

        #[derive(Debug, Default)]
        pub(crate) struct Stats {
            $($field: AtomicU64,)*
        }

        /// What a client has counted since it started.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct StatsSnapshot {
            $($(#[doc = $doc])+ pub $field: u64,)*
        }

        impl Stats {
            pub(crate) fn count(&self, counter: Counter) {
                self.add(counter, 1);
            }

            pub(crate) fn add(&self, counter: Counter, count: u64) {
                let field = match counter {
                    $(Counter::$variant => &self.$field,)*
                };
                field.fetch_add(count, Ordering::Relaxed);
            }

            pub(crate) fn snapshot(&self) -> StatsSnapshot {
                StatsSnapshot {
                    $($field: self.$field.load(Ordering::Relaxed),)*
                }
            }
        }
    };
}

counters! {
    /// Turns asked for.
    Turn => turns,
    /// Children that were lost or did not start, and were started again.
    Restart => restarts,
    /// Children that were replaced while they were well.
    Renewal => renewals,
    /// Retries of ours, before any output.
    Retry => retries,
    /// Turns that were tried again without reasoning that the upstream could not read.
    ReasoningRefused => reasoning_refused,
    /// Retries that Codex announced before any output; harmless.
    CodexRetry => codex_retries,
    /// Retries that Codex announced after output: each failed its turn.
    RepeatedOutput => repeated_outputs,
    /// Silences in which pending calls were answered, to see whether the stream was still alive.
    Probe => probes,
    /// Turns seen to ask the model once more, after their response had ended. One that is
    /// interrupted before the model says anything leaves no trace, so this is the least there was.
    ExtraModelRequest => extra_model_requests,
    /// Requests of Codex for approval or input that were declined.
    Declined => declined_requests,
    /// Requests repeated because Codex's queue was full.
    Flood => flood_retries,
    /// Lines longer than the limit.
    OversizeLine => oversize_lines,
    /// Lines or notifications that could not be read.
    Unreadable => unreadable_messages,
    /// Answers that nobody waits for any more: to requests that ran out of time, or to none of ours.
    UnclaimedResponse => unclaimed_responses,
    /// Events of a turn that is over, or of another one of the same thread.
    StaleEvent => stale_events,
    /// Interrupted turns whose end Codex never reported.
    UnconfirmedEnd => unconfirmed_ends,
    /// Fragments of arguments in the child's log that were handed to a turn.
    Fragment => fragments,
    /// Fragments of arguments in the child's log whose turn is not known.
    UnattributedFragment => unattributed_fragments,
    /// Turns that failed because the child's log contradicted its output.
    LogMismatch => log_mismatches,
}
