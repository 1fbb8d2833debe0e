//! Turns whose calls wait for their outputs, as the clients see them that bring these or never do.

mod faults;
mod never_back;
mod of_no_use;
mod upstream;

use serde_json::{Value, json};

use crate::asking::{ask, with_tools};
use crate::http::Answer;
use crate::proxy::Proxy;
use crate::reply::{Call, Reply};

/// What an answer says, and how its turn got its thread, by its header and by the log.
#[derive(Debug, PartialEq)]
struct Told {
    text: String,
    continuity: String,
    fresh_reason: Value,
}

// === impl Told ===

impl Told {
    fn fresh(text: &str, reason: &str) -> Self {
        let (text, continuity) = (text.to_owned(), "fresh".to_owned());
        Self { text, continuity, fresh_reason: reason.into() }
    }

    fn resumed(text: &str) -> Self {
        let (text, continuity) = (text.to_owned(), "resumed".to_owned());
        Self { text, continuity, fresh_reason: Value::Null }
    }

    async fn by(proxy: &Proxy, answer: &Answer) -> Self {
        let line = turn_line(proxy, answer).await;
        let continuity = answer.header("x-proxy-continuity").expect("its header").to_owned();
        assert_eq!(line["continuity"], continuity.as_str());
        let text = Reply::of(answer).choice().text().to_owned();
        Self { text, continuity, fresh_reason: line["fresh_reason"].clone() }
    }
}

/// The log line of an answer's only turn.
async fn turn_line(proxy: &Proxy, answer: &Answer) -> Value {
    proxy.turn_lines(answer.header("x-request-id").unwrap(), 1).await.remove(0)
}

/// Asks for a call, and gives the request that brings its output.
async fn hold(proxy: &Proxy, text: &str) -> Value {
    let mut request = with_tools(ask(text));
    let reply = Reply::of(&proxy.chat(&request).await);
    assert_eq!(reply.choice().calls.len(), 1, "{reply:?}");
    add_outputs(&mut request, &reply);
    request
}

/// Adds the calls of a reply to the request, and an output for each.
fn add_outputs(request: &mut Value, reply: &Reply) {
    let calls = &reply.choice().calls;
    let entry = |call: &Call| {
        let function = json!({"name": call.name, "arguments": call.arguments});
        json!({"id": call.id, "type": "function", "function": function})
    };
    let entries: Vec<_> = calls.iter().map(entry).collect();
    let messages = request["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": null, "tool_calls": entries}));
    messages.extend(
        calls
            .iter()
            .map(|call| json!({"role": "tool", "tool_call_id": call.id, "content": "sunny"})),
    );
}
