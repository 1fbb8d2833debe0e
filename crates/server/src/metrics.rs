//! What is counted and measured, for Prometheus.

mod bounds;
mod described;
mod labels;
mod now;
mod process;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bridge::{EndReason, OutputMode};
use codex_app_server::{Continued, FreshReason, Timing, Timings};
use model_turn::FailureKind;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::turn_record::TurnRecord;
use described::Metric;
pub use described::{Described, Kind};
use labels::{
    AllowanceWindow, Block, Build, CallDelivery, ChildState, CodexMethod, ConnectionRefusal,
    CutReason, Deviation, FailedPart, Incident, KeptState, LogState, RefusalReason, RequestEnd,
    RequestRoute, Source, ThreadOrigin, TokenKind, TurnEnd,
};
pub(crate) use labels::{Outcome, Refused, Route};
pub(crate) use now::Now;

/// One list for the fields, the names, the explanations and the documentation.
macro_rules! metrics {
    ($($(#[doc = $help:literal])+ $name:ident: $type:ty = $new:expr;)*) => {
        /// Everything that is counted.
        #[derive(Debug)]
        pub(crate) struct Metrics {
            registry: Registry,
            $($name: $type,)*
        }

        /// Every metric there is.
        pub const METRICS: &[Described] = &[$(Described {
            name: stringify!($name),
            kind: <$type as Metric>::KIND,
            labels: <$type as Metric>::LABELS,
        },)*];

        impl Default for Metrics {
            fn default() -> Self {
                let mut registry = Registry::default();
                $(
                    let $name: $type = $new;
                    registry.register(stringify!($name), concat!($($help),+).trim(), $name.clone());
                )*
                let metrics = Self { registry, $($name,)* };
                metrics.begin_at_zero();
                metrics
            }
        }
    };
}

metrics! {
    /// Requests by route, status and what became of them
    requests: Family<RequestEnd, Counter> = Family::default();
    /// Time from a request's head to the end of its answer
    request_duration_seconds: Family<RequestRoute, Histogram> =
        Family::new_with_constructor(|| histogram(&bounds::REQUEST));
    /// Requests that were not let in, by why
    requests_refused: Family<RefusalReason, Counter> = Family::default();
    /// Connections that were closed with an error before there was a request, by the error's code
    connections_refused: Family<ConnectionRefusal, Counter> = Family::default();
    /// Time from a request's head to the first text, reasoning or call for the client
    first_token_seconds: Histogram = histogram(&bounds::FIRST_TOKEN);
    /// Time between two frames of a stream, keep-alives apart
    frame_gap_seconds: Histogram = histogram(&bounds::FRAME_GAP);
    /// Streams that are open
    streams_active: Gauge = Gauge::default();
    /// Places for turns that are in use
    turns_running: Gauge = Gauge::default();
    /// Requests that wait for their turns to be let in
    turns_waiting: Gauge = Gauge::default();
    /// Places for turns that there are
    turns_limit: Gauge = Gauge::default();
    /// Time that requests waited for their turns to be let in
    queue_wait_seconds: Histogram = histogram(&bounds::QUEUE_WAIT);
    /// Turns by why they ended
    turns: Family<TurnEnd, Counter> = Family::default();
    /// Turns that were cut before the model had finished, by why
    turn_cuts: Family<CutReason, Counter> = Family::default();
    /// Turns that failed, by what failed
    turn_failures: Family<FailedPart, Counter> = Family::default();
    /// Turns by how they got their threads, and why they got fresh ones
    turn_continuity: Family<ThreadOrigin, Counter> = Family::default();
    /// Threads that are kept for conversations that may go on, by where they stand
    kept_threads: Family<KeptState, Gauge> = Family::default();
    /// Bytes of the conversations in them
    kept_thread_bytes: Gauge = Gauge::default();
    /// Tool calls that were forwarded to clients
    tool_call_count: Counter = Counter::default();
    /// Turns of which a call was dropped, or that were cut before the response's end
    tool_call_truncated: Counter = Counter::default();
    /// Tool calls that were forwarded, by how the model said them and how they were sent
    tool_calls: Family<Source, Counter> = Family::default();
    /// Tool calls of a turn
    turn_tool_calls: Histogram = histogram(&bounds::CALLS);
    /// Blocks in the text of models, by what became of them
    tool_blocks: Family<Block, Counter> = Family::default();
    /// Values of structured calls that could not be written into a block unchanged
    codex_completions_xml_values_altered: Counter = Counter::default();
    /// Inputs of custom tools that the model did not write as JSON, by what was made of them
    codex_completions_custom_input_deviations: Family<Deviation, Counter> = Family::default();
    /// Bytes of text that were not sent
    suppressed_bytes: Counter = Counter::default();
    /// Tokens by kind, as the upstream counts them
    usage_tokens: Family<TokenKind, Counter> = Family::default();
    /// Turns that could not be kept for `/v1/usage`
    usage_rows_lost: Counter = Counter::default();
    /// Responses that were stored
    responses_stored: Counter = Counter::default();
    /// Responses that should have been stored, and could not be
    responses_not_stored: Counter = Counter::default();
    /// What the stored responses take
    stored_response_bytes: Gauge = Gauge::default();
    /// Used part of the account's allowance, in percent, by window
    account_limit_used_percent: Family<AllowanceWindow, Gauge> = Family::default();
    /// When a window of the account's allowance begins anew, in seconds since 1970
    account_limit_resets_at_seconds: Family<AllowanceWindow, Gauge> = Family::default();
    /// Children of Codex by where they stand
    codex_children: Family<ChildState, Gauge> = Family::default();
    /// Time from the start of a child to the end of its handshake
    codex_handshake_seconds: Histogram = histogram(&bounds::HANDSHAKE);
    /// Children of Codex by whether they stream arguments as the model writes them
    codex_completions_early_arguments: Family<LogState, Gauge> = Family::default();
    /// Structured calls by how they were forwarded: as the model wrote them, or whole
    codex_completions_tool_calls: Family<CallDelivery, Counter> = Family::default();
    /// Fragments of arguments in Codex's log that were handed to a turn
    codex_completions_argument_fragments: Counter = Counter::default();
    /// Fragments of arguments in Codex's log whose turn is not known
    codex_completions_unattributed_fragments: Counter = Counter::default();
    /// Turns that failed because Codex's log contradicted its output
    codex_completions_log_mismatches: Counter = Counter::default();
    /// Time from the start of a streamed call to the whole call
    codex_completions_argument_head_start_seconds: Histogram = histogram(&bounds::HEAD_START);
    /// Time in which Codex answered a request of ours
    codex_request_seconds: Family<CodexMethod, Histogram> =
        Family::new_with_constructor(|| histogram(&bounds::CODEX_REQUEST));
    /// Children of Codex that were lost or did not start, and were started again
    codex_restarts: Counter = Counter::default();
    /// Children of Codex that were replaced while they were well
    codex_renewals: Counter = Counter::default();
    /// Requests of Codex for approval or input, all of which are declined
    codex_declined_requests: Counter = Counter::default();
    /// Silences in which calls were answered to see whether the stream was alive
    codex_probes: Counter = Counter::default();
    /// Turns that asked the model once more after their response had ended
    codex_extra_model_requests: Counter = Counter::default();
    /// Other things about Codex that should be rare, by what
    codex_incidents: Family<Incident, Counter> = Family::default();
    /// Always 1; the versions are its labels
    build_info: Family<Build, Gauge> = Family::default();
    /// Memory of the server
    process_resident_memory_bytes: Gauge = Gauge::default();
    /// Files and sockets of the server that are open
    process_open_fds: Gauge = Gauge::default();
    /// When the server started, in seconds since 1970
    process_start_time_seconds: Gauge = Gauge::default();
}

/// A stream that is open, until it is dropped.
#[derive(Debug)]
pub(crate) struct ActiveStream(Gauge);

fn histogram(bounds: &[f64]) -> Histogram {
    Histogram::new(bounds.iter().copied())
}

// === impl Metrics ===

impl Metrics {
    /// A counter that begins with its first event hides that one from whoever looks at differences.
    fn begin_at_zero(&self) {
        for end in EndReason::ALL {
            self.turns.get_or_create(&TurnEnd::of(end)).inc_by(0);
            if end.is_cut() {
                self.turn_cuts.get_or_create(&CutReason::of(end)).inc_by(0);
            }
        }
        for kind in FailureKind::ALL.map(FailureKind::as_str) {
            self.turn_failures.get_or_create(&FailedPart { kind }).inc_by(0);
        }
        for continued in FreshReason::ALL
            .map(Continued::Fresh)
            .into_iter()
            .chain([Continued::Reused, Continued::Resumed])
        {
            self.turn_continuity.get_or_create(&ThreadOrigin::of(continued)).inc_by(0);
        }
        for reason in Refused::ALL {
            self.requests_refused.get_or_create(&RefusalReason { reason }).inc_by(0);
        }
        for state in ["started", "flushed", "aborted"] {
            self.tool_blocks.get_or_create(&Block { state }).inc_by(0);
        }
        for input in ["raw", "malformed"] {
            let deviations = &self.codex_completions_custom_input_deviations;
            deviations.get_or_create(&Deviation { input }).inc_by(0);
        }
        for kind in ["prompt", "cached", "completion", "reasoning"] {
            self.usage_tokens.get_or_create(&TokenKind { kind }).inc_by(0);
        }
        for delivery in ["streamed", "whole"] {
            self.codex_completions_tool_calls.get_or_create(&CallDelivery { delivery }).inc_by(0);
        }
        for source in ["structured", "text"] {
            for mode in [OutputMode::ObsidianXml, OutputMode::OpenAiJson].map(OutputMode::as_str) {
                self.tool_calls.get_or_create(&Source { source, mode }).inc_by(0);
            }
        }
    }

    /// All of them, in the text format.
    pub(crate) fn encode(&self, now: &Now) -> Result<String, fmt::Error> {
        self.look_at(now);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &self.registry)?;
        Ok(text)
    }

    /// Where children tell how long they take.
    pub(crate) fn timings(self: &Arc<Self>) -> Timings {
        let metrics = Arc::clone(self);
        Arc::new(move |timing| match timing {
            Timing::Handshake(took) => metrics.codex_handshake_seconds.observe(took.as_secs_f64()),
            Timing::Request { method, took } => {
                let requests = metrics.codex_request_seconds.get_or_create(&CodexMethod { method });
                requests.observe(took.as_secs_f64());
            }
            Timing::HeadStart(time) => {
                metrics.codex_completions_argument_head_start_seconds.observe(time.as_secs_f64());
            }
        })
    }

    /// A response that should be stored was, or could not be.
    pub(crate) fn response_kept(&self, is_stored: bool) {
        if is_stored { &self.responses_stored } else { &self.responses_not_stored }.inc();
    }

    pub(crate) fn turn_ended(&self, turn: &TurnRecord<'_>) {
        let report = turn.report;
        self.turns.get_or_create(&TurnEnd::of(report.end)).inc();
        if report.end.is_cut() {
            self.turn_cuts.get_or_create(&CutReason::of(report.end)).inc();
        }
        if let Some(failure) = report.failure {
            self.turn_failures.get_or_create(&FailedPart { kind: failure.as_str() }).inc();
        }
        self.turn_continuity.get_or_create(&ThreadOrigin::of(turn.continued)).inc();
        self.tool_call_count.inc_by(count(report.call_count));
        if report.truncated {
            self.tool_call_truncated.inc();
        }
        let structured = report.call_count - report.text_calls;
        for (source, calls) in [("structured", structured), ("text", report.text_calls)] {
            if calls > 0 {
                let labels = Source { source, mode: turn.request.mode.as_str() };
                self.tool_calls.get_or_create(&labels).inc_by(count(calls));
            }
        }
        let whole = structured.saturating_sub(report.streamed_calls);
        for (delivery, calls) in [("streamed", report.streamed_calls), ("whole", whole)] {
            if calls > 0 {
                let deliveries = &self.codex_completions_tool_calls;
                deliveries.get_or_create(&CallDelivery { delivery }).inc_by(count(calls));
            }
        }
        // No turn has so many calls that a float could not tell them apart.
        #[expect(clippy::cast_precision_loss)]
        self.turn_tool_calls.observe(report.call_count as f64);
        let blocks = report.blocks;
        for (state, blocks) in [
            ("started", blocks.started),
            ("flushed", blocks.flushed),
            ("aborted", blocks.aborted()),
        ] {
            if blocks > 0 {
                self.tool_blocks.get_or_create(&Block { state }).inc_by(count(blocks));
            }
        }
        self.codex_completions_xml_values_altered.inc_by(count(report.altered_values));
        for (input, deviations) in
            [("raw", report.input_deviations.raw), ("malformed", report.input_deviations.malformed)]
        {
            if deviations > 0 {
                let counter = &self.codex_completions_custom_input_deviations;
                counter.get_or_create(&Deviation { input }).inc_by(count(deviations));
            }
        }
        self.suppressed_bytes.inc_by(count(report.suppressed_bytes));
        if let Some(usage) = &report.usage {
            for (kind, tokens) in usage.kinds() {
                self.usage_tokens.get_or_create(&TokenKind { kind }).inc_by(tokens);
            }
        }
        // A request has it once, however many choices it has.
        if turn.choice == 0
            && let Some(first_token) = turn.first_token()
        {
            self.first_token_seconds.observe(first_token.as_secs_f64());
        }
    }

    pub(crate) fn request_ended(
        &self,
        route: Route,
        status: Option<u16>,
        outcome: Outcome,
        duration: Duration,
    ) {
        self.requests.get_or_create(&RequestEnd::new(route, status, outcome)).inc();
        let durations = self.request_duration_seconds.get_or_create(&RequestRoute { route });
        durations.observe(duration.as_secs_f64());
    }

    pub(crate) fn request_refused(&self, reason: Refused) {
        self.requests_refused.get_or_create(&RefusalReason { reason }).inc();
    }

    pub(crate) fn connection_refused(&self, code: &str) {
        let reason = code.to_owned();
        self.connections_refused.get_or_create(&ConnectionRefusal { reason }).inc();
    }

    pub(crate) fn turns_let_in(&self, waited: Duration) {
        self.queue_wait_seconds.observe(waited.as_secs_f64());
    }

    pub(crate) fn stream_begun(&self) -> ActiveStream {
        self.streams_active.inc();
        ActiveStream(self.streams_active.clone())
    }

    pub(crate) fn frame_sent(&self, gap: Duration) {
        self.frame_gap_seconds.observe(gap.as_secs_f64());
    }
}

fn count(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

// === impl ActiveStream ===

impl Drop for ActiveStream {
    fn drop(&mut self) {
        self.0.dec();
    }
}

#[cfg(test)]
mod tests;
