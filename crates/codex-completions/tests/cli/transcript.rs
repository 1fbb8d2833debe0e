//! What a client library and the server sent to each other: a line for each exchange, in which only what the two must
//! agree on is left.

use std::collections::HashSet;

use conformance::reading::ResponseStream;
use serde_json::Value;

/// A request, and its whole answer.
pub(crate) struct Exchange {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) request: String,
    pub(crate) status: u16,
    pub(crate) answer: String,
}

/// What the answers so far have named.
#[derive(Default)]
struct Named {
    /// Of responses, items and calls.
    ids: HashSet<String>,
    last_response: String,
}

/// What every client sends in the scenario of this name, first whole and then streamed; and what it is answered with.
fn expected(scenario: &str) -> Vec<String> {
    let whole: &[&str] = match scenario {
        "text" => &["200 user"],
        "history" => &["200 user", "200 user thought said user"],
        "history-stateless" => &["200 user, stateless", "200 user thought said user, stateless"],
        "three-turns" => {
            &["200 user", "200 user, after it", "200 user, after it", "400 user, after another"]
        }
        "one-call" => &["200 user, tools", "200 user call result, tools"],
        "three-calls" | "loop-stored" => {
            &["200 user, tools", "200 user call call call result result result, tools"]
        }
        "loop-stateless" => &[
            "200 user, tools, stateless",
            "200 user call call call result result result, tools, stateless",
        ],
        "structured" => &["200 user, json_schema"],
        "early-errors" => &["404 user", "401 user", "429 user", "502 user", "400 user result"],
        "late-error" => return ["502 user", "200 user, streamed"].map(str::to_owned).into(),
        "verify" => return vec!["200 user".to_owned()],
        "stored" => {
            let lines = [
                "200 user",
                "200 GET it",
                "200 GET it/input_items",
                "400 POST it/cancel",
                "200 DELETE it",
                "404 GET it",
                "404 GET it/input_items",
                "200 user, stateless",
                "404 GET it",
            ];
            return lines.map(str::to_owned).into();
        }
        _ => panic!("what does a client send in {scenario}?"),
    };
    let streamed = whole.iter().map(|line| format!("{line}, streamed"));
    whole.iter().copied().map(str::to_owned).chain(streamed).collect()
}

/// Fails where a client sends anything else than the others do, or is not answered by the contract.
pub(crate) fn check(scenario: &str, exchanges: &[Exchange]) {
    let mut named = Named::default();
    let lines: Vec<_> = exchanges.iter().map(|exchange| exchange.line(&mut named)).collect();
    let mut expected = expected(scenario);
    if !lines.iter().any(|line| line.starts_with("400 user result")) {
        // The agents make no mistake with their results.
        expected.retain(|line| !line.starts_with("400 user result"));
    }
    assert_eq!(lines, expected, "{scenario}");
}

// === impl Exchange ===

impl Exchange {
    fn line(&self, named: &mut Named) -> String {
        let Self { method, path, status, .. } = self;
        let request: Value = serde_json::from_str(&self.request).unwrap_or_default();
        let sent = match path.strip_prefix("/v1/responses").expect("an API that was recorded") {
            "" => named.sent(&request, *status),
            rest => format!("{method} {}", rest[1..].replace(&named.last_response, "it")),
        };
        if path == "/v1/responses" || *status != 200 {
            named.take(&self.response(&request));
        }
        format!("{status} {sent}")
    }

    /// The response object in the end; null if it is an error.
    fn response(&self, request: &Value) -> Value {
        if self.status == 200 && request["stream"] == true {
            return ResponseStream::read(&self.answer).unwrap().response;
        }
        let mut body: Value = serde_json::from_str(&self.answer).expect("JSON");
        if self.status == 200 {
            assert_eq!(body["object"], "response");
            return body;
        }
        let error = body["error"].take();
        let members: Vec<_> = error.as_object().expect("an error").keys().collect();
        assert_eq!(members, ["message", "type", "param", "code"]);
        Value::Null
    }
}

// === impl Named ===

impl Named {
    /// The request of a client in a few words.
    fn sent(&self, request: &Value, status: u16) -> String {
        let input = match &request["input"] {
            Value::Array(items) => items.iter().map(|item| self.item(item, status)).collect(),
            Value::String(_) => vec!["user"],
            other => panic!("{other} is no input"),
        };
        let previous = request["previous_response_id"].as_str();
        let after =
            if previous == Some(&self.last_response) { "after it" } else { "after another" };
        let has_tools = request["tools"].as_array().is_some_and(|tools| !tools.is_empty());
        let besides = [
            (previous.is_some(), after),
            (has_tools, "tools"),
            (request["text"]["format"]["type"] == "json_schema", "json_schema"),
            (request["store"] == false, "stateless"),
            (request["stream"] == true, "streamed"),
        ];
        let besides = besides.into_iter().filter_map(|(is_so, word)| is_so.then_some(word));
        std::iter::once(input.join(" ").as_str()).chain(besides).collect::<Vec<_>>().join(", ")
    }

    /// What an item is; what it refers to must have been sent.
    fn item(&self, item: &Value, status: u16) -> &'static str {
        let id = item["id"].as_str();
        let is_known = |id: &str| self.ids.contains(id);
        assert!(status == 400 || id.is_none_or(is_known), "{item}");
        match (item["type"].as_str(), item["role"].as_str(), id) {
            (Some("function_call_output"), ..) => {
                let call = item["call_id"].as_str().expect("a result is one of a call");
                assert!(status == 400 || is_known(call), "{item}");
                "result"
            }
            (Some("function_call"), ..) => "call",
            (Some("reasoning"), ..) => "thought",
            (Some("item_reference"), _, Some(id)) if id.starts_with("rs_") => "thought",
            (Some("item_reference"), _, Some(_)) | (_, Some("assistant"), _) => "said",
            (_, Some("user"), _) => "user",
            _ => panic!("{item}"),
        }
    }

    fn take(&mut self, response: &Value) {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        if let Some(id) = text(&response["id"]) {
            self.last_response = id;
        }
        for item in response["output"].as_array().into_iter().flatten() {
            self.ids.extend(["id", "call_id"].into_iter().filter_map(|name| text(&item[name])));
        }
    }
}
