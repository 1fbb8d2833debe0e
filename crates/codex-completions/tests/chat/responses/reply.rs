//! A response as a client understands it, read by the contract: whatever breaks it fails the test.

use conformance::reading::{Call, ResponseStream, Strict, call_of, read_response};
use serde_json::{Value, json};

use crate::http::Answer;

/// What came of a request, streamed or not.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reply {
    /// The response object in the end; null if there was none.
    pub(crate) response: Value,
    /// The telemetry at a stream's end.
    pub(crate) telemetry: Option<Value>,
    /// What a failed request was answered with, or a stream ended with.
    pub(crate) error: Option<Value>,
}

// === impl Reply ===

impl Reply {
    pub(crate) fn of(answer: &Answer) -> Self {
        if answer.status != 200 {
            answer.error();
            let error = Some(answer.json()["error"].take());
            return Self { response: Value::Null, telemetry: None, error };
        }
        let reply = if answer.header("content-type") == Some("text/event-stream") {
            ResponseStream::read(&answer.body).map(|read| Self {
                response: read.response,
                telemetry: read.telemetry,
                error: read.error.map(|mut event| event["error"].take()),
            })
        } else {
            let mut strict = Strict::default();
            let response = read_response(&answer.body, &mut strict);
            strict.outcome().map(|()| Self { response, telemetry: None, error: None })
        };
        reply.unwrap_or_else(|fault| panic!("{fault}\n{answer:?}"))
    }

    pub(crate) fn id(&self) -> &str {
        self.response["id"].as_str().unwrap()
    }

    pub(crate) fn status(&self) -> &str {
        self.response["status"].as_str().unwrap()
    }

    pub(crate) fn items(&self) -> &[Value] {
        self.response["output"].as_array().unwrap_or_else(|| panic!("{self:?}"))
    }

    fn of_type(&self, r#type: &str) -> impl Iterator<Item = &Value> {
        self.items().iter().filter(move |item| item["type"] == r#type)
    }

    /// The text of all messages.
    pub(crate) fn text(&self) -> String {
        let text = |message: &Value| {
            assert_eq!(message["content"].as_array().map(Vec::len), Some(1), "{message}");
            message["content"][0]["text"].as_str().unwrap().to_owned()
        };
        self.of_type("message").map(text).collect()
    }

    /// The calls; their ids are those that results refer to.
    pub(crate) fn calls(&self) -> Vec<Call> {
        let is_call = |item: &&Value| {
            ["function_call", "custom_tool_call"].map(Value::from).contains(&item["type"])
        };
        self.items().iter().filter(is_call).map(call_of).collect()
    }

    /// The items without what differs from turn to turn.
    pub(crate) fn steady_items(&self) -> Value {
        let steady = |item: &Value| {
            let mut item = item.clone();
            let members = item.as_object_mut().unwrap();
            for id in ["id", "call_id"] {
                if let Some(value) = members.get_mut(id) {
                    *value = json!("ID");
                }
            }
            item
        };
        self.items().iter().map(steady).collect()
    }
}
