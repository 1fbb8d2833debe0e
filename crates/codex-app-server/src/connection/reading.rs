//! The reading half of a connection: everything that Codex says.

use std::time::Duration;

use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::{Connection, Direction, Notification, Reply};
use crate::failure::{Failure, FailureKind};
use crate::line::{Line, LineSplitter, OversizeLine};
use crate::message::{Message, MessageError, is_history_echo};
use crate::protocol::incoming::ToolCallRequest;
use crate::protocol::outgoing::refusal;
use crate::stats::Counter;

/// How often running turns look at the clock.
const TICK: Duration = Duration::from_millis(50);

impl Connection {
    /// Reads the child's output to its end, and never waits for anybody else.
    pub(crate) async fn read(&self, mut source: impl AsyncRead + Unpin, max_line: usize) -> String {
        let mut splitter = LineSplitter::new(max_line);
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            // While no turn is running nothing needs the clock. One that starts brings answers
            // with it, and these bring us back here.
            let ticking = !self.router.is_empty();
            tokio::select! {
                biased;
                read = source.read_buf(splitter.space()) => match read {
                    Ok(0) => return "Codex has closed its output".to_owned(),
                    Err(error) => return format!("cannot read from Codex: {error}"),
                    Ok(_) => {
                        while let Some(line) = splitter.next_line() {
                            match line {
                                Line::Whole(line) => self.on_line(&line),
                                Line::Oversize(line) => if let Err(reason) = self.on_oversize(&line) {
                                    return reason;
                                },
                            }
                        }
                    }
                },
                _ = tick.tick(), if ticking => self.router.on_tick(self),
            }
        }
    }

    fn on_line(&self, line: &[u8]) {
        self.see(Direction::FromCodex, line);
        if is_history_echo(line) {
            return;
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
            Err(error) => self.on_unreadable(line.len(), &error),
        }
    }

    fn on_response(&self, id: u64, reply: Reply) {
        match self.waiting().remove(&id) {
            Some(sender) => {
                let _ = sender.send(reply);
            }
            None => self.stats.count(Counter::UnclaimedResponse),
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
    fn on_unreadable(&self, bytes: usize, error: &MessageError) {
        self.stats.count(Counter::Unreadable);
        tracing::warn!(bytes, %error, "Codex sent something that is not understood");
        if let Some(thread) = &error.thread {
            let words = format!("Codex sent something that is not understood: {error}");
            self.fail_turn(thread, FailureKind::Unexpected, &words);
        }
    }

    fn on_request(&self, id: &RawValue, method: &str, params: Option<&RawValue>) {
        if method == "item/tool/call"
            && let Some(Ok(call)) =
                params.map(|params| serde_json::from_str::<ToolCallRequest<'_>>(params.get()))
        {
            // Nobody's call needs no answer either: its turn is being interrupted.
            self.router.step(&call.thread_id, self, |machine, now, _| {
                machine.on_tool_request(id.to_owned(), now);
            });
            return;
        }
        self.stats.count(Counter::Declined);
        tracing::warn!(method, "declined a request of Codex");
        match refusal(method) {
            Some(result) => self.send(format!(r#"{{"id":{id},"result":{result}}}"#).as_bytes()),
            None => self.answer_error(id, "not supported by this client"),
        }
    }

    /// Fails whatever an oversize line belonged to; `Err` if that cannot be told.
    fn on_oversize(&self, line: &OversizeLine) -> Result<(), String> {
        self.stats.count(Counter::OversizeLine);
        let bytes = line.bytes;
        tracing::warn!(bytes, "a line of Codex is longer than allowed");
        if is_history_echo(&line.head) {
            return Ok(());
        }
        if let Some(thread) = line.thread_id() {
            let words = format!("a line of {bytes} bytes from Codex is longer than allowed");
            self.fail_turn(thread, FailureKind::OutputTooLarge, &words);
            return Ok(());
        }
        if let Some(id) = line.response_id() {
            self.on_response(id, Reply::TooLarge(bytes));
            return Ok(());
        }
        Err(format!("a line of {bytes} bytes from Codex is longer than allowed, and nobody's"))
    }

    fn fail_turn(&self, thread: &str, kind: FailureKind, words: &str) {
        self.router.step(thread, self, |machine, now, steps| {
            machine.fail(Failure::new(kind, words), now, steps);
        });
    }
}
