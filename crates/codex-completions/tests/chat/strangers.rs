//! Hundreds of requests at once, ended in every way: no client receives a byte of another's.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use testkit::{seed, times};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::asking::{ask, streamed, tools, with};
use crate::proxy::Proxy;
use crate::reply::Reply;

const REQUESTS: usize = 150;
const AT_ONCE: usize = 24;

/// What the model does with the user's text, and how the answer ends if its client waits for it.
const SCENES: [(&str, &str); 10] = [
    ("echo", "stop"),
    ("echo-whole", "stop"),
    ("echo-slow:200", "stop"),
    ("echo-reasoning", "stop"),
    ("echo-bytes", "tool_calls"),
    ("parallel:1", "tool_calls"),
    ("parallel:3", "tool_calls"),
    ("echo-hang", "timeout"),
    ("echo-cut", "stream_cut"),
    ("http:500", "upstream_error"),
];

/// One client's request, in which every word is its own.
#[derive(Debug)]
struct Story {
    /// `m042`, in every word, tool, id and header that the client sends.
    own: String,
    /// What the model says of it, or a part of it.
    words: String,
    /// A finish reason, or an error's code.
    end: &'static str,
    request: Value,
    /// Bytes of a stream after which the client leaves.
    leaves_after: Option<usize>,
    mode: &'static str,
}

// === impl Story ===

impl Story {
    fn new(number: usize, dice: &mut fastrand::Rng) -> Self {
        let own = format!("m{number:03}");
        let (mark, end) = SCENES[dice.usize(..SCENES.len())];
        let words: Vec<_> = (0..dice.usize(3..30)).map(|word| format!("{own}.{word} ")).collect();
        let words = words.concat();
        let text = format!("{words}[[{mark}]]");
        let names = ["a", "b", "c"].map(|letter| format!("{own}_{letter}"));
        let declared = tools(&names.each_ref().map(String::as_str));
        let mut request =
            with(ask(&text), json!({"n": dice.u32(1..3), "tools": declared, "user": own}));
        if dice.u8(..3) > 0 {
            request = streamed(request);
        }
        let leaves = request.get("stream").is_some() && dice.u8(..3) == 0;
        let leaves_after = leaves.then(|| dice.usize(1..2_000));
        let mode = *dice.choice(&["openai-json", "obsidian-xml"]).unwrap();
        Self { own, words, end, request, leaves_after, mode }
    }

    /// Asks, and checks every byte that comes back. Gives the ids of the calls; `None` if the client
    /// has left before the end.
    async fn play(&self, proxy: &Proxy) -> Option<Vec<String>> {
        let headers = [("x-request-id", self.own.as_str()), ("x-proxy-output-mode", self.mode)];
        let mut exchange = proxy.open_with(&self.request, &headers).await;
        let id = exchange.headers["x-request-id"].to_str().unwrap().to_owned();
        assert_eq!(id, self.own);
        if let Some(bytes) = self.leaves_after
            && exchange.status == 200
        {
            let (read, whole) = exchange.read_at_least(bytes).await;
            self.check(read);
            if !whole {
                return None;
            }
        }
        let answer = exchange.whole().await;
        self.check(&answer.body);
        let reply = Reply::of(&answer);
        let finishes = reply.choices.iter().map(|choice| choice.finish.as_deref());
        let ends: Vec<_> = match &reply.error {
            Some(error) => vec![error["code"].as_str()],
            None => finishes.collect(),
        };
        assert!(ends.iter().all(|end| *end == Some(self.end)), "{self:?}: {answer:?}");
        // Frames can cut a mark in two, so texts are compared as a whole. Calls are blocks in a text.
        for choice in reply.choices.iter().filter(|choice| choice.calls.is_empty()) {
            for text in [choice.text(), &choice.reasoning] {
                assert!(self.words.starts_with(text), "{self:?} was told {text:?}");
            }
            assert!(self.end != "stop" || choice.text() == self.words, "{self:?}: {answer:?}");
        }
        let calls = reply.choices.iter().flat_map(|choice| &choice.calls);
        Some(calls.map(|call| call.id.clone()).collect())
    }

    /// Every mark in the answer is this request's own.
    fn check(&self, body: &str) {
        for at in marks(body) {
            assert_eq!(&body[at..at + 4], self.own, "{self:?} was sent {body}");
        }
    }
}

/// Where a text has an `m` with three digits and a dot behind it, and no letter or digit before. Ids,
/// which are random, have no dots.
pub(crate) fn marks(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    bytes.windows(6).enumerate().filter_map(|(at, window)| {
        let is_mark = !window[0].is_ascii_alphanumeric()
            && window[1] == b'm'
            && window[2..5].iter().all(u8::is_ascii_digit)
            && window[5] == b'.';
        is_mark.then_some(at + 1)
    })
}

/// `SEED=… ./test strangers` sends the requests of an earlier run again; `TIMES=…`, up to 6, sends more.
#[tokio::test]
async fn row_10_no_client_receives_a_byte_of_another() {
    let requests = REQUESTS * times();
    let most = AT_ONCE.to_string();
    let proxy = Proxy::start(&[
        ("WORKER_COUNT", "2"),
        // Less than what is asked for at once, so that some wait.
        ("PROXY_MAX_CONCURRENT_TURNS", &most),
        // Only a model that hangs is silent for so long, however slow the machine is.
        ("PROXY_IDLE_TIMEOUT_MS", "5000"),
    ])
    .await;
    let proxy = Arc::new(proxy);
    let mut dice = fastrand::Rng::with_seed(seed());
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let (started, mut running) = (Instant::now(), JoinSet::new());
    for number in 0..requests {
        let story = Story::new(number, &mut dice);
        let (proxy, places) = (Arc::clone(&proxy), Arc::clone(&places));
        running.spawn(async move {
            let _place = places.acquire().await.unwrap();
            let ids = story.play(&proxy).await;
            (if ids.is_some() { story.end } else { "left" }, ids.unwrap_or_default())
        });
    }
    let outcomes = running.join_all().await;
    let mut ends = BTreeMap::<&str, usize>::new();
    for (end, _) in &outcomes {
        *ends.entry(end).or_default() += 1;
    }
    println!("{requests} requests, {AT_ONCE} at once: {:?}; {ends:?}", started.elapsed());
    assert_eq!(ends.len(), 6, "some way to end was never taken");
    let ids: Vec<_> = outcomes.iter().flat_map(|(_, ids)| ids).collect();
    let distinct: HashSet<_> = ids.iter().collect();
    assert_eq!(distinct.len(), ids.len(), "an id was given twice");
    proxy.model.until(|counters| counters.in_flight == 0).await;
    assert_eq!(proxy.counter("codex_restarts_total").await, 0);
    // What Codex was asked was never a mixture either.
    for request in proxy.model.recorded() {
        let body = request.body.to_string();
        let owners: HashSet<_> = marks(&body).map(|at| &body[at..at + 4]).collect();
        assert_eq!(owners.len(), 1, "{body}");
    }
}
