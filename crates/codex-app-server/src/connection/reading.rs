//! The reading half of a connection: everything that Codex says.

use std::future::ready;
use std::sync::atomic::Ordering;
use std::time::Duration;

use memchr::memmem::{find, find_iter};
use model_turn::{Failure, FailureKind};
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tracing::Span;

use super::{Connection, Direction, Notification, Reply, UNHEARD};
use crate::ids::ThreadId;
use crate::line::{Line, LineEnds, LineSplitter};
use crate::message::{Message, MessageError, is_history_echo};
use crate::protocol::incoming::{MakesId as _, ThreadStarted, ToolCallRequest};
use crate::protocol::outgoing::refusal;
use crate::stats::Counter;
use crate::turn::PendingCall;
use crate::turn::router::Wire as _;

/// How often running turns look at the clock.
const TICK: Duration = Duration::from_millis(50);

/// After so much in one piece there is probably more to read. Consumers on the same thread get their turn
/// before that, or they would seem to be slow.
const BURST: usize = 16 * 1024;

/// What cannot be read or written, and may be a part of anybody's turn: from here on the child
/// cannot be trusted.
#[derive(Debug)]
pub(crate) struct Damage(pub(crate) String);

impl Connection {
    /// Reads the child's output to its end, says how that came, and never waits for anybody else.
    pub(crate) async fn read(
        &self,
        mut source: impl AsyncRead + Unpin,
        max_line: usize,
    ) -> Result<String, Damage> {
        let mut splitter = LineSplitter::new(max_line);
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            // While no turn is running nothing needs the clock. One that starts brings answers
            // with it, and these bring us back here.
            let ticking = self.router.needs_the_clock();
            tokio::select! {
                biased;
                read = source.read_buf(splitter.space()) => match read {
                    Ok(0) => return Ok("Codex has closed its output".to_owned()),
                    Err(error) => return Ok(format!("cannot read from Codex: {error}")),
                    Ok(bytes) => {
                        while let Some(line) = splitter.next_line() {
                            self.on_line(&line)?;
                        }
                        if bytes >= BURST {
                            tokio::task::yield_now().await;
                            // Where reading never has to wait, the clock has its turn here.
                            tokio::select! {
                                biased;
                                _ = tick.tick(), if ticking => self.router.on_tick(self),
                                () = ready(()) => {}
                            }
                        }
                    }
                },
                _ = tick.tick(), if ticking => self.router.on_tick(self),
            }
            if self.outbox.is_overfull() {
                return Err(Damage("Codex does not read what it is sent".to_owned()));
            }
        }
    }

    fn on_line(&self, line: &Line) -> Result<(), Damage> {
        self.lines_read.fetch_add(1, Ordering::Relaxed);
        match line {
            Line::Whole(line) => self.on_whole_line(line),
            Line::Oversize(line) => self.on_oversize(line),
        }
    }

    fn on_whole_line(&self, line: &[u8]) -> Result<(), Damage> {
        self.see(Direction::FromCodex, line);
        if is_history_echo(line) {
            return Ok(());
        }
        match Message::parse(line) {
            Ok(Message::Response { id, outcome }) => self.on_response(
                id,
                match outcome {
                    Ok(result) => Reply::Result(result.map(ToOwned::to_owned)),
                    Err(error) => Reply::Error(error),
                },
            ),
            Ok(Message::Request { id, method, params }) => self.on_request(id, &method, params),
            Ok(Message::Turn(event)) => self.router.on_event(event, self),
            Ok(Message::Notification { method, params }) => self.on_notification(&method, params),
            Err(error) => return self.on_unreadable(line, &error),
        }
        Ok(())
    }

    fn on_response(&self, id: u64, reply: Reply) {
        match self.waiting.lock().remove(&id) {
            Some(sender) => {
                let _ = sender.send(reply);
            }
            None if id & UNHEARD != 0 => {}
            None => {
                self.stats.count(Counter::UnclaimedResponse);
                // Codex would have a thread for good that was asked for by somebody who has gone.
                if let Reply::Result(Some(result)) = reply
                    && let Ok(thread) = ThreadStarted::read_id(result.get())
                {
                    self.unsubscribe(&ThreadId::from(thread.as_str()));
                }
            }
        }
    }

    fn on_notification(&self, method: &str, params: Option<&RawValue>) {
        tracing::debug!(method, "a notification of no turn");
        if self.notifications.receiver_count() > 0 {
            let params = params.map(ToOwned::to_owned);
            let _ = self.notifications.send(Notification { method: method.to_owned(), params });
        }
    }

    /// What we cannot read may hold a part of an answer: its turn must not look whole.
    fn on_unreadable(&self, line: &[u8], error: &MessageError) -> Result<(), Damage> {
        self.stats.count(Counter::Unreadable);
        let (bytes, ends) = (line.len(), LineEnds::of(line));
        let span = self.span_of(ends.thread_id());
        tracing::warn!(parent: &span, bytes, %error, "Codex sent something that is not understood");
        if !line.starts_with(b"{") {
            // No message begins like this. If it is the rest of one, that one was cut before.
            return Ok(());
        }
        let words = format!("Codex sent something that is not understood: {error}");
        let whole = is_json(line);
        if !whole && holds_another_message(line) {
            return Err(Damage(words));
        }
        if let Some(id) = ends.response_id() {
            // Whoever waits for it would do so until its time is up.
            self.on_response(id, Reply::Unreadable(error.to_string()));
            return Ok(());
        }
        match ends.thread_id() {
            Some(thread) => {
                self.fail_turn(thread, FailureKind::Unexpected, &words);
                Ok(())
            }
            // A notification that is none of a turn's may be new, but is nobody's loss.
            None if whole => Ok(()),
            None => Err(Damage(words)),
        }
    }

    fn on_request(&self, id: &RawValue, method: &str, params: Option<&RawValue>) {
        let origin = params
            .and_then(|params| serde_json::from_str::<ToolCallRequest<'_>>(params.get()).ok());
        if method == "item/tool/call"
            && let Some(call) = &origin
        {
            // Nobody's call needs no answer either: its turn is being interrupted.
            let call_id = call.call_id.as_deref().unwrap_or_default().to_owned();
            self.router.step(&call.thread_id, self, |machine, now, steps| {
                let call = PendingCall { call_id, request: id.to_owned() };
                machine.on_tool_request(call, now, steps);
            });
            return;
        }
        self.stats.count(Counter::Declined);
        let span = self.span_of(origin.as_ref().map(|origin| &*origin.thread_id));
        tracing::warn!(parent: &span, method, "declined a request of Codex");
        match refusal(method) {
            Some(result) => self.send(format!(r#"{{"id":{id},"result":{result}}}"#).as_bytes()),
            None => self.answer_error(id, "not supported by this client"),
        }
    }

    /// Fails whatever an oversize line belonged to.
    fn on_oversize(&self, line: &LineEnds) -> Result<(), Damage> {
        self.stats.count(Counter::OversizeLine);
        let bytes = line.bytes;
        let span = self.span_of(line.thread_id());
        tracing::warn!(parent: &span, bytes, "a line of Codex is longer than allowed");
        if is_history_echo(&line.head) {
            return Ok(());
        }
        let words = format!("a line of {bytes} bytes from Codex is longer than allowed");
        if let Some(thread) = line.thread_id() {
            self.fail_turn(thread, FailureKind::OutputTooLarge, &words);
        } else if let Some(id) = line.response_id() {
            self.on_response(id, Reply::TooLarge(bytes));
        } else {
            return Err(Damage(format!("{words}, and nobody's")));
        }
        Ok(())
    }

    /// Where a line of the log belongs that may be about a turn.
    fn span_of(&self, thread: Option<&str>) -> Span {
        thread.map_or_else(Span::none, |thread| self.router.span_of(thread))
    }

    fn fail_turn(&self, thread: &str, kind: FailureKind, words: &str) {
        self.router.step(thread, self, |machine, now, steps| {
            machine.fail(Failure::new(kind, words), now, steps);
        });
    }
}

/// Whether another message begins behind one that breaks off: it can be anybody's, too.
///
/// Quotes within a string are escaped, so only a nested object could look the same.
fn holds_another_message(line: &[u8]) -> bool {
    const METHOD: &[u8] = br#"{"method":""#;
    const ID: &[u8] = br#"{"id":"#;
    let rest = line.get(1..).unwrap_or_default();
    // The ids of messages are numbers, those of everything else are texts.
    let is_number = |at: usize| rest.get(at + ID.len()).is_some_and(u8::is_ascii_digit);
    find(rest, METHOD).is_some() || find_iter(rest, ID).any(is_number)
}

fn is_json(line: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(line).is_ok()
}
