//! Conversations that can be gone on with.

use serde_json::{Value, json};

use crate::exchange::{Answer, Continuity};
use crate::server::Server;

/// What the model says at last.
pub(crate) const TEXT: &str = "Hello from the scripted model";

/// What is said before that takes up room.
const FILLER: &str = "Something that somebody said a while ago, of about the length that messages have \
                      where people and models talk to each other about this and that. ";

/// How a conversation goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// With another message, in the thread of a turn that has ended.
    Reused,
    /// With the output of a call, in the turn that waits for it.
    Resumed,
}

// === impl Way ===

impl Way {
    pub(crate) const BOTH: [Self; 2] = [Self::Reused, Self::Resumed];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Reused => "reused",
            Self::Resumed => "resumed",
        }
    }

    /// Begins a conversation whose thread has so many items then, and gives the request that goes on
    /// with it. No two have the same number.
    pub(crate) fn begin(self, server: &Server, items: usize, number: usize) -> Value {
        let mut messages: Vec<Value> = (0..items - 2)
            .map(|index| {
                let role = if index % 2 == 0 { "user" } else { "assistant" };
                json!({"role": role, "content": format!("{index}: {FILLER}")})
            })
            .collect();
        let mark = match self {
            Self::Reused => "[[text:Yes?]]".to_owned(),
            Self::Resumed => format!("[[then:text:{TEXT}]]"),
        };
        messages.push(json!({"role": "user", "content": format!("{number}{mark}")}));
        let answer = Answer::to(server, &request(&messages), Continuity::On);
        let message = answer.message();
        let news = match self {
            Self::Reused => json!({"role": "user", "content": format!("[[text:{TEXT}]]")}),
            Self::Resumed => {
                let id = &message["tool_calls"][0]["id"];
                json!({"role": "tool", "tool_call_id": id, "content": "sunny"})
            }
        };
        messages.extend([message, news]);
        let mut request = request(&messages);
        request["stream"] = true.into();
        request
    }
}

fn request(messages: &[Value]) -> Value {
    let parameters = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let function = json!({"name": "get_weather", "parameters": parameters});
    let tools = json!([{"type": "function", "function": function}]);
    json!({"model": "gpt-5.5", "messages": messages, "tools": tools})
}
