//! Reads the events of a response as the SDKs do, and more strictly: what they would stumble over,
//! and what would mislead those who go by only a part of the events, ends the test.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a broken contract fails the test")]

use serde_json::{Value, json};

/// What a reader has at the end of a stream.
#[derive(Debug, PartialEq)]
pub struct ReadResponse {
    /// The items, put together from the increments.
    pub items: Vec<Value>,
    /// The response object of the last event.
    pub response: Value,
    /// The `error` event, if there was one.
    pub error: Option<Value>,
}

/// What of the last item may come next.
#[derive(Debug, PartialEq)]
enum Expected {
    /// Another item, or the end.
    Item,
    /// The message's only part.
    TextPart,
    /// More text, or all of it.
    Text,
    Refusal,
    /// The end of the part.
    TextPartDone,
    /// Arguments; whether they may end.
    Arguments {
        some: bool,
    },
    /// More of a custom tool's input, or all of it.
    Input,
    /// Another part of the summary, or the end of the item.
    SummaryPart,
    /// More of a part of the summary, or all of it.
    Summary,
    /// The end of that part.
    SummaryPartDone,
    /// The end of the item.
    ItemDone,
    /// Nothing but the end, because of an error.
    Failure,
    /// Nothing at all.
    Nothing,
}

struct Reader {
    items: Vec<Value>,
    expected: Expected,
    response: Value,
    error: Option<Value>,
}

/// Reads a whole stream, which is without comments.
///
/// # Panics
/// If it breaks the contract.
pub fn read_response(stream: &str) -> ReadResponse {
    let mut events = Vec::new();
    for frame in stream.split_terminator("\n\n") {
        let (name, data) = frame.split_once('\n').unwrap();
        let event: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        assert_eq!(name.strip_prefix("event: "), event["type"].as_str());
        assert_eq!(event["sequence_number"], events.len());
        events.push(event);
    }
    assert!(stream.is_empty() || stream.ends_with("\n\n"));
    let begun = &events[0]["response"];
    assert_eq!(
        (&events[0]["type"], &events[1]["type"]),
        (&json!("response.created"), &json!("response.in_progress"))
    );
    assert_eq!(
        (begun, &begun["status"], &begun["output"]),
        (&events[1]["response"], &json!("in_progress"), &json!([]))
    );
    let mut reader = Reader {
        items: Vec::new(),
        expected: Expected::Item,
        response: begun.clone(),
        error: None,
    };
    for event in &events[2..] {
        reader.take(event);
    }
    assert_eq!(reader.expected, Expected::Nothing, "the stream has an end");
    ReadResponse { items: reader.items, response: reader.response, error: reader.error }
}

// === impl Reader ===

impl Reader {
    fn take(&mut self, event: &Value) {
        let kind = event["type"].as_str().unwrap();
        match kind {
            "response.output_item.added" => self.item_added(event),
            "response.output_item.done" => self.item_done(event),
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.ended(kind, &event["response"]);
            }
            "error" => {
                for member in ["code", "message", "param"] {
                    assert_eq!(event[member], event["error"][member]);
                }
                assert!(event["message"].is_string() && event["error"]["type"].is_string());
                assert_ne!(self.expected, Expected::Nothing);
                self.expected = Expected::Failure;
                self.error = Some(event.clone());
            }
            _ => self.increment(kind, event),
        }
    }

    fn item_added(&mut self, event: &Value) {
        assert_eq!(self.expected, Expected::Item, "one item at a time");
        assert_eq!(event["output_index"], self.items.len());
        let item = &event["item"];
        assert!(self.items.iter().all(|other| other["id"] != item["id"]), "{item}");
        let (prefix, expected) = match item["type"].as_str().unwrap() {
            "message" => {
                assert_eq!(item["content"], json!([]));
                assert_eq!(item["role"], "assistant");
                ("msg_", Expected::TextPart)
            }
            "function_call" => {
                assert_eq!(item["arguments"], "", "clients would have them twice");
                assert!(item["name"].is_string() && item["call_id"].is_string());
                ("fc_", Expected::Arguments { some: false })
            }
            "custom_tool_call" => {
                assert_eq!(item["input"], "", "clients would have it twice");
                assert!(item["name"].is_string() && item["call_id"].is_string());
                ("ctc_", Expected::Input)
            }
            "reasoning" => {
                assert_eq!(item["summary"], json!([]));
                ("rs_", Expected::SummaryPart)
            }
            other => panic!("{other} is no item"),
        };
        if prefix != "rs_" {
            assert_eq!(item["status"], "in_progress");
        }
        assert!(item["id"].as_str().unwrap().starts_with(prefix));
        self.expected = expected;
        self.items.push(item.clone());
    }

    fn item_done(&mut self, event: &Value) {
        assert_eq!(event["output_index"], self.items.len() - 1);
        let item = self.items.last_mut().unwrap();
        match self.expected {
            Expected::ItemDone => {}
            Expected::SummaryPart => assert_eq!(item["type"], "reasoning"),
            _ => panic!("{:?} is missing", self.expected),
        }
        // These are known at its end alone.
        for member in ["status", "encrypted_content"] {
            if let Some(value) = event["item"].get(member) {
                item[member] = value.clone();
            }
        }
        assert_ne!(item["status"], "in_progress");
        assert_eq!(*item, event["item"], "its increments make the item");
        self.expected = Expected::Item;
    }

    fn increment(&mut self, kind: &str, event: &Value) {
        assert_eq!(event["output_index"], self.items.len() - 1);
        let item = self.items.last_mut().unwrap();
        assert_eq!(event["item_id"], item["id"]);
        let parts = match item["type"].as_str().unwrap() {
            "message" => Some(("content_index", "content")),
            "reasoning" => Some(("summary_index", "summary")),
            _ => None,
        };
        let mut number = 0;
        if let Some((index, list)) = parts {
            let list = item[list].as_array_mut().unwrap();
            if kind.ends_with("_part.added") {
                let part = &event["part"];
                list.push(part.clone());
                assert!(part["text"] == "" || part["refusal"] == "", "{part}");
            }
            number = list.len() - 1;
            assert_eq!(event[index], number);
        }
        self.expected = match (kind, &self.expected) {
            ("response.content_part.added", Expected::TextPart)
                if event["part"]["type"] == "refusal" =>
            {
                assert_eq!(event["part"]["refusal"], "");
                Expected::Refusal
            }
            ("response.content_part.added", Expected::TextPart) => {
                assert_eq!(event["part"]["annotations"], json!([]));
                Expected::Text
            }
            ("response.refusal.delta", Expected::Refusal) => {
                append(&mut item["content"][number]["refusal"], &event["delta"]);
                Expected::Refusal
            }
            ("response.refusal.done", Expected::Refusal) => {
                assert_eq!(event["refusal"], item["content"][number]["refusal"]);
                Expected::TextPartDone
            }
            ("response.output_text.delta", Expected::Text) => {
                assert_eq!(event["logprobs"], json!([]));
                append(&mut item["content"][number]["text"], &event["delta"]);
                Expected::Text
            }
            ("response.output_text.done", Expected::Text) => {
                assert_eq!(event["logprobs"], json!([]));
                assert_eq!(event["text"], item["content"][number]["text"]);
                Expected::TextPartDone
            }
            ("response.content_part.done", Expected::TextPartDone) => {
                assert_eq!(event["part"], item["content"][number]);
                Expected::ItemDone
            }
            ("response.function_call_arguments.delta", Expected::Arguments { .. }) => {
                append(&mut item["arguments"], &event["delta"]);
                Expected::Arguments { some: true }
            }
            ("response.function_call_arguments.done", Expected::Arguments { some: true }) => {
                assert_eq!(event["arguments"], item["arguments"]);
                assert_eq!(event["name"], item["name"]);
                Expected::ItemDone
            }
            ("response.custom_tool_call_input.delta", Expected::Input) => {
                append(&mut item["input"], &event["delta"]);
                Expected::Input
            }
            ("response.custom_tool_call_input.done", Expected::Input) => {
                assert_eq!(event["input"], item["input"]);
                Expected::ItemDone
            }
            ("response.reasoning_summary_part.added", Expected::SummaryPart) => Expected::Summary,
            ("response.reasoning_summary_text.delta", Expected::Summary) => {
                append(&mut item["summary"][number]["text"], &event["delta"]);
                Expected::Summary
            }
            ("response.reasoning_summary_text.done", Expected::Summary) => {
                assert_eq!(event["text"], item["summary"][number]["text"]);
                Expected::SummaryPartDone
            }
            ("response.reasoning_summary_part.done", Expected::SummaryPartDone) => {
                assert_eq!(event["part"], item["summary"][number]);
                Expected::SummaryPart
            }
            (kind, expected) => panic!("{kind} where {expected:?} was expected"),
        };
    }

    fn ended(&mut self, kind: &str, response: &Value) {
        let status = response["status"].as_str().unwrap();
        let is_cut = matches!(status, "failed" | "cancelled");
        match (kind, &self.expected) {
            ("response.failed", Expected::Failure) => {}
            // Half a call is never done.
            (_, Expected::Arguments { .. } | Expected::Input) => assert_eq!(status, "cancelled"),
            (_, expected) => assert_eq!(*expected, Expected::Item),
        }
        match kind {
            "response.completed" => assert_eq!(status, "completed"),
            "response.failed" => assert_eq!(status, "failed"),
            _ => assert!(["incomplete", "cancelled"].contains(&status)),
        }
        // What a client was not told the end of is not whole.
        if let Some(item) = self.items.last_mut()
            && item["status"] == "in_progress"
        {
            assert!(is_cut, "{status}");
            item["status"] = json!("incomplete");
        }
        assert_eq!(response["output"], json!(self.items), "the end repeats the items");
        for member in ["id", "object", "created_at", "model"] {
            assert_eq!(response[member], self.response[member]);
        }
        self.response = response.clone();
        self.expected = Expected::Nothing;
    }
}

fn append(text: &mut Value, delta: &Value) {
    let delta = delta.as_str().unwrap();
    assert_ne!(delta, "");
    *text = json!(text.as_str().unwrap().to_owned() + delta);
}
