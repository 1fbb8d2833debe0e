//! The least that a client can do: blocking pipes, and substrings instead of JSON.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{ChildStdin, ChildStdout, Stdio};

use testkit::process::KilledOnDrop;

use crate::recording::{Play, Recording};

/// What a turn brought, its strings still escaped.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) text: String,
    /// Name and argument text of each call.
    pub(crate) calls: Vec<(String, String)>,
}

/// A child without our client; dropping it kills it.
pub(crate) struct Direct {
    _child: KilledOnDrop,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: String,
    last_id: u64,
    /// Goes out with the next request, as the client's does.
    unsent: String,
    /// The interrupted turn whose end has not come yet: its thread, and what to send then.
    ending: Option<(String, String)>,
}

// === impl Direct ===

impl Direct {
    /// Starts the recorded child and shakes hands with it.
    pub(crate) fn start(recording: &Recording) -> Self {
        let mut child = recording
            .command()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Nobody would read it; the client does, and that is part of its cost.
            .stderr(Stdio::null())
            .spawn()
            .expect("the direct child does not start");
        let input = child.stdin.take().expect("no input");
        let output = BufReader::with_capacity(64 * 1024, child.stdout.take().expect("no output"));
        let mut direct = Self {
            _child: KilledOnDrop(child),
            input,
            output,
            line: String::new(),
            // The handshake has the first.
            last_id: 1,
            unsent: String::new(),
            ending: None,
        };
        direct.send(&recording.handshake);
        direct.read_result(1);
        direct
    }

    /// Plays a turn until its answer is whole.
    pub(crate) fn turn(&mut self, play: &Play) -> Answer {
        self.watched_turn(play, &mut || {})
    }

    /// The same, and says when each delta is there.
    pub(crate) fn watched_turn(&mut self, play: &Play, on_delta: &mut dyn FnMut()) -> Answer {
        let id = self.next_id();
        self.send(&play.thread_start.line(id, "", ""));
        self.read_result(id);
        let thread = between(&self.line, r#""thread":{"id":""#).to_owned();
        let id = self.next_id();
        self.send(&play.inject_items.line(id, &thread, ""));
        self.read_result(id);
        let id = self.next_id();
        self.send(&play.turn_start.line(id, &thread, ""));
        self.read_answer(play, &thread, on_delta)
    }

    /// Reads what is still due, so that nothing of this turn is left for later.
    pub(crate) fn settle(&mut self, play: &Play) {
        while self.ending.is_some() {
            self.read();
        }
        let id = self.next_id();
        // Any request will do: its reply comes after all the others.
        self.send(&play.unsubscribe.line(id, "", ""));
        while !self.is_reply_to(id) {
            self.read();
        }
    }

    fn read_answer(&mut self, play: &Play, thread: &str, on_delta: &mut dyn FnMut()) -> Answer {
        let mut answer = Answer::default();
        loop {
            self.read();
            let line = &self.line;
            if line.starts_with(r#"{"method":"item/agentMessage/delta""#) {
                on_delta();
                answer.text += between(line, r#""delta":""#);
            } else if line.starts_with(r#"{"method":"rawResponseItem/completed""#)
                && line.contains(r#""item":{"type":"function_call","#)
            {
                let name = between(line, r#""name":""#).to_owned();
                answer.calls.push((name, between(line, r#""arguments":""#).to_owned()));
            } else if line.starts_with(r#"{"method":"rawResponse/completed""#)
                && let Some(interrupt) = &play.interrupt
            {
                let turn = between(line, r#""turnId":""#).to_owned();
                let id = self.next_id();
                self.send(&interrupt.line(id, thread, &turn));
                let id = self.next_id();
                self.ending = Some((thread.to_owned(), play.unsubscribe.line(id, thread, &turn)));
                return answer;
            } else if line.starts_with(r#"{"method":"turn/completed""#) && line.contains(thread) {
                let id = self.next_id();
                self.unsent = play.unsubscribe.line(id, thread, "");
                return answer;
            }
        }
    }

    /// Reads up to the reply of a request.
    fn read_result(&mut self, id: u64) {
        let reply = format!("{{\"id\":{id},\"result\":");
        while !self.line.starts_with(&reply) {
            self.read();
        }
    }

    fn is_reply_to(&self, id: u64) -> bool {
        let is_reply = !self.line.starts_with(r#"{"method":"#);
        is_reply && self.line.contains(&format!(r#""id":{id}"#))
    }

    /// Reads a line. The end of an interrupted turn is answered on the way, as the client does.
    fn read(&mut self) {
        self.line.clear();
        let read = self.output.read_line(&mut self.line).expect("cannot read from the child");
        assert!(read > 0, "the direct child has gone");
        if self.line.starts_with(r#"{"method":"turn/completed""#)
            && let Some((_, unsubscribe)) =
                self.ending.take_if(|(thread, _)| self.line.contains(thread.as_str()))
        {
            self.send(&unsubscribe);
        }
    }

    fn send(&mut self, lines: &str) {
        self.unsent += lines;
        self.input.write_all(self.unsent.as_bytes()).expect("cannot write to the child");
        self.unsent.clear();
    }

    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }
}
/// The string that starts behind `start`, up to its closing quote.
fn between<'a>(line: &'a str, start: &str) -> &'a str {
    let Some((_, rest)) = line.split_once(start) else {
        panic!("no {start} in {line}");
    };
    let mut escaped = false;
    let end = rest.bytes().position(|byte| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    });
    &rest[..end.unwrap_or(rest.len())]
}
