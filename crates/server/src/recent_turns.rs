//! The turns that run, and those that have ended last, for whoever watches.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::{Instant, UNIX_EPOCH};

use model_turn::TokenUsage;
use parking_lot::Mutex;
use serde::{Serialize, Serializer};
use tokio::sync::broadcast;

use crate::request_info::RequestInfo;

/// Most turns that have ended and are still told of.
const MOST_ENDED: usize = 200;

/// Most that somebody who watches may be behind.
const MOST_UNREAD: usize = 256;

/// The turns of this process: names, numbers and times, and nothing of what was said.
pub(crate) struct RecentTurns {
    turns: Mutex<Turns>,
    changes: broadcast::Sender<Arc<TurnRow>>,
}

#[derive(Default)]
struct Turns {
    /// How many there were.
    begun: u64,
    running: BTreeMap<u64, Arc<TurnRow>>,
    /// The last one first.
    ended: VecDeque<Arc<TurnRow>>,
}

/// Turns, the last one first.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct TurnList {
    #[serde(serialize_with = "each")]
    turns: Vec<Arc<TurnRow>>,
}

/// Which of them, in the order in which they began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TurnNumber(u64);

/// One turn, as the owner's page shows it.
#[derive(Debug, Clone)]
pub(crate) struct TurnRow {
    /// Its own, which no client can choose.
    pub(crate) number: u64,
    /// The request's, and which of its choices.
    pub(crate) id: String,
    /// When the request came, in milliseconds since 1970.
    pub(crate) started_at: u64,
    pub(crate) request: Arc<RequestInfo>,
    pub(crate) state: TurnState,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(crate) enum TurnState {
    Running,
    Ended(EndedTurn),
}

/// What became of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct EndedTurn {
    pub(crate) stop_reason: &'static str,
    pub(crate) failed: bool,
    pub(crate) failure: Option<&'static str>,
    /// Names of the calls, as far as they look like names.
    pub(crate) tool_calls: Vec<String>,
    pub(crate) tool_call_count: usize,
    pub(crate) truncated: bool,
    pub(crate) continuity: &'static str,
    #[serde(serialize_with = "tokens")]
    pub(crate) tokens: Option<TokenUsage>,
    /// From the request's head to its place among the turns.
    pub(crate) queue_ms: u64,
    /// From there to the first event of the backend.
    pub(crate) first_event_ms: Option<u64>,
    /// From the request's head to the first token for the client.
    pub(crate) first_token_ms: Option<u64>,
    /// From the request's head to its end.
    pub(crate) duration_ms: u64,
}

// === impl RecentTurns ===

impl RecentTurns {
    /// The turn of a choice runs.
    pub(crate) fn begin(&self, request: &Arc<RequestInfo>, choice: u32) -> TurnNumber {
        let mut turns = self.turns.lock();
        turns.begun += 1;
        let number = turns.begun;
        let row = Arc::new(TurnRow {
            number,
            id: format!("{}/{choice}", request.id),
            started_at: millis_since_1970(request.received),
            request: Arc::clone(request),
            state: TurnState::Running,
        });
        turns.running.insert(number, Arc::clone(&row));
        self.tell(row);
        TurnNumber(number)
    }

    /// It has ended.
    pub(crate) fn end(&self, number: TurnNumber, ended: EndedTurn) {
        let mut turns = self.turns.lock();
        let Some(running) = turns.running.remove(&number.0) else { return };
        let running = Arc::unwrap_or_clone(running);
        let row = Arc::new(TurnRow { state: TurnState::Ended(ended), ..running });
        turns.ended.truncate(MOST_ENDED - 1);
        turns.ended.push_front(Arc::clone(&row));
        self.tell(row);
    }

    /// The running ones, then those that have ended: the last one first.
    pub(crate) fn all(&self) -> TurnList {
        self.turns.lock().listed()
    }

    /// The same, and what happens from then on.
    pub(crate) fn watch(&self) -> (TurnList, broadcast::Receiver<Arc<TurnRow>>) {
        let turns = self.turns.lock();
        (turns.listed(), self.changes.subscribe())
    }

    /// Within the lock, so that whoever watches hears everything once, and in order.
    fn tell(&self, row: Arc<TurnRow>) {
        // Mostly nobody watches.
        let _ = self.changes.send(row);
    }
}

impl Default for RecentTurns {
    fn default() -> Self {
        Self { turns: Mutex::default(), changes: broadcast::Sender::new(MOST_UNREAD) }
    }
}

impl fmt::Debug for RecentTurns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecentTurns").finish_non_exhaustive()
    }
}

// === impl TurnRow ===

impl Serialize for TurnRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Shown<'a> {
            number: u64,
            id: &'a str,
            started_at: u64,
            endpoint: &'static str,
            key: &'a str,
            client: Option<&'a str>,
            model: &'a str,
            backend_model: &'a str,
            stream: bool,
            output_mode: &'static str,
            #[serde(flatten)]
            state: &'a TurnState,
        }
        let Self { number, id, started_at, request, state } = self;
        let shown = Shown {
            number: *number,
            id,
            started_at: *started_at,
            endpoint: request.endpoint.as_str(),
            key: request.key.name(),
            client: request.client.as_deref(),
            model: &request.model,
            backend_model: &request.backend_model,
            stream: request.stream,
            output_mode: request.mode.as_str(),
            state,
        };
        shown.serialize(serializer)
    }
}

// === impl Turns ===

impl Turns {
    fn listed(&self) -> TurnList {
        TurnList { turns: self.running.values().rev().chain(&self.ended).map(Arc::clone).collect() }
    }
}

fn millis_since_1970(at: Instant) -> u64 {
    let at = ambient::wall_time() - ambient::since(at);
    let elapsed = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}

fn each<S: Serializer>(turns: &[Arc<TurnRow>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(turns.iter().map(|turn| &**turn))
}

#[expect(clippy::ref_option, reason = "the signature that serde calls")]
fn tokens<S: Serializer>(usage: &Option<TokenUsage>, serializer: S) -> Result<S::Ok, S::Error> {
    match usage {
        Some(usage) => serializer.collect_map(usage.kinds()),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(id: &str) -> Arc<RequestInfo> {
        Arc::new(RequestInfo { id: id.to_owned(), ..RequestInfo::example() })
    }

    fn ended() -> EndedTurn {
        EndedTurn {
            stop_reason: "tool_calls",
            failed: false,
            failure: None,
            tool_calls: vec!["get_weather".to_owned()],
            tool_call_count: 1,
            truncated: false,
            continuity: "fresh",
            tokens: Some(TokenUsage {
                input_tokens: 4,
                cached_input_tokens: 3,
                output_tokens: 2,
                reasoning_output_tokens: 1,
                total_tokens: 6,
            }),
            queue_ms: 0,
            first_event_ms: Some(5),
            first_token_ms: None,
            duration_ms: 9,
        }
    }

    fn ids(rows: &[Arc<TurnRow>]) -> Vec<&str> {
        rows.iter().map(|row| row.id.as_str()).collect()
    }

    #[test]
    fn running_turns_come_first_and_the_last_ones_before_the_others() {
        let turns = RecentTurns::default();
        let [a, b, _c] = ["a", "b", "c"].map(|id| turns.begin(&request(id), 0));
        let (before, mut changes) = turns.watch();
        assert_eq!(ids(&before.turns), ["c/0", "b/0", "a/0"]);
        turns.end(a, ended());
        turns.end(b, ended());
        // Nobody ends twice.
        turns.end(b, ended());
        assert_eq!(ids(&turns.all().turns), ["c/0", "b/0", "a/0"]);
        let told: Vec<_> = std::iter::from_fn(|| changes.try_recv().ok()).collect();
        assert_eq!(ids(&told), ["a/0", "b/0"]);
        assert_eq!(told[0].state, TurnState::Ended(ended()));
    }

    #[test]
    fn only_the_last_ones_are_kept() {
        let turns = RecentTurns::default();
        for id in 0..MOST_ENDED + 5 {
            let number = turns.begin(&request(&id.to_string()), 0);
            turns.end(number, ended());
        }
        let all = turns.all().turns;
        let newest = format!("{}/0", MOST_ENDED + 4);
        assert_eq!((all.len(), all[0].id.as_str()), (MOST_ENDED, newest.as_str()));
    }

    #[test]
    fn a_turn_is_told_in_one_object() {
        let row = TurnRow {
            number: 0,
            id: "req_1/0".to_owned(),
            started_at: 1,
            request: request("req_1"),
            state: TurnState::Ended(ended()),
        };
        assert_eq!(
            json!(row),
            json!({
                "number": 0, "id": "req_1/0", "state": "ended", "started_at": 1, "endpoint": "chat",
                "key": "default", "client": null, "model": "chat", "backend_model": "gpt-5.5",
                "stream": true, "output_mode": "openai-json",
                "stop_reason": "tool_calls", "failed": false, "failure": null,
                "tool_calls": ["get_weather"], "tool_call_count": 1, "truncated": false,
                "continuity": "fresh",
                "tokens": {"prompt": 4, "cached": 3, "completion": 2, "reasoning": 1},
                "queue_ms": 0, "first_event_ms": 5, "first_token_ms": null, "duration_ms": 9,
            })
        );
    }
}
