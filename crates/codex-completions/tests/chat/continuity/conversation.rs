//! A conversation as its client keeps it, with either API.

use serde_json::{Value, json};

use crate::asking::{self, with};
use crate::http::{Answer, Exchange};
use crate::proxy::Proxy;
use crate::reply::{self, Call};
use crate::responses;
use crate::to_the_model::PNG;

/// Where a conversation goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Api {
    Chat,
    Responses,
}

/// A conversation, and what its client asks for besides.
#[derive(Debug, Clone)]
pub(super) struct Conversation {
    pub(super) api: Api,
    pub(super) settings: Settings,
    /// Messages of a chat, or items of a response's input.
    pub(super) history: Vec<Value>,
    /// Calls of the last answer, which have no results yet.
    pub(super) pending: Vec<Call>,
    /// The last answer, if the server has it too.
    stored: Option<Stored>,
}

/// What the model sees besides the conversation.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) model: &'static str,
    pub(super) effort: Option<&'static str>,
    /// The system prompt.
    pub(super) prompt: Option<String>,
    /// The names of the tools.
    pub(super) tools: Vec<String>,
    /// The property that an answer must have, by a schema.
    pub(super) property: Option<String>,
}

/// A response that the server has stored.
#[derive(Debug, Clone)]
struct Stored {
    id: String,
    /// How much of the history it ends.
    items: usize,
}

/// What a tool gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    Text,
    TextAndImage,
    /// Two texts.
    Parts,
    Nothing,
}

// === impl Api ===

impl Api {
    pub(super) const BOTH: [Self; 2] = [Self::Chat, Self::Responses];

    /// Asks, and reads the head of the answer.
    pub(super) async fn open(
        self,
        proxy: &Proxy,
        body: &Value,
        headers: &[(&str, &str)],
    ) -> Exchange {
        match self {
            Self::Chat => proxy.open_with(body, headers).await,
            Self::Responses => responses::asking::open_with(proxy, body, headers).await,
        }
    }

    /// Asks, and reads the answer to its end.
    pub(super) async fn ask(self, proxy: &Proxy, body: &Value, headers: &[(&str, &str)]) -> Answer {
        self.open(proxy, body, headers).await.whole().await
    }
}

// === impl Settings ===

impl Default for Settings {
    fn default() -> Self {
        Self {
            // Takes its tools in the classic way.
            model: "gpt-5.5",
            effort: None,
            prompt: None,
            tools: ["get_weather", "get_time", "lookup"].map(str::to_owned).to_vec(),
            property: None,
        }
    }
}

impl Settings {
    /// A request with this history.
    fn request(&self, api: Api, history: &[Value]) -> Value {
        let names: Vec<_> = self.tools.iter().map(String::as_str).collect();
        match api {
            Api::Chat => {
                let prompt = self.prompt.iter().map(|text| message("system", text));
                let messages: Vec<_> = prompt.chain(history.iter().cloned()).collect();
                let format = self.schema().map(|schema| {
                    json!({"type": "json_schema", "json_schema": {"name": "n", "strict": true, "schema": schema}})
                });
                json!({
                    "model": self.model,
                    "messages": messages,
                    "tools": asking::tools(&names),
                    "reasoning_effort": self.effort,
                    "response_format": format.unwrap_or_else(|| json!({"type": "text"})),
                })
            }
            Api::Responses => {
                let format = self.schema().map(|schema| {
                    json!({"type": "json_schema", "name": "n", "strict": true, "schema": schema})
                });
                json!({
                    "model": self.model,
                    "instructions": self.prompt,
                    "input": history,
                    "tools": responses::asking::tools(&names),
                    "reasoning": {"effort": self.effort},
                    "text": {"format": format.unwrap_or_else(|| json!({"type": "text"}))},
                })
            }
        }
    }

    fn schema(&self) -> Option<Value> {
        let property = self.property.as_ref()?;
        Some(json!({
            "type": "object",
            "properties": {property: {"type": "string"}},
            "required": [property],
            "additionalProperties": false,
        }))
    }
}

// === impl Conversation ===

impl Conversation {
    pub(super) fn new(api: Api) -> Self {
        Self {
            api,
            settings: Settings::default(),
            history: Vec::new(),
            pending: Vec::new(),
            stored: None,
        }
    }

    /// One in which the user has said this.
    pub(super) fn begun(api: Api, text: &str) -> Self {
        let mut conversation = Self::new(api);
        conversation.say(text);
        conversation
    }

    /// The user says something.
    pub(super) fn say(&mut self, text: &str) {
        self.history.push(message("user", text));
    }

    /// The next thing: results if calls wait for them, or else this text.
    pub(super) fn go_on(&mut self, text: &str) {
        if self.pending.is_empty() {
            self.say(text);
        } else {
            self.give_results();
        }
    }

    /// Every call has its result, in the order of the calls.
    pub(super) fn give_results(&mut self) {
        let results = self.results("result", Output::Text);
        self.give(results);
    }

    /// The results of all calls, each with a word and the name of its tool.
    pub(super) fn results(&self, word: &str, output: Output) -> Vec<Value> {
        let result = |call: &Call| {
            let text = format!("{word} of {}", call.name);
            let (text_type, image) = match self.api {
                Api::Chat => ("text", json!({"type": "image_url", "image_url": {"url": PNG}})),
                Api::Responses => ("input_text", json!({"type": "input_image", "image_url": PNG})),
            };
            let part = json!({"type": text_type, "text": text});
            let output = match output {
                Output::Text => json!(text),
                Output::TextAndImage => json!([part, image]),
                Output::Parts => json!([part, part]),
                Output::Nothing => json!(""),
            };
            match self.api {
                Api::Chat => json!({"role": "tool", "tool_call_id": call.id, "content": output}),
                Api::Responses => {
                    json!({"type": "function_call_output", "call_id": call.id, "output": output})
                }
            }
        };
        self.pending.iter().map(result).collect()
    }

    /// These results, whichever they are; no call waits any more.
    pub(super) fn give(&mut self, results: Vec<Value>) {
        self.history.extend(results);
        self.pending.clear();
    }

    /// The request with everything that was said.
    pub(super) fn request(&self) -> Value {
        self.settings.request(self.api, &self.history)
    }

    /// The request with what is new, if the server has stored all that came before.
    pub(super) fn request_after_stored(&self) -> Option<Value> {
        let stored = self.stored.as_ref()?;
        let request = self.settings.request(self.api, &self.history[stored.items..]);
        Some(with(request, json!({"previous_response_id": stored.id})))
    }

    /// Asks with everything that was said, and takes the answer.
    pub(super) async fn ask(&mut self, proxy: &Proxy, headers: &[(&str, &str)]) -> Answer {
        let answer = self.api.ask(proxy, &self.request(), headers).await;
        self.take(&answer);
        answer
    }

    /// The same with a stream.
    pub(super) async fn ask_streamed(&mut self, proxy: &Proxy) -> Answer {
        let answer = self.api.ask(proxy, &asking::streamed(self.request()), &[]).await;
        self.take(&answer);
        answer
    }

    /// Adds what was answered, as a client does that understands the answer. Says whether it was
    /// answered at all.
    pub(super) fn take(&mut self, answer: &Answer) -> bool {
        self.stored = None;
        match self.api {
            Api::Chat => {
                let reply = reply::Reply::of(answer);
                if reply.error.is_some() {
                    return false;
                }
                self.take_choice(reply.choice(), answer.header("x-proxy-output-mode"));
            }
            Api::Responses => {
                let reply = responses::reply::Reply::of(answer);
                if reply.error.is_some() {
                    return false;
                }
                self.history.extend(reply.items().iter().cloned());
                self.pending = reply.calls();
                if reply.response["store"] == true {
                    self.stored =
                        Some(Stored { id: reply.id().to_owned(), items: self.history.len() });
                }
            }
        }
        true
    }

    fn take_choice(&mut self, choice: &reply::Choice, mode: Option<&str>) {
        let mut said = message("assistant", choice.text());
        // Where calls are blocks in the text, the text is all that a client sends back.
        if mode != Some("obsidian-xml") && !choice.calls.is_empty() {
            let call = |call: &Call| {
                let function = json!({"name": call.name, "arguments": call.arguments});
                json!({"id": call.id, "type": "function", "function": function})
            };
            let calls: Vec<_> = choice.calls.iter().map(call).collect();
            said = with(said, json!({"tool_calls": calls}));
            self.pending.clone_from(&choice.calls);
        }
        if choice.text().is_empty() {
            said["content"] = Value::Null;
        }
        self.history.push(said);
    }

    /// Where the user has spoken.
    pub(super) fn spoken(&self) -> Vec<usize> {
        let is_user = |item: &Value| item["role"] == "user";
        let items = self.history.iter().enumerate();
        items.filter(|(_, item)| is_user(item)).map(|(at, _)| at).collect()
    }

    /// Another text in place of what the user has said there; what followed stays.
    pub(super) fn edit(&mut self, at: usize, text: &str) {
        self.history[at] = message("user", text);
        self.forget_response();
    }

    /// Back to where the user spoke, and without that.
    pub(super) fn back_to(&mut self, at: usize) {
        self.history.truncate(at);
        self.pending.clear();
        self.forget_response();
    }

    /// What the server has stored is another conversation now.
    fn forget_response(&mut self) {
        self.stored = None;
    }
}

fn message(role: &str, text: &str) -> Value {
    json!({"role": role, "content": text})
}
