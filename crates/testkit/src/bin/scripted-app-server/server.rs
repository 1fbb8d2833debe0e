//! The conversation with one client: its requests, and the lines that answer them.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::fault::{Deed, TurnFault, UNKNOWN_REQUESTS};
use crate::held::HeldTurn;
use crate::pace::{PacedLines, Pacer};
use crate::play::{block, words};
use crate::scenario::Scenario;

/// Enough for any request of a benchmark in one read.
const READ_BUFFER: usize = 64 * 1024;

/// A line from the client; an answer to one of our requests has no method.
#[derive(Deserialize)]
struct Incoming<'a> {
    id: Option<u64>,
    method: Option<&'a str>,
    #[serde(borrow, default)]
    params: Params<'a>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<IgnoredAny>,
}

/// The parameters that matter here, of whichever method.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Params<'a> {
    thread_id: &'a str,
    turn_id: &'a str,
    #[serde(borrow)]
    items: Vec<&'a RawValue>,
}

/// The conversation with one client, on one thread and without any waiting.
#[derive(Default)]
pub(crate) struct Server {
    /// What each thread will play, by its id.
    threads: HashMap<String, Scenario>,
    /// Thread and turn of each text that is to be finished later.
    open: Vec<(String, String)>,
    /// The turns whose calls wait for their answers, by their threads.
    pub(crate) held: HashMap<String, HeldTurn>,
    /// Requests whose history is still to be taken.
    slow: Vec<u64>,
    /// Threads and turns so far.
    ids: u64,
    /// Requests of ours so far.
    requests: u64,
    /// Lines that wait for the end of the batch.
    pub(crate) out: Vec<u8>,
    /// What is said slowly, once these lines are written.
    pub(crate) paced: Vec<PacedLines>,
    /// Who says it; there is none before the first.
    pacer: Option<Pacer>,
    /// Tells that nobody wants the rest of what is said slowly, by its thread.
    pub(crate) unwanted: HashMap<String, Arc<AtomicBool>>,
    /// What to do instead of going on, once these lines are written.
    pub(crate) deed: Option<Deed>,
    /// How many threads there may be before nothing is read any more.
    threads_until_deaf: Option<usize>,
    /// Requests of an unknown method that have their answer.
    answers: usize,
}

// === impl Server ===

impl Server {
    /// One that never reads again once there are so many threads.
    pub(crate) fn deaf_after(threads: usize) -> Self {
        Self { threads_until_deaf: Some(threads), ..Self::default() }
    }

    /// Answers until the client closes the pipe: everything that was read at once in one write.
    pub(crate) fn serve(mut self, input: impl Read, mut output: impl Write) -> io::Result<()> {
        let mut input = BufReader::with_capacity(READ_BUFFER, input);
        let mut line = Vec::new();
        while input.read_until(b'\n', &mut line)? > 0 {
            // Codex ignores what it cannot read, too.
            if let Ok(message) = serde_json::from_slice(&line) {
                self.answer(&message);
            }
            line.clear();
            if input.buffer().is_empty() || self.deed.is_some() {
                output.write_all(&self.out)?;
                output.flush()?;
                self.out.clear();
                for lines in self.paced.drain(..) {
                    self.pacer.get_or_insert_with(Pacer::start).write(lines);
                }
                if let Some(deed) = self.deed {
                    return deed.perform(output);
                }
            }
        }
        Ok(())
    }

    fn answer(&mut self, message: &Incoming<'_>) {
        let (Some(id), Some(method)) = (message.id, message.method) else {
            return self.take_reply(message);
        };
        let params = &message.params;
        match method {
            "initialize" => self.initialize(id),
            "model/list" => self.list_models(id),
            "thread/start" => self.start_thread(id),
            "thread/inject_items" => self.inject_items(id, params),
            "turn/start" => self.start_turn(id, params.thread_id),
            "turn/interrupt" => self.interrupt(id, params),
            "thread/unsubscribe" => self.unsubscribe(id, params.thread_id),
            _ => self.line(&format!(
                r#"{{"error":{{"code":-32600,"message":"unknown method"}},"id":{id}}}"#
            )),
        }
    }

    /// The client has answered a request of ours. The last one that it declines lets the open texts end.
    fn take_reply(&mut self, message: &Incoming<'_>) {
        if let (Some(id), Some(result)) = (message.id, message.result) {
            self.take_answer(id, result.get());
        }
        if message.error.is_some() {
            self.answers += 1;
            if self.answers == UNKNOWN_REQUESTS {
                self.finish_open_texts();
            }
        }
    }

    fn initialize(&mut self, id: u64) {
        self.result(
            id,
            r#"{"userAgent":"scripted/0.166.0 (scripted)","codexHome":"home","platformFamily":"unix","platformOs":"linux"}"#,
        );
    }

    fn list_models(&mut self, id: u64) {
        self.result(
            id,
            r#"{"data":[{"id":"scripted","model":"scripted","displayName":"Scripted","description":"Plays scenarios.","hidden":false,"isDefault":true,"defaultReasoningEffort":"medium","supportedReasoningEfforts":[],"inputModalities":["text"]}],"nextCursor":null}"#,
        );
    }

    fn start_thread(&mut self, id: u64) {
        let thread = self.next_id("01a1e0b7-22a4-7f71-a8cc");
        self.result(
            id,
            &format!(
                r#"{{"thread":{{"id":"{thread}","environments":[],"extra":null,"sessionId":"{thread}","forkedFromId":null,"parentThreadId":null,"preview":"","ephemeral":true,"section":null,"sectionEnteredAt":null,"projectId":null,"historyMode":"paginated","modelProvider":"upstream","model":"scripted","reasoningEffort":null,"createdAt":1794771460,"updatedAt":1794771460,"recencyAt":1794771460,"status":{{"type":"idle"}},"path":null,"cwd":"/","cliVersion":"0.166.0","originator":"scripted","source":"vscode","canAcceptDirectInput":true,"threadSource":null,"agentNickname":null,"agentRole":null,"gitInfo":null,"name":null,"daybreakEnabled":null,"turns":[]}},"model":"scripted","modelProvider":"upstream","serviceTier":null,"disabledPluginIds":[],"cwd":"/","runtimeWorkspaceRoots":[],"instructionSources":[],"approvalPolicy":"never","approvalsReviewer":"user","sandbox":{{"type":"readOnly","networkAccess":false}},"activePermissionProfile":null,"reasoningEffort":null}}"#
            ),
        );
        self.threads.insert(thread, Scenario::Text { deltas: 1 });
        if self.threads_until_deaf == Some(self.threads.len()) {
            self.deed = Some(Deed::Hang);
        }
    }

    fn inject_items(&mut self, id: u64, params: &Params<'_>) {
        let thread = params.thread_id;
        if self.threads.get(thread) == Some(&Scenario::LastWords) {
            return self.line(&format!(
                r#"{{"error":{{"code":-32600,"message":"the thread takes no items"}},"id":{id}}}"#
            ));
        }
        let scenario = params.items.last().map(|item| Scenario::marked(item.get()));
        if scenario == Some(Scenario::Slow) {
            return self.slow.push(id);
        }
        self.result(id, "{}");
        for item in &params.items {
            self.notify(
                "rawResponseItem/completed",
                &format!(r#""threadId":"{thread}","turnId":"auto-compact-0","item":{item}"#),
            );
        }
        if let (Some(marked), Some(scenario)) = (scenario, self.threads.get_mut(thread)) {
            *scenario = marked;
        }
    }

    fn start_turn(&mut self, id: u64, thread: &str) {
        let Some(scenario) = self.threads.get(thread).cloned() else {
            return self.line(&format!(
                r#"{{"error":{{"code":-32600,"message":"thread not found"}},"id":{id}}}"#
            ));
        };
        if scenario == Scenario::Faulty(TurnFault::BadAnswer) {
            return self.spoil_answer(id);
        }
        let turn = self.next_id("01a1e0b7-22b4-7100-b2bc");
        self.answer_turn_start(id, &turn);
        self.notify(
            "turn/started",
            &format!(r#""threadId":"{thread}",{}"#, turn_member(&turn, "inProgress", "")),
        );
        match scenario {
            Scenario::Text { deltas } => self.play_text(thread, &turn, words(deltas)),
            Scenario::Slow | Scenario::LastWords => self.play_text(thread, &turn, words(1)),
            Scenario::Paced { deltas } => self.play_paced(thread, &turn, deltas),
            Scenario::Block { deltas } => self.play_text(thread, &turn, block(deltas)),
            Scenario::Calls { count } => self.play_calls(thread, &turn, count, count),
            Scenario::FaultyCalls { count, fault } => {
                self.play_faulty_calls(thread, &turn, count, fault);
            }
            Scenario::Marked(answer) => self.play_marked(thread, &turn, &answer),
            Scenario::Open => {
                self.open_text(thread, &turn);
                self.keep_open(thread, &turn);
            }
            Scenario::Finish => {
                self.finish_open_texts();
                self.play_text(thread, &turn, words(1));
            }
            Scenario::Faulty(fault) => {
                let text = self.open_text(thread, &turn);
                self.play_fault(text, id, fault);
            }
        }
    }

    pub(crate) fn answer_turn_start(&mut self, id: u64, turn: &str) {
        self.result(id, &format!("{{{}}}", turn_member(turn, "inProgress", "")));
    }

    /// Leaves a text open until [`Self::finish_open_texts`].
    pub(crate) fn keep_open(&mut self, thread: &str, turn: &str) {
        self.open.push((thread.to_owned(), turn.to_owned()));
    }

    /// The id of a new request of ours.
    pub(crate) fn next_request(&mut self) -> u64 {
        self.requests += 1;
        self.requests - 1
    }

    pub(crate) fn finish_open_texts(&mut self) {
        for id in std::mem::take(&mut self.slow) {
            self.result(id, "{}");
        }
        for (thread, turn) in std::mem::take(&mut self.open) {
            self.close_text(&thread, &turn);
        }
    }

    fn interrupt(&mut self, id: u64, params: &Params<'_>) {
        let Params { thread_id: thread, turn_id: turn, .. } = params;
        self.fall_silent(thread);
        self.held.remove(*thread);
        let calls = match self.threads.get(*thread) {
            Some(Scenario::Calls { count } | Scenario::FaultyCalls { count, .. }) => Some(*count),
            Some(Scenario::Marked(answer)) => usize::try_from(answer.calls).ok(),
            _ => None,
        };
        if let Some(count) = calls {
            self.fail_calls(&format!(r#""threadId":"{thread}","turnId":"{turn}""#), count);
        }
        self.result(id, "{}");
        self.notify(
            "turn/completed",
            &format!(r#""threadId":"{thread}",{}"#, turn_member(turn, "interrupted", "")),
        );
    }

    fn unsubscribe(&mut self, id: u64, thread: &str) {
        self.threads.remove(thread);
        self.unwanted.remove(thread);
        self.held.remove(thread);
        self.result(id, r#"{"status":"unsubscribed"}"#);
    }

    pub(crate) fn result(&mut self, id: u64, result: &str) {
        self.line(&format!(r#"{{"id":{id},"result":{result}}}"#));
    }

    /// `members` are those of the parameters, without the braces.
    pub(crate) fn notify(&mut self, method: &str, members: &str) {
        self.line(&format!(
            r#"{{"method":"{method}","params":{{{members}}},"emittedAtMs":1794771460850}}"#
        ));
    }

    pub(crate) fn line(&mut self, line: &str) {
        self.raw(line.as_bytes());
        self.raw(b"\n");
    }

    /// Any bytes at all.
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// Puts bytes in front of the last line.
    pub(crate) fn glue_to_last_line(&mut self, bytes: &[u8]) {
        let before = self.out.len().saturating_sub(1);
        let start = self.out[..before].iter().rposition(|byte| *byte == b'\n');
        let at = start.map_or(0, |feed| feed + 1);
        self.out.splice(at..at, bytes.iter().copied());
    }

    /// A new id in the form of a UUID, by whose length echoes are recognised.
    fn next_id(&mut self, prefix: &str) -> String {
        self.ids += 1;
        let mut id = prefix.to_owned();
        let _ = write!(id, "-{:012x}", self.ids);
        id
    }
}

/// A turn, with `items` as its only item or none.
pub(crate) fn turn_member(turn: &str, status: &str, items: &str) -> String {
    let view = if items.is_empty() { "notLoaded" } else { "summary" };
    format!(
        r#""turn":{{"id":"{turn}","rootTurnId":"{turn}","items":[{items}],"itemsView":"{view}","status":"{status}","error":null,"startedAt":1794771460,"completedAt":null,"durationMs":null}}"#
    )
}
