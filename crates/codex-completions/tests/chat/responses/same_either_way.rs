//! Streamed or whole, a response is the same.

use fastrand::Rng;
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::asking::{ask, respond_with, with_tools};
use super::reply::Reply;
use crate::asking::{call, items, streamed, with};
use crate::proxy::Proxy;
use crate::same_either_way::marks;

/// What a client acts on, without what differs from turn to turn.
fn outcome(reply: &Reply) -> Value {
    if let Some(error) = &reply.error {
        return json!([error["type"], error["code"]]);
    }
    let mut items = reply.steady_items();
    for item in items.as_array_mut().unwrap() {
        // A call of a kind that is no function has its whole item as arguments, and with it ids.
        if item["name"].as_str().is_some_and(|name| name.ends_with("_call")) {
            item["arguments"].take();
        }
    }
    let response = &reply.response;
    let rest = ["status", "incomplete_details", "usage", "store"].map(|name| &response[name]);
    json!([items, rest])
}

/// Every request in both ways, some at a time: one by one it would take long, and all together
/// outlast the time limits.
async fn check(proxy: &Proxy, requests: &[Value], headers: &[(&str, &str)]) {
    for some in requests.chunks(8) {
        let ask_all = async |way: fn(Value) -> Value| {
            let replies = some.iter().map(async |request| {
                let answer = respond_with(proxy, &way(request.clone()), headers).await;
                outcome(&Reply::of(&answer))
            });
            let replies = join_all(replies).await;
            // What fails only once does so again.
            proxy.model.reset();
            replies
        };
        let stream = ask_all(streamed).await;
        let whole = ask_all(|request| request).await;
        for (request, (stream, whole)) in some.iter().zip(stream.into_iter().zip(whole)) {
            assert_eq!(stream, whole, "{request}");
        }
    }
}

#[tokio::test]
async fn every_scenario_has_one_outcome() {
    // What hangs fails soon.
    let settings = [("PROXY_IDLE_TIMEOUT_MS", "1500"), ("PROXY_CALL_PROBE_MS", "300")];
    let proxy = Proxy::start(&settings).await;
    let request = |mark| with_tools(ask(format!("<use_tool> and more. {mark}")));
    let requests: Vec<_> = marks().into_iter().map(request).collect();
    check(&proxy, &requests, &[]).await;
}

/// A turn of texts, blocks and calls, with whatever may cut it.
fn random_request(random: &mut Rng) -> Value {
    let texts = ["One.", " two\n\n", "drei — 🦀", "<use_tool", "a <b> & c"];
    let block = "<use_tool>\n<name>get_time</name>\n<city>Rome</city>\n</use_tool>";
    let said: Vec<_> = (0..random.usize(0..6))
        .map(|_| match random.u8(0..6) {
            0..3 => json!(texts[random.usize(0..texts.len())]),
            3 => json!(format!("Now: {block} then.")),
            _ => call(["get_time", "lookup", "get_weather"][random.usize(0..3)], "Rome"),
        })
        .collect();
    let mut request = with_tools(ask(items(&said)));
    if random.u8(0..3) == 0 {
        request = with(request, json!({"max_output_tokens": random.u8(1..12)}));
    }
    if random.u8(0..4) == 0 {
        request = with(request, json!({"parallel_tool_calls": false}));
    }
    request
}

#[tokio::test]
async fn random_turns_have_one_outcome() {
    let mut random = Rng::with_seed(testkit::seed());
    let proxy = Proxy::start(&[("PROXY_TOOL_BLOCK_MAX", "3")]).await;
    for mode in ["openai-json", "obsidian-xml"] {
        let requests: Vec<_> = (0..32).map(|_| random_request(&mut random)).collect();
        check(&proxy, &requests, &[("x-proxy-output-mode", mode)]).await;
    }
}
