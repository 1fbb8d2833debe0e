//! Turns that nobody can go on with are held for no longer than that is known.

use serde_json::Value;

use super::{Told, hold};
use crate::proxy::Proxy;
use crate::samples::Samples;

async fn held(proxy: &Proxy) -> String {
    Samples::of(proxy).await.value("kept_threads{state=held}").unwrap().to_string()
}

/// Some clients parse the arguments of calls, and write them in their own way.
#[tokio::test]
async fn a_turn_is_let_go_when_its_client_comes_back_with_something_else() {
    let proxy = Proxy::start(&[]).await;
    let mut request = hold(&proxy, "[[round-trip]]").await;
    let other = hold(&proxy, "other [[round-trip]]").await;
    assert_eq!(held(&proxy).await, "2");
    let arguments = &mut request["messages"][1]["tool_calls"][0]["function"]["arguments"];
    let written_anew = serde_json::from_str::<Value>(arguments.as_str().unwrap()).unwrap();
    *arguments = format!("{written_anew:#}").into();
    let told = Told::by(&proxy, &proxy.chat(&request).await).await;
    assert_eq!(told, Told::fresh("get_weather: sunny", "unknown"));
    assert_eq!(held(&proxy).await, "1");
    let told = Told::by(&proxy, &proxy.chat(&other).await).await;
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
