//! Who is let in when there is more to do than may be done at once.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use serde_json::{Value, json};
use testkit::until;
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

use crate::asking::{ask, streamed, with};
use crate::http::{Answer, Exchange};
use crate::proxy::{CHAT, Proxy};
use crate::reply::Reply;

/// What the server says about its turns, to somebody with the key.
async fn turns(proxy: &Proxy) -> Value {
    let request = Request::get("/healthz").body(Full::default()).unwrap();
    proxy.send(request).await.whole().await.json()["turns"].take()
}

/// Waits until these keys have so many turns that run and requests that wait.
async fn until_turns(proxy: &Proxy, keys: &[(&str, u32, u32)]) {
    let key = |(name, running, waiting): &(&str, u32, u32)| {
        ((*name).to_owned(), json!({"running": running, "waiting": waiting}))
    };
    let wanted = Value::Object(keys.iter().map(key).collect());
    until(&wanted.to_string(), async || turns(proxy).await["keys"] == wanted).await;
}

/// Asks for an answer with this key, and waits for it aside.
fn chat(proxy: &Arc<Proxy>, key: &str, body: Value) -> JoinHandle<Answer> {
    let (proxy, bearer) = (Arc::clone(proxy), format!("Bearer {key}"));
    aside(async move { proxy.chat_with(&body, &[("authorization", &bearer)]).await })
}

fn aside<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    TaskTracker::new().spawn(work)
}

/// A turn that has begun and goes on until it is dropped.
async fn endless(proxy: &Proxy, key: &str) -> Exchange {
    let bearer = format!("Bearer {key}");
    let request = streamed(ask("[[hang]]"));
    let mut stream = proxy.open_with(&request, &[("authorization", &bearer)]).await;
    stream.until("This").await;
    stream
}

fn assert_refused(answer: &Answer, code: &str, state: &str) {
    assert_eq!(answer.error(), (429, Value::Null, json!(code)));
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert!(answer.body.contains(state), "{answer:?}");
}

fn text(answer: &Answer) -> String {
    Reply::of(answer).choice().text().to_owned()
}

#[tokio::test]
async fn row_6_a_flood_of_one_key_does_not_keep_another_out() {
    let settings = [("PROXY_MAX_CONCURRENT_TURNS", "1"), ("PROXY_QUEUE_MAX", "2")];
    let proxy = Arc::new(Proxy::start(&settings).await);
    let [flood, phone] = [proxy.add_key("flood").await, proxy.add_key("phone").await];
    let running = endless(&proxy, &flood).await;
    let first = chat(&proxy, &flood, ask("[[text:first]]"));
    until_turns(&proxy, &[("flood", 1, 1)]).await;
    let second = chat(&proxy, &flood, ask("[[text:second]]"));
    until_turns(&proxy, &[("flood", 1, 2)]).await;

    let full = "1 of 1 turns run, 2 wait";
    let third = chat(&proxy, &flood, ask("[[text:third]]")).await.unwrap();
    assert_refused(&third, "queue_full", full);
    // Another key takes the place of the flood's newest, and its turn is the next.
    let other = aside({
        let proxy = Arc::clone(&proxy);
        async move { endless(&proxy, &phone).await }
    });
    assert_refused(&second.await.unwrap(), "queue_full", full);
    until_turns(&proxy, &[("flood", 1, 1), ("phone", 0, 1)]).await;
    assert_eq!(proxy.counter("turns_running").await, 1);
    assert_eq!(proxy.counter("turns_waiting").await, 2);
    assert_eq!(proxy.counter(r#"requests_refused_total{reason="queue_full"}"#).await, 2);

    drop(running);
    until_turns(&proxy, &[("flood", 0, 1), ("phone", 1, 0)]).await;
    drop(other.await.unwrap());
    assert_eq!(text(&first.await.unwrap()), "first");
    until_turns(&proxy, &[]).await;
}

#[tokio::test]
async fn row_6_who_waits_too_long_is_told_when_to_come_back() {
    let settings = [("PROXY_MAX_CONCURRENT_TURNS", "1"), ("PROXY_QUEUE_WAIT_MS", "100")];
    let proxy = Arc::new(Proxy::start(&settings).await);
    let running = proxy.open(&streamed(ask("[[hang]]"))).await;
    let refused = proxy.chat(&ask("[[text]]")).await;
    assert_refused(&refused, "too_many_turns", "1 of 1 turns run, 0 wait");
    assert_eq!(proxy.counter(r#"requests_refused_total{reason="too_many_turns"}"#).await, 1);
    assert_eq!(proxy.model.requests(), 1);
    drop(running);
}

#[tokio::test]
async fn row_6_without_a_queue_nobody_waits() {
    let settings = [("PROXY_MAX_CONCURRENT_TURNS", "2"), ("PROXY_QUEUE_MAX", "0")];
    let proxy = Proxy::start(&settings).await;
    let both = with(streamed(ask("[[hang]]")), json!({"n": 2}));
    let running = proxy.open(&both).await;
    until_turns(&proxy, &[("default", 2, 0)]).await;
    let refused = proxy.chat(&ask("[[text]]")).await;
    assert_refused(&refused, "queue_full", "2 of 2 turns run, 0 wait");
    drop(running);
    until_turns(&proxy, &[]).await;
    assert_eq!(proxy.chat(&ask("[[text]]")).await.status, 200);
}

#[tokio::test]
async fn row_6_a_client_that_leaves_the_queue_frees_its_place() {
    let settings = [("PROXY_MAX_CONCURRENT_TURNS", "1"), ("PROXY_QUEUE_MAX", "1")];
    let proxy = Arc::new(Proxy::start(&settings).await);
    let phone = proxy.add_key("phone").await;
    let running = endless(&proxy, &phone).await;
    let leaving = chat(&proxy, &phone, streamed(ask("[[text:gone]]")));
    until_turns(&proxy, &[("phone", 1, 1)]).await;
    leaving.abort();
    until_turns(&proxy, &[("phone", 1, 0)]).await;
    let waiting = chat(&proxy, &phone, ask("[[text:here]]"));
    until_turns(&proxy, &[("phone", 1, 1)]).await;
    drop(running);
    assert_eq!(text(&waiting.await.unwrap()), "here");
    assert_eq!(proxy.model.requests(), 2);
}

#[tokio::test]
async fn more_places_are_there_at_once() {
    let proxy = Arc::new(Proxy::start(&[]).await);
    let phone = proxy.add_key("phone").await;
    let config = proxy.folder().join("config.toml");
    std::fs::write(&config, "max_concurrent_turns = 1\n").unwrap();
    proxy.logged("settings have changed").await;
    let _running = endless(&proxy, &phone).await;
    let waiting = chat(&proxy, &phone, ask("[[text:here]]"));
    until_turns(&proxy, &[("phone", 1, 1)]).await;
    std::fs::write(&config, "max_concurrent_turns = 2\n").unwrap();
    assert_eq!(text(&waiting.await.unwrap()), "here");
}

/// What an answer says about the rate: limit and remaining, and whether there is a reset.
fn rate(answer: &Answer) -> Option<(&str, &str)> {
    let header = |what: &str| answer.header(&format!("x-ratelimit-{what}-requests"));
    let reset = header("reset")?;
    assert!(reset.ends_with('s'), "{reset}");
    Some((header("limit")?, header("remaining")?))
}

#[tokio::test]
async fn row_6_each_key_has_its_own_rate() {
    let proxy = Proxy::start(&[]).await;
    let phone = format!("Bearer {}", proxy.add_key("phone").await);
    let config = proxy.folder().join("config.toml");
    std::fs::write(&config, "rate_limit_enabled = true\nrate_limit_max = 2\n").unwrap();
    proxy.logged("settings have changed").await;

    let first = proxy.chat(&ask("[[text]]")).await;
    assert_eq!((first.status, rate(&first)), (200, Some(("2", "1"))));
    assert_eq!(first.header("x-ratelimit-reset-requests"), Some("1m0s"));
    // What is no request to the API does not count; a wrong request does.
    let typed = |kind: &str| {
        let request = Request::post(CHAT).header("content-type", kind);
        request.body(Full::from(Bytes::from_static(b"{}"))).unwrap()
    };
    let untyped = proxy.send(typed("text/plain")).await.whole().await;
    assert_eq!((untyped.status, rate(&untyped)), (415, None));
    let wrong = proxy.send(typed("application/json")).await.whole().await;
    assert_eq!((wrong.status, rate(&wrong)), (400, Some(("2", "0"))));

    let refused = proxy.chat(&streamed(ask("[[text]]"))).await;
    assert_eq!(refused.error(), (429, Value::Null, json!("rate_limit_exceeded")));
    assert_eq!(rate(&refused), Some(("2", "0")));
    let seconds: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&seconds), "{seconds}");
    assert_eq!(proxy.counter(r#"requests_refused_total{reason="rate_limit_exceeded"}"#).await, 1);
    assert_eq!(proxy.model.requests(), 1);

    let other = proxy.chat_with(&ask("[[text]]"), &[("authorization", &phone)]).await;
    assert_eq!((other.status, rate(&other)), (200, Some(("2", "1"))));
    std::fs::write(&config, "").unwrap();
    proxy.logged_times("settings have changed", 2).await;
    let unlimited = proxy.chat(&ask("[[text]]")).await;
    assert_eq!((unlimited.status, rate(&unlimited)), (200, None));
}

#[tokio::test]
async fn row_22_the_rate_belongs_to_a_key_that_is_rotated_and_not_to_its_name() {
    let proxy = Proxy::start(&[]).await;
    let phone = proxy.add_key("phone").await;
    let config = proxy.folder().join("config.toml");
    std::fs::write(&config, "rate_limit_enabled = true\nrate_limit_max = 1\n").unwrap();
    proxy.logged("settings have changed").await;
    let status = async |key: &str| {
        let bearer = format!("Bearer {key}");
        proxy.chat_with(&ask("[[text]]"), &[("authorization", &bearer)]).await.status
    };
    assert_eq!(status(&phone).await, 200);
    let rotated = proxy.rotate_key("phone").await;
    assert_eq!(status(&rotated).await, 429);
    let new = proxy.replace_key("phone").await;
    assert_eq!(status(&new).await, 200);
    assert_eq!(status(&new).await, 429);
}
