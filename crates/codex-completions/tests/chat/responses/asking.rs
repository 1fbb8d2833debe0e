//! Requests for responses.

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use serde_json::{Value, json};

use crate::asking::{function, with};
use crate::http::{Answer, Exchange};
use crate::proxy::Proxy;

/// Where responses are asked for.
pub(crate) const RESPONSES: &str = "/v1/responses";

/// A text as the whole input.
pub(crate) fn ask(input: impl Into<Value>) -> Value {
    json!({"model": "gpt-5.5", "input": input.into()})
}

/// The request with tools that the scripted model calls.
pub(crate) fn with_tools(request: Value) -> Value {
    with(request, json!({"tools": tools(&["get_weather", "get_time", "lookup"])}))
}

/// Tools of these names, each with a city as its parameter.
pub(crate) fn tools(names: &[&str]) -> Value {
    names.iter().map(|name| with(json!({"type": "function"}), function(name))).collect()
}

/// Asks for a response, and reads it to its end.
pub(crate) async fn respond(proxy: &Proxy, body: &Value) -> Answer {
    respond_with(proxy, body, &[]).await
}

/// The same with more headers.
pub(crate) async fn respond_with(proxy: &Proxy, body: &Value, headers: &[(&str, &str)]) -> Answer {
    open_with(proxy, body, headers).await.whole().await
}

/// Asks for a response, and reads its head.
pub(crate) async fn open(proxy: &Proxy, body: &Value) -> Exchange {
    open_with(proxy, body, &[]).await
}

pub(crate) async fn open_with(proxy: &Proxy, body: &Value, headers: &[(&str, &str)]) -> Exchange {
    post(proxy, RESPONSES, body.to_string(), headers).await
}

/// Sends any body.
pub(crate) async fn post(
    proxy: &Proxy,
    path: &str,
    body: impl Into<Bytes>,
    headers: &[(&str, &str)],
) -> Exchange {
    let mut request = Request::post(path).header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    proxy.send(request.body(Full::new(body.into())).unwrap()).await
}
