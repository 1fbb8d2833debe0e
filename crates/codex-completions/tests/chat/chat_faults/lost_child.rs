//! A child that dies, hangs or talks nonsense: what runs in it fails aloud, and what waits is served.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::process::signal;
use tokio::task::JoinSet;

use super::{SOON, assert_works};
use crate::altered_codex::AlteredCodex;
use crate::asking::{ask, streamed};
use crate::http::{Answer, Exchange};
use crate::proxy::Proxy;
use crate::reply::Reply;

/// A child is asked for a sign of life every five seconds, and has ten to give one.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// A server all of whose places are taken, and two requests that wait for one.
struct Busy {
    proxy: Arc<Proxy>,
    /// A stream that has said something, and says no more.
    speaking: Exchange,
    /// Other requests that run, with when they were answered.
    others: JoinSet<(Answer, Instant)>,
    waiting: JoinSet<Answer>,
}

// === impl Busy ===

impl Busy {
    /// Runs a stream that hangs, and these requests beside it.
    async fn new(settings: &[(&str, &str)], requests: &[Value]) -> Self {
        let places = (requests.len() + 1).to_string();
        let own =
            [("PROXY_MAX_CONCURRENT_TURNS", places.as_str()), ("WORKER_BACKOFF_INITIAL_MS", "50")];
        let settings: Vec<_> = own.into_iter().chain(settings.iter().copied()).collect();
        let proxy = Arc::new(Proxy::start(&settings).await);
        let mut speaking = proxy.open(&streamed(ask("[[hang]]"))).await;
        speaking.until("This").await;
        let mut others = JoinSet::new();
        for request in requests {
            let (proxy, request) = (Arc::clone(&proxy), request.clone());
            others.spawn(async move { (proxy.chat(&request).await, Instant::now()) });
        }
        let running = requests.len() as u64 + 1;
        proxy.model.until(|counters| counters.in_flight == running).await;
        let mut waiting = JoinSet::new();
        for request in [streamed(ask("[[text]]")), ask("[[text]]")] {
            let proxy = Arc::clone(&proxy);
            waiting.spawn(async move { proxy.chat(&request).await });
        }
        proxy.until_waiting(2).await;
        Self { proxy, speaking, others, waiting }
    }

    /// What runs has its error within this time of `since`, and what waits its answer.
    async fn fail_within(self, limit: Duration, since: Instant) {
        let Self { proxy, speaking, others, waiting } = self;
        let spoken = speaking.whole().await;
        let elapsed = since.elapsed();
        println!("the stream had its error after {elapsed:?}");
        assert!(elapsed < limit);
        let reply = Reply::of(&spoken);
        assert_eq!(reply.error.expect("an error")["code"], "codex_unavailable");
        assert_eq!(reply.choices[0].finish, None);
        for (answer, at) in others.join_all().await {
            println!("another had its error after {:?}", at - since);
            assert!(at - since < limit);
            let reply = Reply::of(&answer);
            assert_eq!(reply.error.expect("an error")["code"], "codex_unavailable");
            assert!(reply.choices.iter().all(|choice| choice.finish.is_none()));
            // Who had no head yet has a status.
            assert!(answer.status == 503 || answer.headers.contains_key("x-accel-buffering"));
        }
        for answer in waiting.join_all().await {
            assert_eq!(Reply::of(&answer).choice().text(), "Hello from the scripted model.");
        }
        println!("who had waited was served after {:?}", since.elapsed());
        assert_eq!(proxy.counter("codex_restarts_total").await, 1);
        assert_works(&proxy).await;
    }
}

/// One that is not streamed, and one whose head is still to come.
fn silent() -> [Value; 2] {
    [ask("[[hang]]"), streamed(ask("[[silent]]"))]
}

#[tokio::test]
async fn row_13_a_child_that_is_killed_fails_its_turns_at_once_and_comes_back() {
    let busy = Busy::new(&[], &silent()).await;
    let killed = Instant::now();
    signal(busy.proxy.children()[0], "-KILL");
    busy.fail_within(SOON, killed).await;
}

#[tokio::test]
async fn row_13_a_child_that_exits_fails_its_turns_at_once_and_comes_back() {
    let busy = Busy::new(&[], &silent()).await;
    let asked = Instant::now();
    signal(busy.proxy.children()[0], "-TERM");
    busy.fail_within(SOON, asked).await;
}

/// Nothing tells a hang from a slow model but a heartbeat that is missed. Most of it is waiting, so
/// that it need not run alone.
#[tokio::test]
async fn row_13_a_child_that_hangs_fails_its_turns_when_its_heartbeat_is_missed() {
    let busy = Busy::new(&[], &silent()).await;
    let stopped = Instant::now();
    signal(busy.proxy.children()[0], "-STOP");
    busy.fail_within(HEARTBEAT + 5 * SOON, stopped).await;
}

/// Half a line that may be anybody's: nothing after it can be trusted.
#[tokio::test]
async fn row_13_a_child_that_sends_half_a_line_of_nobodys_is_replaced() {
    let codex = AlteredCodex::new(&[r#"s/^.*half-a-line.*$/{"method":"item\/agentMess/"#]).await;
    // Late enough that the others wait by then.
    let torn = "one two three four half-a-line[[echo-slow:1500]]";
    let running = [ask("[[hang]]"), ask(torn), streamed(ask(torn))];
    let busy = Busy::new(&[("CODEX_BIN", codex.path())], &running).await;
    busy.proxy.logged("Codex was lost").await;
    busy.fail_within(SOON, Instant::now()).await;
}

/// Half a line of a turn, and a line longer than allowed, cost that turn and nobody else's.
#[tokio::test]
async fn row_13_a_damaged_line_fails_its_own_turn_alone() {
    let codex = AlteredCodex::new(&[r"s/half-a-line.*$//"]).await;
    let settings = [("CODEX_BIN", codex.path()), ("PROXY_MAX_LINE_BYTES", "65536")];
    let proxy = Proxy::start(&settings).await;
    let mut neighbour = proxy.open(&streamed(ask("[[slow:4000]]"))).await;
    neighbour.until(r#""content":"w"#).await;
    for (mark, code) in
        [("half-a-line[[echo-whole]]", "unexpected"), ("[[big-delta:500000]]", "output_too_large")]
    {
        for request in [streamed(ask(mark)), ask(mark)] {
            let reply = Reply::of(&proxy.chat(&request).await);
            assert_eq!(reply.error.expect("an error")["code"], code, "{request}");
            assert!(reply.choices.iter().all(|choice| choice.finish.is_none()));
        }
    }
    let reply = Reply::of(&neighbour.whole().await);
    assert_eq!(reply.choice().finish.as_deref(), Some("stop"));
    assert_eq!(proxy.counter("codex_restarts_total").await, 0);
    assert_works(&proxy).await;
}
