//! What is asked, and what must come back.

use model_turn::TurnRequest;
use testkit::Outcome;

use crate::direct::Answer;

const TOOLS: [&str; 3] = ["get_weather", "get_time", "lookup"];

const TEXT: &str = "Hello from the scripted model, in some deltas of different sizes.";

/// One kind of turn.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) request: TurnRequest,
    text: String,
    /// Name and argument text of each call.
    calls: Vec<(String, String)>,
}

// === impl Case ===

impl Case {
    /// A text, played by the scripted model.
    pub(crate) fn real_text(base_url: &str) -> Self {
        Self::new("text", testkit::ask(base_url, &format!("[[text:{TEXT}]]")), TEXT, &[])
    }

    /// Three calls, played by the scripted model.
    pub(crate) fn real_calls(base_url: &str) -> Self {
        let calls: Vec<String> =
            (0..3).map(|index| format!(r#"{{"city": "C{index}", "mark": ""}}"#)).collect();
        Self::new("three calls", testkit::ask(base_url, "[[parallel:3]]"), "", &calls)
    }

    /// A text in `deltas` deltas, played by the scripted app-server.
    pub(crate) fn scripted_text(deltas: usize) -> Self {
        let text: Vec<String> = (0..deltas).map(|index| format!("word{index} ")).collect();
        let ask = scripted(&format!("[[deltas:{deltas}]]"));
        Self::new(format!("text, deltas: {deltas}"), ask, &text.concat(), &[])
    }

    /// Calls, played by the scripted app-server.
    pub(crate) fn scripted_calls(count: usize) -> Self {
        let calls: Vec<String> =
            (0..count).map(|index| format!(r#"{{"city": "C{index}"}}"#)).collect();
        let ask = scripted(&format!("[[calls:{count}]]"));
        Self::new("three calls", ask, "", &calls)
    }

    fn new(name: impl Into<String>, ask: TurnRequest, text: &str, calls: &[String]) -> Self {
        let tools = TOOLS.into_iter().cycle().map(str::to_owned);
        Self {
            name: name.into(),
            request: TurnRequest { tools: testkit::tools(&TOOLS), ..ask },
            text: text.to_owned(),
            calls: tools.zip(calls.iter().cloned()).collect(),
        }
    }

    /// Ends the benchmark if the client's turn was not exactly right.
    pub(crate) fn check(&self, outcome: &Outcome) {
        assert!(outcome.end.is_ok(), "{}: {:?}", self.name, outcome.end);
        assert_eq!(outcome.text, self.text, "{}: wrong text", self.name);
        let same = outcome
            .call_texts()
            .into_iter()
            .eq(self.calls.iter().map(|(name, arguments)| (name.as_str(), arguments.as_str())));
        assert!(same, "{}: wrong calls {:?}", self.name, outcome.calls);
    }

    /// The same for a direct turn, whose strings are still JSON.
    pub(crate) fn check_direct(&self, answer: &Answer) {
        assert_eq!(answer.text, self.text, "{}: wrong text, direct", self.name);
        let escaped = self
            .calls
            .iter()
            .map(|(name, arguments)| (name.clone(), arguments.replace('"', r#"\""#)));
        assert!(answer.calls.iter().cloned().eq(escaped), "wrong calls {:?}", answer.calls);
    }
}

/// The scripted app-server has no upstream, but the request should look like a real one.
fn scripted(mark: &str) -> TurnRequest {
    testkit::ask("http://127.0.0.1:9/v1", mark)
}
