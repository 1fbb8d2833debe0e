//! Turns that nobody can go on with are held for no longer than that is known.

use std::collections::HashSet;

use scripted_model::long_arguments;
use serde_json::Value;

use super::{Told, add_outputs, hold};
use crate::asking::{ask, with_tools};
use crate::proxy::Proxy;
use crate::reply::Reply;
use crate::samples::Samples;

async fn held(proxy: &Proxy) -> String {
    Samples::of(proxy).await.value("kept_threads{state=held}").unwrap().to_string()
}

on_one_server! {
    a_turn_is_let_go_when_its_client_comes_back_with_something_else,
    calls_with_one_id_of_the_upstream_are_not_held_and_get_ids_of_their_own,
}

/// Some clients parse the arguments of calls, and write them in their own way.
async fn a_turn_is_let_go_when_its_client_comes_back_with_something_else(proxy: &Proxy) {
    let mut request = hold(proxy, "[[round-trip]]").await;
    let other = hold(proxy, "other [[round-trip]]").await;
    assert_eq!(held(proxy).await, "2");
    let arguments = &mut request["messages"][1]["tool_calls"][0]["function"]["arguments"];
    let written_anew = serde_json::from_str::<Value>(arguments.as_str().unwrap()).unwrap();
    *arguments = format!("{written_anew:#}").into();
    let told = Told::by(proxy, &proxy.chat(&request).await).await;
    assert_eq!(told, Told::fresh("get_weather: sunny", "unknown"));
    assert_eq!(held(proxy).await, "1");
    let told = Told::by(proxy, &proxy.chat(&other).await).await;
    assert_eq!(told, Told::resumed("get_weather: sunny"));
}

#[tokio::test]
async fn nothing_is_kept_once_it_is_switched_off() {
    let proxy = Proxy::start(&[]).await;
    let request = hold(&proxy, "[[round-trip]]").await;
    assert_eq!(held(&proxy).await, "1");
    std::fs::write(proxy.folder().join("config.toml"), "continuity = false").unwrap();
    proxy.logged("settings have changed").await;
    assert_eq!(held(&proxy).await, "0");
    let told = Told::by(&proxy, &proxy.chat(&request).await).await;
    assert_eq!(told, Told::fresh("get_weather: sunny", "off"));
    assert_eq!(held(&proxy).await, "0");
}

/// An output would not say which of the calls it is for.
async fn calls_with_one_id_of_the_upstream_are_not_held_and_get_ids_of_their_own(proxy: &Proxy) {
    proxy.until_early_arguments("on").await;
    for streams in [false, true] {
        let mut request = with_tools(ask("x [[args:calls=2,one-call-id,ms=5]]"));
        request["stream"] = streams.into();
        let answer = proxy.chat(&request).await;
        let reply = Reply::of(&answer);
        let texts = [0, 1].map(|index| long_arguments(index, "x", 200));
        assert_eq!(
            reply.choice().called(),
            [("get_weather", &*texts[0]), ("get_time", &*texts[1])],
            "{answer:?}"
        );
        let calls = reply.choice().calls.iter();
        let ids: HashSet<_> =
            calls.filter_map(|call| tool_call_aggregator::backend_call_id(&call.id)).collect();
        assert_eq!(ids.len(), 2, "{answer:?}");
        assert_eq!(held(proxy).await, "0");
        add_outputs(&mut request, &reply);
        let told = Told::by(proxy, &proxy.chat(&request).await).await;
        assert_eq!(told.continuity, "fresh");
    }
}
