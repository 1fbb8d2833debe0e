//! The sixteen questions, and what must come of each.

use std::fmt;

use serde_json::{Value, json};

/// One way to ask for calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) delivery: Delivery,
    way: Way,
    burst: Burst,
    pub(super) mode: Mode,
}

/// How the answer comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivery {
    Streamed,
    Whole,
}

/// How the model calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Tools that the request declares.
    Structured,
    /// `<use_tool>` blocks, which the system prompt describes.
    Textual,
}

/// How many calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Burst {
    One,
    Two,
}

/// How calls are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Json,
    Xml,
}

/// A call that must come.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ExpectedCall {
    pub(super) name: &'static str,
    /// JSON, whose order and white space do not count.
    pub(super) arguments: &'static str,
    /// In XML mode, byte for byte.
    pub(super) block: &'static str,
}

/// Structured calls have blocks that the server makes.
const STRUCTURED: [ExpectedCall; 2] = [
    ExpectedCall {
        name: "get_weather",
        arguments: r#"{"city":"Paris"}"#,
        block: "<use_tool>\n  <name>get_weather</name>\n  <city>Paris</city>\n</use_tool>",
    },
    ExpectedCall {
        name: "get_time",
        arguments: r#"{"city":"Paris"}"#,
        block: "<use_tool>\n  <name>get_time</name>\n  <city>Paris</city>\n</use_tool>",
    },
];

/// Textual ones have the model's own.
const TEXTUAL: [ExpectedCall; 2] = [
    ExpectedCall {
        name: "localSearch",
        arguments: r#"{"query":"Search my notes and the web for piano lessons","salientTerms":["search","notes","piano","lessons"]}"#,
        block: concat!(
            "<use_tool>\n<name>localSearch</name>\n",
            "<query>Search my notes and the web for piano lessons</query>\n",
            "<salientTerms>[\"search\",\"notes\",\"piano\",\"lessons\"]</salientTerms>\n",
            "</use_tool>"
        ),
    },
    ExpectedCall {
        name: "webSearch",
        arguments: r#"{"query":"Search my notes and the web for piano lessons","chatHistory":[]}"#,
        block: concat!(
            "<use_tool>\n<name>webSearch</name>\n",
            "<query>Search my notes and the web for piano lessons</query>\n",
            "<chatHistory>[]</chatHistory>\n</use_tool>"
        ),
    },
];

const STRUCTURED_QUESTION: &str = "What are the weather and the time in Paris?";
const TEXTUAL_QUESTION: &str = "Search my notes and the web for piano lessons";

const LOCAL_SEARCH: &str = "\
To call a tool, write a block such as this, once for each call:
<use_tool>
<name>localSearch</name>
<query>the question</query>
<salientTerms>[\"its\",\"keywords\"]</salientTerms>
</use_tool>";

const WEB_SEARCH: &str = "
<use_tool>
<name>webSearch</name>
<query>the question</query>
<chatHistory>[]</chatHistory>
</use_tool>";

// === impl Case ===

impl Case {
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let deliveries = [Delivery::Streamed, Delivery::Whole];
        let ways = [Way::Structured, Way::Textual];
        deliveries.into_iter().flat_map(move |delivery| {
            ways.into_iter().flat_map(move |way| {
                [Burst::One, Burst::Two].into_iter().flat_map(move |burst| {
                    [Mode::Json, Mode::Xml].map(|mode| Self { delivery, way, burst, mode })
                })
            })
        })
    }

    /// The calls that must come, in this order.
    pub(super) fn calls(self) -> &'static [ExpectedCall] {
        let both = match self.way {
            Way::Structured => &STRUCTURED,
            Way::Textual => &TEXTUAL,
        };
        &both[..self.burst.count()]
    }

    /// What is asked: the model gets as many tools as it is to call.
    pub(super) fn request(self, model: &str) -> Value {
        let mut request = match self.way {
            Way::Structured => json!({
                "messages": [{"role": "user", "content": STRUCTURED_QUESTION}],
                "tools": self.calls().iter().map(|call| tool(call.name)).collect::<Vec<_>>(),
            }),
            Way::Textual => {
                let prompt = match self.burst {
                    Burst::One => LOCAL_SEARCH.to_owned(),
                    Burst::Two => format!("{LOCAL_SEARCH}{WEB_SEARCH}"),
                };
                json!({"messages": [
                    {"role": "system", "content": prompt},
                    {"role": "user", "content": TEXTUAL_QUESTION},
                ]})
            }
        };
        request["model"] = model.into();
        if self.delivery == Delivery::Streamed {
            request["stream"] = true.into();
            request["stream_options"] = json!({"include_usage": true});
        }
        request
    }
}

fn tool(name: &str) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": name,
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
            },
        },
    })
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let delivery = match self.delivery {
            Delivery::Streamed => "streamed",
            Delivery::Whole => "whole",
        };
        let way = match self.way {
            Way::Structured => "structured",
            Way::Textual => "textual",
        };
        let calls = match self.burst {
            Burst::One => "1 call",
            Burst::Two => "2 calls",
        };
        write!(f, "{delivery:<8} {way:<10} {calls:<7} {:<12}", self.mode.name())
    }
}

// === impl Burst ===

impl Burst {
    fn count(self) -> usize {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }
}

// === impl Mode ===

impl Mode {
    /// As the header `x-proxy-output-mode` has it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Json => "openai-json",
            Self::Xml => "obsidian-xml",
        }
    }
}
