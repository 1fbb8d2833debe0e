//! A response as a client understands it, read by the contract: whatever breaks it fails the test.

use serde_json::{Value, json};
use testkit::read_response;

use crate::http::Answer;
use crate::reply::Call;

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
        if answer.header("content-type") == Some("text/event-stream") {
            return Self::of_stream(&answer.body);
        }
        let response = answer.json();
        assert_eq!(response["object"], "response");
        assert!(response["id"].as_str().unwrap().starts_with("resp_"));
        Self { response, telemetry: None, error: None }
    }

    fn of_stream(body: &str) -> Self {
        let is_keep_alive = |frame: &&str| *frame == ": keep-alive\n\n";
        let mut frames: Vec<_> =
            body.split_inclusive("\n\n").filter(|frame| !is_keep_alive(frame)).collect();
        // After the last event comes the telemetry, and nothing else.
        let telemetry = frames.pop().and_then(|frame| frame.strip_prefix(": "));
        let telemetry = telemetry.unwrap_or_else(|| panic!("no telemetry at the end of {body}"));
        let read = read_response(&frames.concat());
        Self {
            response: read.response,
            telemetry: Some(serde_json::from_str(telemetry).unwrap()),
            error: read.error.map(|mut event| event["error"].take()),
        }
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
        let text = |item: &Value, name: &str| item[name].as_str().unwrap().to_owned();
        let call = |item: &Value| {
            let is_custom = item["type"] == "custom_tool_call";
            Call {
                id: text(item, "call_id"),
                namespace: item.get("namespace").map(|_| text(item, "namespace")),
                name: text(item, "name"),
                arguments: text(item, if is_custom { "input" } else { "arguments" }),
                is_custom,
            }
        };
        let is_call = |item: &&Value| {
            ["function_call", "custom_tool_call"].map(Value::from).contains(&item["type"])
        };
        self.items().iter().filter(is_call).map(call).collect()
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
