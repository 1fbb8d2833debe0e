//! The turns of a request and the answer that is made of them: the body of a stream, or a whole answer.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use bridge::{Answer, AnswerOptions, EndReason, Input, Output, Release, Want};
use codex_app_server::{Continued, FreshReason, Turn};
use http_body::Frame;

use super::running::Running;
use super::seconds_since_1970;
use super::usage::{Counting, Prompt, usage};
use crate::alarm::Alarm;
use crate::api_error::ErrorResponse;
use crate::headers::{
    X_ACCEL_BUFFERING, X_CODEX_TOOL_CALL_COUNT, X_CODEX_TOOL_CALL_TRUNCATED, X_PROXY_CONTINUITY,
    X_PROXY_USAGE,
};
use crate::metrics::ActiveStream;
use crate::request_info::RequestInfo;

/// Token counts that the upstream did not give, in `x-proxy-usage`.
pub(crate) const ESTIMATED: &str = "estimated";

/// Drives an [`Answer`]: it polls the turns, counts, stores and records, and moves bytes.
///
/// Dropping it ends the turns that still run.
pub(crate) struct LiveAnswer<O: Output> {
    answer: Answer<O>,
    running: Running,
    /// How the last turn that has ended got its thread.
    continued: Option<Continued>,
    alarm: Alarm,
    /// Taken when the usage is counted; none if the client does not want it.
    prompt: Option<Prompt>,
    /// Set if the upstream gave no token counts.
    counting: Option<Counting>,
    storage: Option<Box<dyn Storage<O>>>,
    storing: Option<Storing>,
    /// Set while the turns are polled: if that panics, it stays so.
    polling: bool,
    /// Whether the client has all of it.
    is_taken: bool,
    /// Whether the bytes that are ready are a keep-alive comment.
    is_comment: bool,
    /// When the last bytes of a stream were sent that were no comment.
    last_data: Option<Instant>,
    active: Option<ActiveStream>,
}

/// What else is done with an answer that has ended.
pub(crate) trait Storage<O>: Send {
    /// Stores it as it is now; `None` if that is not wanted.
    fn store(&mut self, output: &O) -> Option<Storing>;
    /// It is written to its end.
    fn ended(&self, output: &O);
}

/// Resolves to whether an answer is stored.
pub(crate) type Storing = Pin<Box<dyn Future<Output = bool> + Send>>;

// === impl Running ===

impl Running {
    /// Answers on the wire of `output`.
    pub(crate) async fn answer<O: Output + Send + Unpin + 'static>(
        self,
        output: O,
        prompt: Prompt,
        storage: Option<Box<dyn Storage<O>>>,
    ) -> Result<Response, ErrorResponse> {
        let headers = self.headers();
        let RequestInfo { choices, stream, include_usage, .. } = *self.request;
        let options = AnswerOptions {
            policy: Arc::clone(&self.policy),
            choices,
            stream,
            keep_alive: self.keep_alive,
            tokenizer: self.tokenizer.clone(),
            id_suffix: Arc::clone(&self.suffix),
        };
        let live = LiveAnswer {
            answer: Answer::new(output, options, ambient::now()),
            running: self,
            continued: None,
            alarm: Alarm::default(),
            // It holds the body.
            prompt: (include_usage || !stream).then_some(prompt),
            counting: None,
            storage,
            storing: None,
            polling: false,
            is_taken: false,
            is_comment: false,
            last_data: None,
            active: None,
        };
        if stream { live.stream(headers).await } else { live.whole(headers).await }
    }
}

// === impl LiveAnswer ===

impl<O: Output + Send + Unpin + 'static> LiveAnswer<O> {
    /// A stream, once its first event is there, so that an early failure has a status of its own.
    async fn stream(mut self, mut headers: HeaderMap) -> Result<Response, ErrorResponse> {
        poll_fn(|context| self.poll_turns(context)).await;
        if let Some(refusal) = self.refuse() {
            return Err(refusal.await);
        }
        self.active = Some(self.running.log.metrics.stream_begun());
        self.step(Input::Head, ambient::now());
        headers.insert(X_PROXY_CONTINUITY, self.continuity());
        for (name, value) in [
            (header::CONTENT_TYPE, O::STREAM_TYPE),
            (header::CACHE_CONTROL, "no-cache, no-transform"),
            (X_ACCEL_BUFFERING, "no"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        Ok(response(headers, Body::new(self)))
    }

    /// An answer that is sent when it has ended.
    async fn whole(mut self, mut headers: HeaderMap) -> Result<Response, ErrorResponse> {
        let body = poll_fn(|context| self.poll_bytes(context)).await;
        self.is_taken = true;
        if let Some(refusal) = self.refuse() {
            return Err(refusal.await);
        }
        if let Some(recording) = &self.running.recording {
            recording.answer(200, &body);
        }
        let reports = self.answer.reports();
        let truncated = if bridge::is_truncated(reports) { "true" } else { "false" };
        headers.insert(X_PROXY_CONTINUITY, self.continuity());
        headers.insert(X_CODEX_TOOL_CALL_COUNT, HeaderValue::from(bridge::call_count(reports)));
        headers.insert(X_CODEX_TOOL_CALL_TRUNCATED, HeaderValue::from_static(truncated));
        if self.counting.is_some() {
            headers.insert(X_PROXY_USAGE, HeaderValue::from_static(ESTIMATED));
        }
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(O::WHOLE_TYPE));
        Ok(response(headers, Body::from(body)))
    }
}

impl<O: Output> LiveAnswer<O> {
    /// The error that the client gets instead of an answer, if it does.
    fn refuse(&self) -> Option<impl Future<Output = ErrorResponse>> {
        let (failure, failures) = (self.answer.refusal()?, &self.running.failures);
        if let Some(recording) = &self.running.recording {
            let error = bridge::api_error(failure);
            recording.answer(error.status, error.to_json().as_bytes());
        }
        Some(async move { failures.explain(failure).await.into() })
    }

    /// The next bytes; none after the last ones.
    fn poll_bytes(&mut self, context: &mut Context<'_>) -> Poll<Bytes> {
        loop {
            let step = match self.answer.wants() {
                Want::Nothing => break,
                Want::Events if self.answer.has_bytes() => break,
                Want::Events => self.poll_turns(context),
                Want::Settlement => self.poll_settlement(context),
                Want::Storage => self.poll_storage(context),
            };
            if step.is_pending() {
                if self.answer.has_bytes() {
                    break;
                }
                return Poll::Pending;
            }
        }
        let now = ambient::now();
        let bytes = self.answer.take_bytes(now);
        if !std::mem::take(&mut self.is_comment)
            && let Some(before) = self.last_data.replace(now)
            && !bytes.is_empty()
        {
            self.running.log.metrics.frame_sent(now - before);
        }
        Poll::Ready(bytes)
    }

    /// Takes every event of the turns that is ready; otherwise waits for one, or for the time.
    fn poll_turns(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.polling = true;
        let polled = self.poll_events(ambient::now(), context);
        self.polling = false;
        if self.answer.wants() != Want::Events {
            self.report();
        }
        polled
    }

    fn poll_events(&mut self, now: Instant, context: &mut Context<'_>) -> Poll<()> {
        if let Some(cancelled) = &mut self.running.cancelled
            && cancelled.as_mut().poll(context).is_ready()
        {
            self.step(Input::Cancel, now);
            return Poll::Ready(());
        }
        let mut has_changed = false;
        for (index, choice) in (0..self.running.turns.len()).zip(0..) {
            has_changed |= self.take_events(index, choice, now, context);
            if self.answer.wants() != Want::Events {
                return Poll::Ready(());
            }
        }
        if has_changed {
            return Poll::Ready(());
        }
        if self.answer.silent_until().is_some_and(|at| at <= now) {
            if self.answer.has_head() {
                self.step(Input::Silence, now);
                self.is_comment = self.answer.has_bytes();
            }
            return Poll::Ready(());
        }
        if let Some(at) = self.answer.deadline()
            && self.alarm.poll_until(at, context).is_ready()
        {
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }

    /// Takes the events of a choice; returns whether there were any.
    fn take_events(
        &mut self,
        index: usize,
        choice: u32,
        now: Instant,
        context: &mut Context<'_>,
    ) -> bool {
        let mut has_changed = false;
        while let Some(turn) = &mut self.running.turns[index] {
            if self.answer.is_full() {
                // What is left is taken as soon as the client has taken this.
                context.waker().wake_by_ref();
                return true;
            }
            let input = match turn.poll_next(context) {
                Poll::Ready(Some(event)) => Input::Event { choice, event },
                // What came in time is taken before the time is looked at.
                Poll::Ready(None) | Poll::Pending if self.answer.is_due(choice, now) => {
                    Input::Deadline { choice }
                }
                Poll::Ready(None) | Poll::Pending => break,
            };
            has_changed = true;
            if let Some(release) = self.step(input, now) {
                self.release(index, release, context);
            }
        }
        has_changed
    }

    /// Before the client learns of the end: its next request may come at once.
    fn release(&mut self, index: usize, release: Release, context: &mut Context<'_>) {
        let Some(mut turn) = self.running.turns[index].take() else { return };
        self.continued = Some(turn.continued());
        match release {
            // By dropping it.
            Release::Interrupt => return,
            Release::Keep => turn.keep(),
            Release::LetEnd => {}
        }
        while let Poll::Ready(Some(_)) = turn.poll_next(context) {}
        if !turn.has_ended() {
            self.running.tasks.spawn(async move { while turn.next().await.is_some() {} });
        }
    }

    fn poll_settlement(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let usage = if let Some(counting) = &mut self.counting {
            Some(ready!(counting.poll_usage(context)))
        } else {
            let prompt = self.prompt.take();
            match prompt.map(|prompt| usage(self.answer.reports(), prompt)).transpose() {
                Ok(usage) => usage,
                Err(counting) => {
                    self.counting = Some(counting);
                    return Poll::Ready(());
                }
            }
        };
        self.step(Input::Settle { usage, at: seconds_since_1970() }, ambient::now());
        Poll::Ready(())
    }

    fn poll_storage(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let storage = self.storage.as_mut();
        let stored = match &mut self.storing {
            Some(storing) => ready!(storing.as_mut().poll(context)),
            None => match storage.and_then(|storage| storage.store(self.answer.output())) {
                Some(storing) => {
                    self.storing = Some(storing);
                    return Poll::Ready(());
                }
                None => false,
            },
        };
        self.step(Input::Stored(stored), ambient::now());
        self.end_storage();
        Poll::Ready(())
    }

    fn end_storage(&self) {
        if let Some(storage) = &self.storage
            && self.answer.is_written()
        {
            storage.ended(self.answer.output());
        }
    }

    /// All that decides about the answer passes here, and is recorded.
    fn step(&mut self, input: Input, now: Instant) -> Option<Release> {
        if let Some(recording) = &self.running.recording {
            recording.input(&input, now);
        }
        self.answer.step(input, now)
    }

    /// The turns are over: reports what became of each choice, once.
    fn report(&mut self) {
        if self.running.turns.is_empty() {
            return;
        }
        let continued = self.continued();
        self.continued = Some(continued);
        self.running.turns.clear();
        let reports = self.answer.reports();
        if let Some(recording) = &self.running.recording {
            recording.end(reports);
        }
        self.running.log.turns_ended(reports, self.answer.milestones(), continued);
        self.end_storage();
    }

    /// How its turns got their threads. Several have one each.
    fn continued(&self) -> Continued {
        let running = self.running.turns.iter().flatten().next();
        running
            .map(Turn::continued)
            .or(self.continued)
            .unwrap_or(Continued::Fresh(FreshReason::Off))
    }

    fn continuity(&self) -> HeaderValue {
        HeaderValue::from_static(self.continued().as_str())
    }
}

impl<O: Output> Drop for LiveAnswer<O> {
    fn drop(&mut self) {
        if self.is_taken || self.answer.refusal().is_some() {
            return;
        }
        let reason = if self.polling {
            EndReason::Failed
        } else if self.running.hangup.0.is_cancelled() {
            EndReason::SlowClient
        } else {
            EndReason::ClientGone
        };
        self.step(Input::Abandon(reason), ambient::now());
        self.report();
    }
}

impl<O: Output + Unpin> http_body::Body for LiveAnswer<O> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = ready!(self.poll_bytes(context));
        if bytes.is_empty() {
            self.is_taken = true;
            return Poll::Ready(None);
        }
        if let Some(recording) = &self.running.recording {
            recording.sent(&bytes);
        }
        Poll::Ready(Some(Ok(Frame::data(bytes))))
    }
}

fn response(headers: HeaderMap, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.headers_mut() = headers;
    response
}
