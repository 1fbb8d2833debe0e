//! What is known of a server, and how it is put into lines. Free of I/O.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::feed::{News, ServerEvent};
use crate::console::visible_line;
use crate::status::describe_time;

/// No screen is nearly as high.
const MOST_TURNS: usize = 200;

const HEADING: &str = "STARTED   KEY       CLIENT          MODEL           TOKENS     TIME     END";

/// Everything that a server has told.
pub(super) struct Board {
    base_url: String,
    status: Value,
    /// Newest first.
    turns: Vec<Turn>,
    /// Why the server does not answer at the moment.
    lost: Option<String>,
}

/// A turn, as far as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Turn {
    id: String,
    state: State,
    /// In milliseconds since 1970.
    started_at: u64,
    key: String,
    client: Option<String>,
    model: String,
    stop_reason: Option<String>,
    failure: Option<String>,
    #[serde(default)]
    tool_calls: Vec<String>,
    tokens: Option<Tokens>,
    duration_ms: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Running,
    Ended,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
struct Tokens {
    prompt: u64,
    completion: u64,
}

#[derive(Deserialize)]
struct Turns {
    turns: Vec<Turn>,
}

// === impl Board ===

impl Board {
    pub(super) fn new(base_url: String) -> Self {
        Self { base_url, status: Value::Null, turns: Vec::new(), lost: None }
    }

    /// What cannot be read is of a newer server, and not shown.
    pub(super) fn take(&mut self, news: News) {
        let ServerEvent { name, data } = match news {
            News::Event(event) => event,
            News::Lost(reason) => {
                self.lost = Some(reason);
                return;
            }
        };
        self.lost = None;
        match name.as_str() {
            "status" => self.status = serde_json::from_str(&data).unwrap_or_default(),
            "turns" => {
                if let Ok(Turns { turns }) = serde_json::from_str(&data) {
                    self.turns = turns;
                }
            }
            "turn" => {
                if let Ok(turn) = serde_json::from_str(&data) {
                    self.take_turn(turn);
                }
            }
            _ => {}
        }
    }

    fn take_turn(&mut self, turn: Turn) {
        let is_same =
            |known: &&mut Turn| known.id == turn.id && known.started_at == turn.started_at;
        match self.turns.iter_mut().find(is_same) {
            Some(known) => *known = turn,
            None => self.turns.insert(0, turn),
        }
        self.turns.truncate(MOST_TURNS);
    }

    /// Lines that fit: those that run first, then those that ended last.
    pub(super) fn lines(&self, width: usize, height: usize, now: SystemTime) -> Vec<String> {
        let mut lines = vec![self.server(), self.load(), self.account(), String::new()];
        lines.push(HEADING.to_owned());
        let (running, ended): (Vec<_>, Vec<_>) =
            self.turns.iter().partition(|turn| turn.state == State::Running);
        lines.extend(running.into_iter().chain(ended).map(|turn| turn.line(now)));
        lines.truncate(height.saturating_sub(1));
        lines.push("Ctrl-C leaves".to_owned());
        lines.iter().map(|line| visible_line(line).chars().take(width).collect()).collect()
    }

    fn server(&self) -> String {
        if let Some(reason) = &self.lost {
            return format!("{}: {reason}; it is asked again", self.base_url);
        }
        let status = &self.status;
        let state = match status["ready"].as_bool() {
            Some(true) => "ready".to_owned(),
            Some(false) => format!("not ready: {}", text(&status["reason"])),
            None => return format!("{} …", self.base_url),
        };
        let up = describe_time(Duration::from_secs(status["uptime_seconds"].as_u64().unwrap_or(0)));
        let codex = text(&status["workers"][0]["codex"]);
        let version = text(&status["version"]);
        format!("codex-completions {version}  {state}  up {up}  codex {codex}  {}", self.base_url)
    }

    fn load(&self) -> String {
        let (turns, kept) = (&self.status["turns"], &self.status["kept_threads"]);
        format!(
            "turns: {} running, {} waiting, limit {}  kept threads: {} idle, {} held  restarts: {}",
            text(&turns["running"]),
            text(&turns["waiting"]),
            text(&turns["limit"]),
            text(&kept["idle"]),
            text(&kept["held"]),
            text(&self.status["restarts"]),
        )
    }

    fn account(&self) -> String {
        if let Some(upstream) = self.status["upstream"].as_str() {
            return format!("upstream: {upstream}");
        }
        let account = &self.status["account"];
        let windows = ["primary", "secondary"].iter().filter_map(|name| {
            let window = &account[*name];
            let minutes = window["window_minutes"].as_u64()?;
            let length = describe_time(Duration::from_secs(minutes.saturating_mul(60)));
            Some(format!("{} % of {length} used", window["used_percent"].as_u64()?))
        });
        let windows: Vec<_> = windows.collect();
        let who = account["email"].as_str().or(account["reason"].as_str()).unwrap_or("-");
        format!("account: {}  {}", plain(who), windows.join(", "))
    }
}

// === impl Turn ===

impl Turn {
    pub(super) fn has_ended(&self) -> bool {
        self.state == State::Ended
    }

    /// One line, however many tools were called.
    pub(super) fn line(&self, now: SystemTime) -> String {
        let milliseconds = i64::try_from(self.started_at).unwrap_or(i64::MAX);
        let started = Timestamp::from_millisecond(milliseconds).unwrap_or_default();
        let took = self.duration_ms.map_or_else(
            || now.duration_since(started.into()).unwrap_or_default(),
            Duration::from_millis,
        );
        let tokens = self.tokens.map_or_else(
            || "-".to_owned(),
            |Tokens { prompt, completion }| format!("{prompt}+{completion}"),
        );
        let end = match (self.state, &self.failure, &self.stop_reason) {
            (State::Running, ..) => "running",
            (State::Ended, Some(reason), _) | (State::Ended, None, Some(reason)) => reason,
            (State::Ended, None, None) => "ended",
        };
        let mut line = format!(
            "{}  {:8}  {:14}  {:14}  {tokens:9}  {:7}  {} {}",
            started.strftime("%H:%M:%S"),
            plain(&self.key),
            plain(self.client.as_deref().unwrap_or("-")),
            plain(&self.model),
            format!("{:.1} s", took.as_secs_f64()),
            plain(end),
            plain(&self.tool_calls.join(", ")),
        );
        line.truncate(line.trim_end().len());
        line
    }
}

/// A figure or a word.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => plain(text),
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    }
}

/// Names come from clients and models, and stay in their line, in a pipe too.
fn plain(text: &str) -> String {
    visible_line(text).into_owned()
}

#[cfg(test)]
mod tests;
