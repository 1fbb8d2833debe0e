//! `scripted-app-server`: speaks `codex app-server`'s protocol over its pipes, without a model.
//!
//! It answers as fast as it reads, so that what is measured over it is the client alone. A mark
//! in the last injected item chooses the turn: `[[deltas:66]]` is a text in so many deltas,
//! `[[calls:3]]` so many tool calls; without a mark it is a text in one delta. Messages have the
//! fields of Codex 0.166 that a client reads. Notifications that the client opts out of are never
//! sent.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::process::ExitCode;

use serde::Deserialize;
use serde_json::value::RawValue;

const VERSION: &str = "codex-cli 0.166.0\n";
const CATALOG: &str = "{\"models\":[{\"slug\":\"scripted\"}]}\n";

/// The tools that a scripted answer calls, in turn.
const TOOLS: [&str; 3] = ["get_weather", "get_time", "lookup"];

/// Enough for any request of a benchmark in one read.
const READ_BUFFER: usize = 64 * 1024;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["--version"] => io::stdout().write_all(VERSION.as_bytes()),
        ["debug", "models", "--bundled"] => io::stdout().write_all(CATALOG.as_bytes()),
        ["app-server"] => Server::default().serve(io::stdin().lock(), io::stdout().lock()),
        _ => Err(io::Error::other("usage: --version | debug models --bundled | app-server")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // With stderr gone as well there is nobody left to tell.
            let _ = writeln!(io::stderr(), "scripted-app-server: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What a turn plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scenario {
    /// A text in so many deltas.
    Text { deltas: usize },
    /// So many tool calls, which wait for `turn/interrupt`.
    Calls { count: usize },
}

/// A line from the client; an answer to one of our requests has no method.
#[derive(Deserialize)]
struct Incoming<'a> {
    id: Option<u64>,
    method: Option<&'a str>,
    #[serde(borrow, default)]
    params: Params<'a>,
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
struct Server {
    /// What each thread will play, by its id.
    threads: HashMap<String, Scenario>,
    /// Threads and turns so far.
    ids: u64,
    /// Requests of ours so far.
    requests: u64,
    /// Lines that wait for the end of the batch.
    out: String,
}

// === impl Scenario ===

impl Scenario {
    /// The scenario of the last mark in `text`.
    fn marked(text: &str) -> Self {
        let mark = || {
            let (_, mark) = text.rsplit_once("[[")?;
            let (name, number) = mark.split_once("]]")?.0.split_once(':')?;
            Some((name, number.parse().ok()?))
        };
        match mark() {
            Some(("deltas", deltas)) => Self::Text { deltas },
            Some(("calls", count)) => Self::Calls { count },
            _ => Self::Text { deltas: 1 },
        }
    }
}

// === impl Server ===

impl Server {
    /// Answers until the client closes the pipe: everything that was read at once in one write.
    fn serve(mut self, input: impl Read, mut output: impl Write) -> io::Result<()> {
        let mut input = BufReader::with_capacity(READ_BUFFER, input);
        let mut line = Vec::new();
        while input.read_until(b'\n', &mut line)? > 0 {
            // Codex ignores what it cannot read, too.
            if let Ok(message) = serde_json::from_slice(&line) {
                self.answer(&message);
            }
            line.clear();
            if input.buffer().is_empty() {
                output.write_all(self.out.as_bytes())?;
                output.flush()?;
                self.out.clear();
            }
        }
        Ok(())
    }

    fn answer(&mut self, message: &Incoming<'_>) {
        let (Some(id), Some(method)) = (message.id, message.method) else {
            return;
        };
        let params = &message.params;
        match method {
            "initialize" => self.initialize(id),
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

    fn initialize(&mut self, id: u64) {
        self.result(
            id,
            r#"{"userAgent":"scripted/0.166.0 (scripted)","codexHome":"home","platformFamily":"unix","platformOs":"linux"}"#,
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
    }

    fn inject_items(&mut self, id: u64, params: &Params<'_>) {
        self.result(id, "{}");
        let thread = params.thread_id;
        for item in &params.items {
            self.notify(
                "rawResponseItem/completed",
                &format!(r#""threadId":"{thread}","turnId":"auto-compact-0","item":{item}"#),
            );
        }
        if let (Some(item), Some(scenario)) = (params.items.last(), self.threads.get_mut(thread)) {
            *scenario = Scenario::marked(item.get());
        }
    }

    fn start_turn(&mut self, id: u64, thread: &str) {
        let Some(scenario) = self.threads.get(thread).copied() else {
            return self.line(&format!(
                r#"{{"error":{{"code":-32600,"message":"thread not found"}},"id":{id}}}"#
            ));
        };
        let turn = self.next_id("01a1e0b7-22b4-7100-b2bc");
        self.result(id, &turn_state(&turn, "inProgress", ""));
        self.notify(
            "turn/started",
            &format!(r#""threadId":"{thread}",{}"#, turn_member(&turn, "inProgress", "")),
        );
        match scenario {
            Scenario::Text { deltas } => self.play_text(thread, &turn, deltas),
            Scenario::Calls { count } => self.play_calls(thread, &turn, count),
        }
    }

    fn play_text(&mut self, thread: &str, turn: &str, deltas: usize) {
        let of = format!(r#""threadId":"{thread}","turnId":"{turn}""#);
        let message = |text: &str| {
            format!(
                r#"{{"type":"agentMessage","id":"msg_000001","text":"{text}","phase":null,"memoryCitation":null,"delivery":null,"questions":null,"startedAtMs":1794771460850,"completedAtMs":null}}"#
            )
        };
        self.notify("item/started", &format!(r#""item":{},{of}"#, message("")));
        let mut text = String::new();
        for index in 0..deltas {
            let delta = format!("word{index} ");
            self.notify(
                "item/agentMessage/delta",
                &format!(r#"{of},"itemId":"msg_000001","delta":"{delta}""#),
            );
            text += &delta;
        }
        let whole = message(&text);
        self.notify("item/completed", &format!(r#""item":{whole},{of}"#));
        self.raw_item(
            &of,
            &format!(
                r#"{{"type":"message","status":"completed","id":"msg_000001","role":"assistant","content":[{{"type":"output_text","text":"{text}","annotations":[]}}]}}"#
            ),
        );
        self.response_completed(&of);
        self.notify(
            "turn/completed",
            &format!(r#""threadId":"{thread}",{}"#, turn_member(turn, "completed", &whole)),
        );
    }

    fn play_calls(&mut self, thread: &str, turn: &str, count: usize) {
        let of = format!(r#""threadId":"{thread}","turnId":"{turn}""#);
        for (index, tool) in TOOLS.into_iter().cycle().take(count).enumerate() {
            self.raw_item(
                &of,
                &format!(
                    r#"{{"type":"function_call","status":"completed","id":"fc_{index}","name":"{tool}","arguments":"{{\"city\": \"C{index}\"}}","call_id":"call_{index}"}}"#
                ),
            );
            let item = tool_call_item(index, tool, "inProgress");
            self.notify("item/started", &format!(r#""item":{item},{of}"#));
            let request = self.requests;
            self.requests += 1;
            self.line(&format!(
                r#"{{"method":"item/tool/call","id":{request},"params":{{{of},"callId":"call_{index}","namespace":null,"tool":"{tool}","arguments":{{"city":"C{index}"}}}}}}"#
            ));
        }
        self.response_completed(&of);
    }

    /// Ends the calls that wait, as Codex does: failed items, made-up outputs, the turn's end.
    fn interrupt(&mut self, id: u64, params: &Params<'_>) {
        let Params { thread_id: thread, turn_id: turn, .. } = params;
        let of = format!(r#""threadId":"{thread}","turnId":"{turn}""#);
        if let Some(Scenario::Calls { count }) = self.threads.get(*thread).copied() {
            let calls = || TOOLS.into_iter().cycle().take(count).enumerate();
            for (index, tool) in calls() {
                let item = tool_call_item(index, tool, "failed");
                self.notify("item/completed", &format!(r#""item":{item},{of}"#));
            }
            for (index, _) in calls() {
                self.raw_item(
                    &of,
                    &format!(
                        r#"{{"type":"function_call_output","id":"fco_{index}","call_id":"call_{index}","output":"dynamic tool call was cancelled before receiving a response"}}"#
                    ),
                );
            }
        }
        self.result(id, "{}");
        self.notify(
            "turn/completed",
            &format!(r#""threadId":"{thread}",{}"#, turn_member(turn, "interrupted", "")),
        );
    }

    fn unsubscribe(&mut self, id: u64, thread: &str) {
        self.threads.remove(thread);
        self.result(id, r#"{"status":"unsubscribed"}"#);
    }

    fn raw_item(&mut self, of: &str, item: &str) {
        self.notify("rawResponseItem/completed", &format!(r#"{of},"item":{item}"#));
    }

    fn response_completed(&mut self, of: &str) {
        self.notify(
            "rawResponse/completed",
            &format!(
                r#"{of},"responseId":"resp_000001","usage":{{"totalTokens":168,"inputTokens":123,"cachedInputTokens":100,"cacheWriteInputTokens":0,"outputTokens":45,"reasoningOutputTokens":7}},"usageMetadata":{{"amount":null,"metadata":{{"input_tokens":123,"input_tokens_details":{{"cached_tokens":100}},"output_tokens":45,"output_tokens_details":{{"reasoning_tokens":7}},"total_tokens":168}}}}"#
            ),
        );
    }

    fn result(&mut self, id: u64, result: &str) {
        self.line(&format!(r#"{{"id":{id},"result":{result}}}"#));
    }

    /// `members` are those of the parameters, without the braces.
    fn notify(&mut self, method: &str, members: &str) {
        self.line(&format!(
            r#"{{"method":"{method}","params":{{{members}}},"emittedAtMs":1794771460850}}"#
        ));
    }

    fn line(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
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
fn turn_member(turn: &str, status: &str, items: &str) -> String {
    let view = if items.is_empty() { "notLoaded" } else { "summary" };
    format!(
        r#""turn":{{"id":"{turn}","rootTurnId":"{turn}","items":[{items}],"itemsView":"{view}","status":"{status}","error":null,"startedAt":1794771460,"completedAt":null,"durationMs":null}}"#
    )
}

fn turn_state(turn: &str, status: &str, items: &str) -> String {
    format!("{{{}}}", turn_member(turn, status, items))
}

fn tool_call_item(index: usize, tool: &str, status: &str) -> String {
    format!(
        r#"{{"type":"dynamicToolCall","id":"call_{index}","namespace":null,"tool":"{tool}","arguments":{{"city":"C{index}"}},"status":"{status}","contentItems":null,"success":null,"durationMs":null,"startedAtMs":1794771460815,"completedAtMs":null}}"#
    )
}
