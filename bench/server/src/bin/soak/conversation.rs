//! A conversation that goes on, and what the model must say in it.

use conformance::reading::Call;
use serde_json::{Value, json};

use crate::answer::{Answer, Api};

/// In this order, which is the order of their calls.
const TOOLS: [&str; 3] = ["get_time", "get_weather", "lookup"];

/// What a conversation is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// Nothing but words.
    Talk,
    /// Tools, whose results come back.
    Tools,
}

/// A client's side of a conversation.
#[derive(Debug)]
pub(crate) struct Conversation {
    pub(crate) api: Api,
    pub(crate) subject: Subject,
    /// Of a chat everything that was said; of a response what is new.
    items: Vec<Value>,
    /// The response before.
    previous: Option<String>,
    /// The conversation as `[[recall]]` tells it, a line each.
    recalled: Vec<String>,
    /// Calls that wait for their results.
    pub(crate) waiting: Vec<Call>,
    /// Turns that are left.
    pub(crate) left: u32,
}

/// What the next answer must be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Due {
    Text(String),
    /// Name and arguments of each.
    Calls(Vec<(String, String)>),
}

/// What the user says next.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    /// Asks for everything that was said.
    Recall,
    /// Asks for so many calls.
    Calls(usize),
}

// === impl Conversation ===

impl Conversation {
    pub(crate) fn new(api: Api, subject: Subject, turns: u32) -> Self {
        Self {
            api,
            subject,
            items: Vec::new(),
            previous: None,
            recalled: Vec::new(),
            waiting: Vec::new(),
            left: turns,
        }
    }

    /// The user says something, with a text that nobody else has.
    pub(crate) fn say(&mut self, text: &str, step: Step) -> Due {
        let said = match step {
            Step::Recall => format!("{text} [[recall]]"),
            Step::Calls(count) => format!("{text} [[round-trip:{count}]]"),
        };
        self.items.push(json!({"role": "user", "content": said}));
        self.recalled.push(format!("user: {said}"));
        match step {
            Step::Recall => Due::Text(self.recalled.join("\n")),
            Step::Calls(count) => {
                let calls = TOOLS.iter().cycle().take(count).enumerate().map(|(number, name)| {
                    let arguments = format!(r#"{{"city": "C{number}", "mark": "{text}"}}"#);
                    ((*name).to_owned(), arguments)
                });
                Due::Calls(calls.collect())
            }
        }
    }

    /// The results of the calls come back, each with a text that nobody else has.
    pub(crate) fn return_results(&mut self, text: &str) -> Due {
        let mut quoted = Vec::new();
        for (number, call) in std::mem::take(&mut self.waiting).into_iter().enumerate() {
            let output = format!("{text}-{number}");
            self.items.push(match self.api {
                Api::Chat => json!({"role": "tool", "tool_call_id": call.id, "content": output}),
                Api::Responses => json!({
                    "type": "function_call_output", "call_id": call.id, "output": output,
                }),
            });
            self.recalled.push(format!("result: {output}"));
            quoted.push(format!("{}: {output}", call.name));
        }
        Due::Text(quoted.join("\n"))
    }

    /// The request.
    pub(crate) fn body(&self) -> Value {
        let mut body = match self.api {
            Api::Chat => json!({"messages": self.items}),
            Api::Responses => json!({"input": self.items, "store": true}),
        };
        if let Some(previous) = &self.previous {
            body["previous_response_id"] = previous.as_str().into();
        }
        if self.subject == Subject::Tools {
            body["tools"] = TOOLS.iter().map(|name| tool(self.api, name)).collect();
        }
        body
    }

    /// Takes up what was answered.
    pub(crate) fn take(&mut self, answer: &Answer) {
        let Answer { text, calls, id, .. } = answer;
        match self.api {
            Api::Chat => self.items.push(chat_message(text, calls)),
            Api::Responses => {
                self.items.clear();
                self.previous = Some(id.clone());
            }
        }
        if !text.is_empty() {
            self.recalled.push(format!("assistant: {text}"));
        }
        let told = calls.iter().map(|call| format!("{}({})", call.name, call.arguments));
        self.recalled.extend(told);
        self.waiting.clone_from(calls);
    }
}

// === impl Due ===

impl Due {
    /// Compares an answer with what it must be.
    pub(crate) fn check(&self, answer: &Answer) -> Result<(), String> {
        let calls: Vec<_> =
            answer.calls.iter().map(|call| (call.name.clone(), call.arguments.clone())).collect();
        let is_right = match self {
            Self::Text(text) => answer.text == *text && calls.is_empty(),
            Self::Calls(due) => answer.text.is_empty() && calls == *due,
        };
        if is_right { Ok(()) } else { Err(format!("{answer:?} where {self:?} is due")) }
    }
}

fn chat_message(text: &str, calls: &[Call]) -> Value {
    if calls.is_empty() {
        return json!({"role": "assistant", "content": text});
    }
    let calls: Vec<Value> = calls
        .iter()
        .map(|Call { id, name, arguments, .. }| {
            json!({
                "id": id, "type": "function", "function": {"name": name, "arguments": arguments},
            })
        })
        .collect();
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

fn tool(api: Api, name: &str) -> Value {
    let mut function = json!({
        "name": name,
        "description": format!("Runs {name}"),
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "mark": {"type": "string"}},
            "required": ["city", "mark"],
        },
    });
    match api {
        Api::Chat => json!({"type": "function", "function": function}),
        Api::Responses => {
            function["type"] = "function".into();
            function
        }
    }
}
