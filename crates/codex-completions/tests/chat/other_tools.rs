//! Tools of other kinds than functions, on both endpoints: declared, called, streamed, in histories, in
//! stored responses and in continuity.

mod custom;
mod hosted;
mod namespaces;

use serde_json::{Value, json};

use crate::asking::{ask, items, streamed, with};
use crate::http::Answer;
use crate::proxy::Proxy;
use crate::reply::{Call, Reply};
use crate::responses;

/// Asks the scripted model to call `name` with exactly these arguments.
fn calling(name: &str, arguments: &str) -> String {
    items(&[json!({"name": name, "arguments": arguments})])
}

/// The calls of a text's answer, from both endpoints, streamed and whole: the same four times.
async fn calls_everywhere(proxy: &Proxy, text: &str, tools: &Value) -> Vec<Call> {
    let chat = with(ask(text), json!({"tools": tools}));
    let response = with(responses::ask(text), json!({"tools": tools}));
    let mut found: Vec<Vec<Call>> = Vec::new();
    for request in [chat.clone(), streamed(chat)] {
        let reply = Reply::of(&proxy.chat(&request).await);
        assert_eq!(reply.choice().finish.as_deref(), Some("tool_calls"), "{reply:?}");
        found.push(reply.choice().calls.clone());
    }
    for request in [response.clone(), streamed(response)] {
        let answer = responses::respond(proxy, &request).await;
        found.push(responses::Reply::of(&answer).calls());
    }
    for calls in &mut found {
        // They are others in every turn.
        for call in calls.iter_mut() {
            call.id.clear();
        }
    }
    assert!(found.iter().all(|calls| *calls == found[0]), "{found:?}");
    found.swap_remove(0)
}

/// The ids of the calls of an answer.
fn ids(answer: &Answer) -> Vec<String> {
    let calls = Reply::of(answer).choice().calls.clone();
    calls.into_iter().map(|call| call.id).collect()
}

/// The tools that the model was offered last.
fn offered(proxy: &Proxy) -> Value {
    proxy.model.last_request().expect("a request").body["tools"].clone()
}
