//! A streamed answer: the body of the response, which takes the turns' events as it is read.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use bridge::{Answer, EndReason};
use bytes::BytesMut;
use http_body::Frame;
use openai_wire::{ApiError, Usage, comment};

use super::session::{Outcome, Session, Step};
use super::summary::tell_continuity;
use super::turn_log::TurnLog;
use super::usage::{Counting, Prompt};
use crate::captures::Recording;
use crate::headers::X_ACCEL_BUFFERING;
use crate::metrics::ActiveStream;

/// How long the first event of a turn may take before the head of the answer leaves without it.
const HEAD_AFTER: Duration = Duration::from_secs(10);

/// An answer that is written frame by frame.
pub(crate) trait StreamedAnswer: Send + Unpin + 'static {
    /// What the turns are told to.
    type Answer: Answer;

    fn answer(&mut self) -> &mut Self::Answer;
    /// Frames that are ready to leave.
    fn buffer(&mut self) -> &mut BytesMut;
    /// It has failed after its first byte.
    fn fail(&mut self, error: &ApiError);
    /// Somebody has ended it who is not its client.
    fn cancel(&mut self);
    /// The turns are over: `telemetry` is what is told of their calls.
    fn conclude(&mut self, telemetry: String);
    /// What has to be done before the client is told the end; `usage` if it was wanted.
    fn keep(&mut self, usage: Option<&Usage>) -> Option<Keeping>;
    /// The last frames. `kept` is what came of that; what a replay has to know of it is recorded.
    fn close(&mut self, usage: Option<&Usage>, kept: bool, recording: Option<&Recording>);
}

/// Says in the end whether the answer is kept.
pub(crate) type Keeping = Pin<Box<dyn Future<Output = bool> + Send>>;

/// The body of a streamed answer.
pub(crate) struct AnswerStream<A> {
    session: Session,
    answer: A,
    log: Arc<TurnLog>,
    /// Silence after which a comment is sent.
    keep_alive: Option<Duration>,
    last_frame: Instant,
    /// The same without keep-alives; `None` before the first one.
    last_data: Option<Instant>,
    _active: ActiveStream,
    /// Taken when the usage is counted; `None` where the client does not want any.
    prompt: Option<Prompt>,
    phase: Phase,
}

enum Phase {
    Running,
    /// The upstream gave no figures, and the client wants some.
    Counting(Counting),
    Keeping {
        usage: Option<Usage>,
        keeping: Keeping,
    },
    Done,
}

/// An answer whose body is a stream of events.
pub(crate) fn event_stream<A: StreamedAnswer>(
    mut headers: HeaderMap,
    stream: AnswerStream<A>,
) -> Response {
    tell_continuity(stream.session.continued(), &mut headers);
    for (name, value) in [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-cache, no-transform"),
        (X_ACCEL_BUFFERING, "no"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let mut response = Response::new(Body::new(stream));
    *response.headers_mut() = headers;
    response
}

/// What frames are about to leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sent {
    Data,
    KeepAlive,
}

// === impl AnswerStream ===

impl<A: StreamedAnswer> AnswerStream<A> {
    /// Waits for the first event of a turn, so that an early failure has a status of its own.
    pub(crate) async fn begin(
        mut session: Session,
        mut answer: A,
        log: Arc<TurnLog>,
        keep_alive: Option<Duration>,
        prompt: Option<Prompt>,
    ) -> Result<Self, ApiError> {
        let head_at = Instant::now() + HEAD_AFTER;
        let nothing_said = answer.buffer().len();
        let first =
            poll_fn(|context| session.poll_step(answer.answer(), Some(head_at), context)).await;
        let last_frame = Instant::now();
        let mut stream = Self {
            session,
            answer,
            _active: log.metrics.stream_begun(),
            log,
            keep_alive,
            last_frame,
            last_data: None,
            prompt,
            phase: Phase::Running,
        };
        match first {
            Step::Over(Outcome::Failed(failure)) => {
                if stream.answer.buffer().len() == nothing_said {
                    if let Some(recording) = stream.session.recording() {
                        recording.error(&bridge::api_error(&failure));
                    }
                    stream.session.conclude(EndReason::Failed);
                    return Err(stream.log.failures.explain(&failure).await);
                }
                // What was said is not lost, however soon it failed after that.
                stream.fail(&bridge::api_error(&failure));
            }
            first => {
                if let Some(recording) = stream.session.recording() {
                    recording.head();
                }
                if let Step::Over(Outcome::Cancelled) = first {
                    stream.cancel();
                }
            }
        }
        Ok(stream)
    }

    /// Makes the next frames, if they are not there already.
    fn poll_frames(&mut self, context: &mut Context<'_>) -> Poll<Sent> {
        let mut sent = Sent::Data;
        while self.answer.buffer().is_empty() {
            match &mut self.phase {
                Phase::Done => return Poll::Ready(sent),
                Phase::Counting(counting) => {
                    let usage = ready!(counting.poll_usage(context));
                    self.keep(Some(usage));
                }
                Phase::Keeping { usage, keeping } => {
                    let kept = ready!(keeping.as_mut().poll(context));
                    let usage = usage.take();
                    self.close(usage.as_ref(), kept);
                }
                Phase::Running => {
                    let wake_at = self.keep_alive.map(|silence| self.last_frame + silence);
                    let step = self.session.poll_step(self.answer.answer(), wake_at, context);
                    match ready!(step) {
                        Step::More => {}
                        Step::Time => {
                            comment("keep-alive", self.answer.buffer());
                            if let Some(recording) = self.session.recording() {
                                recording.keep_alive();
                            }
                            sent = Sent::KeepAlive;
                        }
                        Step::Over(Outcome::Done) => self.end(EndReason::Failed),
                        Step::Over(Outcome::Cancelled) => self.cancel(),
                        Step::Over(Outcome::Failed(failure)) => {
                            self.fail(&bridge::api_error(&failure));
                        }
                    }
                }
            }
        }
        if let Phase::Running = self.phase
            && self.session.has_ended()
        {
            self.end(EndReason::Failed);
        }
        Poll::Ready(sent)
    }

    fn sent(&mut self, sent: Sent, now: Instant) {
        self.last_frame = now;
        if sent == Sent::Data
            && let Some(before) = self.last_data.replace(now)
        {
            self.log.metrics.frame_sent(now - before);
        }
    }

    /// After the first byte an error is a frame.
    fn fail(&mut self, error: &ApiError) {
        self.answer.fail(error);
        self.prompt = None;
        self.end(EndReason::Failed);
    }

    fn cancel(&mut self) {
        self.answer.cancel();
        self.end(EndReason::Cancelled);
    }

    /// The turns are over; what has not ended by itself does so for the given reason.
    fn end(&mut self, unfinished: EndReason) {
        let reports = self.session.conclude(unfinished);
        let telemetry = bridge::telemetry(&reports, self.log.stop_after_tools);
        self.answer.conclude(telemetry);
        match self.prompt.take().map(|prompt| prompt.usage(&reports)) {
            None => self.keep(None),
            Some(Ok(usage)) => self.keep(Some(usage)),
            Some(Err(counting)) => self.phase = Phase::Counting(counting),
        }
    }

    fn keep(&mut self, usage: Option<Usage>) {
        match self.answer.keep(usage.as_ref()) {
            Some(keeping) => self.phase = Phase::Keeping { usage, keeping },
            None => self.close(usage.as_ref(), false),
        }
    }

    fn close(&mut self, usage: Option<&Usage>, kept: bool) {
        self.answer.close(usage, kept, self.session.recording());
        if let Some(usage) = usage
            && let Some(recording) = self.session.recording()
        {
            recording.usage(usage);
        }
        self.phase = Phase::Done;
    }
}

impl<A: StreamedAnswer> http_body::Body for AnswerStream<A> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = &mut *self;
        let kind = ready!(this.poll_frames(context));
        if this.answer.buffer().is_empty() {
            return Poll::Ready(None);
        }
        this.sent(kind, Instant::now());
        let frames = this.answer.buffer().split().freeze();
        if let Some(recording) = this.session.recording() {
            recording.sent(&frames);
        }
        Poll::Ready(Some(Ok(Frame::data(frames))))
    }
}
