//! What is asked, and what must come back.

use std::time::Duration;

use bridge::{RequestOptions, TurnSettings};
use model_turn::{TurnRequest, Upstream};
use openai_wire::chat::ChatRequest;
use serde_json::{Value, json};
use testkit::Outcome;

use crate::answer::Answer;
use crate::direct;

/// The name of the model that the scripted app-server and the HTTP mock have.
pub(crate) const MODEL: &str = "scripted";

/// A model that the real Codex knows, and what the scripted one behind it says.
const REAL_MODEL: &str = "gpt-5.5";
const REAL_TEXT: &str = "Hello from the scripted model, in some deltas of different sizes.";

/// Nobody is there: the scripted app-server asks no upstream, but a turn should look like a real one.
pub(crate) const UPSTREAM: &str = "http://127.0.0.1:9/v1";

/// Between two deltas that are paced.
pub(crate) const PAUSE: Duration = Duration::from_millis(20);

/// Stands once in every delta of a text.
pub(crate) const WORD: &[u8] = b"word";

pub(crate) const TOOLS: [&str; 3] = ["get_weather", "get_time", "lookup"];

/// How an answer is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    Whole,
    Streamed,
}

/// One kind of request.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) delivery: Delivery,
    /// The body of the HTTP request.
    pub(crate) body: String,
    /// The same as the turn that our server makes of it.
    pub(crate) request: TurnRequest,
    expected: Answer,
}

// === impl Case ===

impl Case {
    /// A text in so many deltas.
    pub(crate) fn text(deltas: usize, delivery: Delivery) -> Self {
        let name = format!("text, deltas: {deltas}");
        Self::words(&name, &format!("[[deltas:{deltas}]]"), deltas, delivery)
    }

    /// The same, with a delta every [`PAUSE`].
    pub(crate) fn paced(deltas: usize) -> Self {
        let name = format!("text, paced deltas: {deltas}");
        Self::words(&name, &format!("[[paced:{deltas}]]"), deltas, Delivery::Streamed)
    }

    fn words(name: &str, mark: &str, deltas: usize, delivery: Delivery) -> Self {
        let words: Vec<_> = (0..deltas).map(word).collect();
        let body = json!({"model": MODEL, "messages": [user(mark)]});
        let expected =
            Answer { text: words.concat(), content_frames: deltas, ..Answer::finished("stop") };
        Self::new(name, delivery, body, expected)
    }

    /// Three calls.
    pub(crate) fn calls(delivery: Delivery) -> Self {
        let calls = TOOLS.into_iter().enumerate();
        let calls = calls.map(|(index, name)| call(name, format!(r#"{{"city": "C{index}"}}"#)));
        let expected = Answer { calls: calls.collect(), ..Answer::finished("tool_calls") };
        Self::new("three calls", delivery, with_tools("[[calls:3]]"), expected)
    }

    /// A call in the text, whose argument comes in so many fragments of 20 bytes.
    pub(crate) fn block(fragments: usize) -> Self {
        let argument: Vec<_> = (0..fragments).map(fragment).collect();
        let calls = vec![call(TOOLS[0], format!(r#"{{"city":"{}"}}"#, argument.concat()))];
        let expected = Answer { calls, ..Answer::finished("tool_calls") };
        let body = with_tools(&format!("[[block:{fragments}]]"));
        Self::new(&format!("fragments: {fragments}"), Delivery::Streamed, body, expected)
    }

    /// A text of the scripted model behind the real Codex, at this URL.
    pub(crate) fn real_text(delivery: Delivery, upstream: &str) -> Self {
        let body =
            json!({"model": REAL_MODEL, "messages": [user(&format!("[[text:{REAL_TEXT}]]"))]});
        let expected = Answer { text: REAL_TEXT.to_owned(), ..Answer::finished("stop") };
        Self::at(upstream, "text", delivery, body, expected)
    }

    /// Three calls of the same.
    pub(crate) fn real_calls(delivery: Delivery, upstream: &str) -> Self {
        let calls = TOOLS.into_iter().enumerate();
        let arguments = |index| format!(r#"{{"city": "C{index}", "mark": ""}}"#);
        let calls = calls.map(|(index, name)| call(name, arguments(index))).collect();
        let mut body = with_tools("[[parallel:3]]");
        body["model"] = REAL_MODEL.into();
        let expected = Answer { calls, ..Answer::finished("tool_calls") };
        Self::at(upstream, "three calls", delivery, body, expected)
    }

    fn new(name: &str, delivery: Delivery, body: Value, expected: Answer) -> Self {
        Self::at(UPSTREAM, name, delivery, body, expected)
    }

    fn at(
        upstream: &str,
        name: &str,
        delivery: Delivery,
        mut body: Value,
        mut expected: Answer,
    ) -> Self {
        let how = match delivery {
            Delivery::Whole => {
                expected.content_frames = expected.content_frames.min(1);
                "not streamed"
            }
            Delivery::Streamed => {
                body["stream"] = true.into();
                "streamed"
            }
        };
        let body = body.to_string();
        let request = turn_of(&body, upstream);
        Self { name: format!("{name}, {how}"), delivery, body, request, expected }
    }

    /// Says what of our answer is not exactly right.
    pub(crate) fn judge_ours(&self, body: &[u8]) -> Result<(), String> {
        let answer = Answer::read(body, self.delivery)?;
        let wrong =
            || format!("not {:?} but {answer:?}", self.expected).chars().take(300).collect();
        (answer == self.expected).then_some(()).ok_or_else(wrong)
    }

    /// The same for a gateway, which may cut the text as it likes.
    pub(crate) fn judge_gateway(&self, body: &[u8]) -> Result<(), String> {
        let answer = Answer::read(body, self.delivery)?;
        if answer.text != self.expected.text {
            let (got, wanted) = (answer.text.len(), self.expected.text.len());
            return Err(format!("a wrong text, of {got} bytes instead of {wanted}"));
        }
        let parsed = |calls: &[(String, String)]| -> Vec<(String, Option<Value>)> {
            let calls = calls.iter();
            calls.map(|(name, text)| (name.clone(), serde_json::from_str(text).ok())).collect()
        };
        let right = parsed(&answer.calls) == parsed(&self.expected.calls);
        right
            .then_some(())
            .ok_or_else(|| format!("{} calls that are not right", answer.calls.len()))
    }

    /// The same for the turn itself.
    pub(crate) fn check(&self, outcome: &Outcome) {
        assert!(outcome.end.is_ok(), "{}: {:?}", self.name, outcome.end);
        assert_eq!(outcome.text, self.expected.text, "{}: a wrong text", self.name);
        let calls = outcome.call_texts().into_iter();
        let calls: Vec<_> =
            calls.map(|(name, arguments)| call(name, arguments.to_owned())).collect();
        assert_eq!(calls, self.expected.calls, "{}: wrong calls", self.name);
    }

    /// The same for a direct turn, whose strings are still JSON.
    pub(crate) fn check_direct(&self, answer: &direct::Answer) {
        assert_eq!(answer.text, self.expected.text, "{}: a wrong text, direct", self.name);
        let escaped = self.expected.calls.iter();
        let escaped: Vec<_> =
            escaped.map(|(name, text)| (name.clone(), text.replace('"', r#"\""#))).collect();
        assert_eq!(answer.calls, escaped, "{}: wrong calls, direct", self.name);
    }
}

/// A delta of a text.
pub(crate) fn word(index: usize) -> String {
    format!("word{index} ")
}

/// A fragment of an argument: 20 bytes.
pub(crate) fn fragment(index: usize) -> String {
    format!("fragment{index:012}")
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn call(name: &str, arguments: String) -> (String, String) {
    (name.to_owned(), arguments)
}

fn with_tools(text: &str) -> Value {
    let tools = TOOLS.map(|name| {
        let parameters = json!({
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        });
        let description = format!("Runs {name}");
        let function = json!({"name": name, "description": description, "parameters": parameters});
        json!({"type": "function", "function": function})
    });
    json!({"model": MODEL, "messages": [user(text)], "tools": tools})
}

/// So the direct client plays the very lines that the server sends.
fn turn_of(body: &str, upstream: &str) -> TurnRequest {
    let settings = TurnSettings::default();
    let options = RequestOptions::new(&settings);
    let request = ChatRequest::parse(body.as_bytes()).expect("an invalid request");
    let turn = bridge::prepare(request, &options).expect("a request that is not served").turn;
    let upstream = Some(Upstream { base_url: upstream.to_owned(), api_key: None });
    TurnRequest { upstream, ..turn }
}
