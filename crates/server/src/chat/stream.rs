//! A streamed answer: the body of the response, which takes the turns' events as it is read.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use bridge::{EndReason, Frames};
use http_body::{Body, Frame};
use openai_wire::chat::stream::{done, error_frame};
use openai_wire::{ApiError, Usage, comment};

use super::session::{Session, Step};
use super::turn_log::TurnLog;
use super::usage::{Counting, Prompt};
use crate::metrics::ActiveStream;

/// How long the first event of a turn may take before the head of the answer leaves without it.
const HEAD_AFTER: Duration = Duration::from_secs(10);

/// The body of a streamed answer.
pub(super) struct ChatStream {
    session: Session,
    frames: Frames,
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
    Done,
}

/// What frames are about to leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sent {
    Data,
    KeepAlive,
}

// === impl ChatStream ===

impl ChatStream {
    /// Waits for the first event of a turn, so that an early failure has a status of its own.
    pub(super) async fn begin(
        mut session: Session,
        mut frames: Frames,
        log: Arc<TurnLog>,
        keep_alive: Option<Duration>,
        prompt: Option<Prompt>,
    ) -> Result<Self, ApiError> {
        let head_at = Instant::now() + HEAD_AFTER;
        let nothing_said = frames.buffer.len();
        let first = poll_fn(|context| session.poll_step(&mut frames, Some(head_at), context)).await;
        let last_frame = Instant::now();
        let mut stream = Self {
            session,
            frames,
            _active: log.metrics.stream_begun(),
            log,
            keep_alive,
            last_frame,
            last_data: None,
            prompt,
            phase: Phase::Running,
        };
        if let Step::Failed(failure) = first {
            let error = bridge::api_error(&failure);
            if stream.frames.buffer.len() == nothing_said {
                if let Some(recording) = stream.session.recording() {
                    recording.error(&error);
                }
                stream.session.conclude(EndReason::Failed);
                return Err(error);
            }
            // What was said is not lost, however soon it failed after that.
            stream.fail(&error);
        } else if let Some(recording) = stream.session.recording() {
            recording.head();
        }
        Ok(stream)
    }

    /// Makes the next frames, if they are not there already.
    fn poll_frames(&mut self, context: &mut Context<'_>) -> Poll<Sent> {
        let mut sent = Sent::Data;
        while self.frames.buffer.is_empty() {
            match &mut self.phase {
                Phase::Done => return Poll::Ready(sent),
                Phase::Counting(counting) => {
                    let usage = ready!(counting.poll_usage(context));
                    self.close(Some(&usage));
                }
                Phase::Running => {
                    let wake_at = self.keep_alive.map(|silence| self.last_frame + silence);
                    let step = self.session.poll_step(&mut self.frames, wake_at, context);
                    match ready!(step) {
                        Step::More => {}
                        Step::Time => {
                            comment("keep-alive", &mut self.frames.buffer);
                            if let Some(recording) = self.session.recording() {
                                recording.keep_alive();
                            }
                            sent = Sent::KeepAlive;
                        }
                        Step::Done => self.end(),
                        Step::Failed(failure) => self.fail(&bridge::api_error(&failure)),
                    }
                }
            }
        }
        if let Phase::Running = self.phase
            && self.session.has_ended()
        {
            self.end();
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
        error_frame(error, &mut self.frames.buffer);
        self.prompt = None;
        self.end();
    }

    /// After the last finish frame: telemetry, usage, end.
    fn end(&mut self) {
        let reports = self.session.conclude(EndReason::Failed);
        let telemetry = bridge::telemetry(&reports, self.log.stop_after_tools);
        comment(&telemetry, &mut self.frames.buffer);
        match self.prompt.take().map(|prompt| prompt.usage(&reports)) {
            None => self.close(None),
            Some(Ok(usage)) => self.close(Some(&usage)),
            Some(Err(counting)) => self.phase = Phase::Counting(counting),
        }
    }

    fn close(&mut self, usage: Option<&Usage>) {
        if let Some(usage) = usage {
            self.frames.writer.usage(usage, &mut self.frames.buffer);
            if let Some(recording) = self.session.recording() {
                recording.usage(usage);
            }
        }
        done(&mut self.frames.buffer);
        self.phase = Phase::Done;
    }
}

impl Body for ChatStream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = &mut *self;
        let kind = ready!(this.poll_frames(context));
        if this.frames.buffer.is_empty() {
            return Poll::Ready(None);
        }
        this.sent(kind, Instant::now());
        let frames = this.frames.buffer.split().freeze();
        if let Some(recording) = this.session.recording() {
            recording.sent(&frames);
        }
        Poll::Ready(Some(Ok(Frame::data(frames))))
    }
}
