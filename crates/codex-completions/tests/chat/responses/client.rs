//! A client of `/v1/responses`.

use bytes::Bytes;
use conformance::reading::SseReader;
use http_body_util::Full;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE};
use hyper::{Method, Request};
use serde_json::{Value, json};

use super::asking::RESPONSES;
use super::reply::Reply;
use crate::asking::with;
use crate::http::{Answer, Exchange};
use crate::proxy::Proxy;

/// A client of `/v1/responses`.
pub(super) struct Responder<'a> {
    proxy: &'a Proxy,
    /// `None` for the server's own key.
    bearer: Option<String>,
}

/// The request as one that goes on from a response.
pub(super) fn after(previous: &Value, request: Value) -> Value {
    with(request, json!({"previous_response_id": previous["id"]}))
}

/// The results of all calls of a response, as items of the next request.
pub(super) fn results(response: &Value) -> Vec<Value> {
    let calls = items_of(response, "function_call");
    let result = |call: &Value| {
        let output = format!("of {}", call["name"].as_str().unwrap());
        json!({"type": "function_call_output", "call_id": call["call_id"], "output": output})
    };
    calls.iter().map(result).collect()
}

/// The items of this type in the output of a response.
pub(super) fn items_of(response: &Value, kind: &str) -> Vec<Value> {
    let mut items = response["output"].as_array().expect("its output").clone();
    items.retain(|item| item["type"] == kind);
    items
}

/// The text of a response.
pub(super) fn text_of(response: &Value) -> String {
    let messages = items_of(response, "message");
    messages.iter().map(|message| message["content"][0]["text"].as_str().unwrap()).collect()
}

pub(super) fn id_of(response: &Value) -> &str {
    response["id"].as_str().expect("an id")
}

/// The events of a stream, without its comments.
pub(super) fn events(stream: &str) -> Vec<Value> {
    SseReader::json(stream)
}

/// The response object of an answer, which is the last one of a stream.
pub(super) fn response_of(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{answer:?}");
    Reply::of(answer).response
}

// === impl Responder ===

impl<'a> Responder<'a> {
    pub(super) fn new(proxy: &'a Proxy) -> Self {
        Self { proxy, bearer: None }
    }

    pub(super) fn with_key(proxy: &'a Proxy, key: &str) -> Self {
        Self { proxy, bearer: Some(format!("Bearer {key}")) }
    }

    /// Asks for a response, and reads the head of the answer.
    pub(super) async fn open(&self, request: &Value) -> Exchange {
        self.send(Method::POST, "", Full::from(request.to_string())).await
    }

    /// Asks for a response, and reads the answer to its end.
    pub(super) async fn create(&self, request: &Value) -> Answer {
        self.open(request).await.whole().await
    }

    /// A response that is completed.
    pub(super) async fn completed(&self, request: &Value) -> Value {
        let response = response_of(&self.create(request).await);
        assert_eq!(response["status"], "completed", "{response}");
        response
    }

    /// A stream whose id is known, and that has said `word`.
    pub(super) async fn until(&self, request: &Value, word: &str) -> (Exchange, String) {
        let mut stream = self.open(request).await;
        let begun = &events(stream.until(word).await)[0];
        let id = id_of(&begun["response"]).to_owned();
        (stream, id)
    }

    pub(super) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, &format!("/{path}"), Full::default()).await.whole().await
    }

    pub(super) async fn delete(&self, id: &str) -> Answer {
        self.send(Method::DELETE, &format!("/{id}"), Full::default()).await.whole().await
    }

    pub(super) async fn cancel(&self, id: &str) -> Answer {
        self.send(Method::POST, &format!("/{id}/cancel"), Full::default()).await.whole().await
    }

    /// Everything that a response was an answer to, the first item first.
    pub(super) async fn input_of(&self, id: &str) -> Vec<Value> {
        let list = self.get(&format!("{id}/input_items?order=asc&limit=100")).await;
        assert_eq!(list.status, 200, "{list:?}");
        list.json()["data"].as_array().unwrap().clone()
    }

    async fn send(&self, method: Method, path: &str, body: Full<Bytes>) -> Exchange {
        let mut request = Request::builder().method(method).uri(format!("{RESPONSES}{path}"));
        request = request.header(CONTENT_TYPE, "application/json");
        if let Some(bearer) = &self.bearer {
            request = request.header(AUTHORIZATION, bearer);
        }
        self.proxy.send(request.body(body).unwrap()).await
    }
}
