//! An answer as a client understands it, read by the contract: whatever breaks it fails the test.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::http::{Answer, Event};

/// What came of a request, streamed or not.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Reply {
    pub(crate) choices: Vec<Choice>,
    pub(crate) usage: Option<Value>,
    /// The telemetry at a stream's end.
    pub(crate) telemetry: Option<Value>,
    /// What a failed request was answered with, or a stream ended with.
    pub(crate) error: Option<Value>,
}

/// One choice of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Choice {
    pub(crate) content: Option<String>,
    pub(crate) refusal: Option<String>,
    pub(crate) reasoning: String,
    pub(crate) calls: Vec<Call>,
    pub(crate) finish: Option<String>,
}

/// A call; the legacy form has no id.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
    /// Or the input of a custom tool.
    pub(crate) arguments: String,
    pub(crate) is_custom: bool,
}

// === impl Reply ===

impl Reply {
    pub(crate) fn of(answer: &Answer) -> Self {
        if answer.status != 200 {
            answer.error();
            return Self { error: Some(answer.json()["error"].take()), ..Self::default() };
        }
        match answer.header("content-type") {
            Some("text/event-stream") => Self::of_stream(&answer.events()),
            _ => Self::of_completion(&answer.json()),
        }
    }

    /// The only choice.
    pub(crate) fn choice(&self) -> &Choice {
        assert_eq!(self.choices.len(), 1, "{self:?}");
        &self.choices[0]
    }

    fn of_completion(completion: &Value) -> Self {
        let members: Vec<_> = completion.as_object().unwrap().keys().collect();
        assert_eq!(members, ["id", "object", "created", "model", "choices", "usage"]);
        assert!(completion["id"].as_str().unwrap().starts_with("chatcmpl-"));
        assert_eq!(completion["object"], "chat.completion");
        let choices = completion["choices"].as_array().unwrap().iter().enumerate();
        let choices = choices.map(|(index, choice)| {
            assert_eq!(choice["index"], index);
            Choice::of_message(&choice["message"], &choice["finish_reason"])
        });
        Self {
            choices: choices.collect(),
            usage: Some(completion["usage"].clone()),
            ..Self::default()
        }
    }

    fn of_stream(events: &[Event]) -> Self {
        let mut reply = Self::default();
        let mut choices = BTreeMap::<u64, Choice>::new();
        let mut envelope = None;
        let mut events = events.iter();
        for event in events.by_ref() {
            match event {
                Event::Comment(comment) if comment == "keep-alive" => {}
                Event::Comment(comment) => {
                    assert_eq!(reply.telemetry, None);
                    reply.telemetry = Some(serde_json::from_str(comment).unwrap());
                }
                Event::Done => break,
                Event::Data(frame) if frame.get("error").is_some() => {
                    assert_eq!((&reply.telemetry, &reply.error), (&None, &None));
                    reply.error = Some(frame["error"].clone());
                }
                Event::Data(frame) => {
                    let head = [&frame["id"], &frame["object"], &frame["created"], &frame["model"]];
                    assert_eq!(*envelope.get_or_insert(head), head);
                    assert_eq!(frame["object"], "chat.completion.chunk");
                    match frame["choices"].as_array().unwrap().as_slice() {
                        [] => {
                            assert!(reply.telemetry.is_some() && reply.usage.is_none());
                            reply.usage = Some(frame["usage"].clone());
                        }
                        [choice] => {
                            assert_eq!((&reply.telemetry, &reply.error), (&None, &None));
                            let index = choice["index"].as_u64().unwrap();
                            choices.entry(index).or_default().take_frame(choice);
                        }
                        more => panic!("{} choices in one frame", more.len()),
                    }
                }
            }
        }
        assert_eq!(events.as_slice(), [], "nothing follows the end");
        assert!(reply.telemetry.is_some(), "{reply:?}");
        assert!(choices.keys().copied().eq(0..choices.len() as u64));
        reply.choices = choices.into_values().collect();
        let is_whole = reply.choices.iter().all(|choice| choice.finish.is_some());
        assert_ne!(is_whole, reply.error.is_some(), "{reply:?}");
        reply
    }
}

// === impl Choice ===

impl Choice {
    fn of_message(message: &Value, finish: &Value) -> Self {
        let text = |name: &str| message.get(name).and_then(Value::as_str).map(str::to_owned);
        let mut calls: Vec<Call> = Vec::new();
        if let Some(entries) = message.get("tool_calls") {
            let entries = entries.as_array().unwrap();
            assert!(!entries.is_empty(), "an empty list is left out");
            calls.extend(entries.iter().map(Call::read));
        }
        calls.extend(message.get("function_call").map(Call::read_legacy));
        assert_eq!(message["role"], "assistant");
        assert!(message.get("content").is_some());
        Self {
            content: text("content"),
            refusal: text("refusal"),
            reasoning: text("reasoning_content").unwrap_or_default(),
            calls,
            finish: Some(finish.as_str().unwrap().to_owned()),
        }
    }

    fn take_frame(&mut self, frame: &Value) {
        assert_eq!(self.finish, None, "nothing follows the finish frame of a choice");
        let delta = &frame["delta"];
        let Some(content) = &mut self.content else {
            assert_eq!(*delta, json!({"role": "assistant", "content": ""}), "the first frame");
            assert_eq!(frame["finish_reason"], Value::Null);
            self.content = Some(String::new());
            return;
        };
        if let Some(reason) = frame["finish_reason"].as_str() {
            assert_eq!(*delta, json!({}));
            self.finish = Some(reason.to_owned());
            return;
        }
        let members: Vec<_> = delta.as_object().unwrap().iter().collect();
        let &[(name, value)] = members.as_slice() else { panic!("not one thing a frame: {frame}") };
        match (name.as_str(), value) {
            ("content", Value::String(text)) => content.push_str(text),
            ("refusal", Value::String(text)) => self.refusal = Some(text.clone()),
            ("reasoning_content", Value::String(text)) => self.reasoning.push_str(text),
            ("tool_calls", Value::Array(entries)) => {
                assert_eq!(entries.len(), 1, "one call a frame");
                self.take_call(&entries[0]);
            }
            ("function_call", call) => match self.calls.last_mut() {
                None => self.calls.push(Call::read_legacy(call)),
                Some(known) => {
                    assert_eq!(call.get("name"), None);
                    known.arguments.push_str(call["arguments"].as_str().unwrap());
                }
            },
            _ => panic!("neither text nor a call: {frame}"),
        }
    }

    fn take_call(&mut self, entry: &Value) {
        let index = usize::try_from(entry["index"].as_u64().unwrap()).unwrap();
        let members: Vec<_> = entry.as_object().unwrap().keys().collect();
        if index == self.calls.len() {
            assert_eq!(members[..3], ["index", "id", "type"]);
            self.calls.push(Call::read(entry));
        } else {
            assert_eq!(index + 1, self.calls.len(), "a call is whole before the next one");
            let call = &mut self.calls[index];
            let (member, text) =
                if call.is_custom { ("custom", "input") } else { ("function", "arguments") };
            assert_eq!(members, ["index", member]);
            assert_eq!(entry[member].get("name"), None);
            call.arguments.push_str(entry[member][text].as_str().unwrap());
        }
    }

    /// Names and arguments of the calls.
    pub(crate) fn called(&self) -> Vec<(&str, &str)> {
        self.calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect()
    }

    pub(crate) fn text(&self) -> &str {
        self.content.as_deref().unwrap_or_default()
    }
}

// === impl Call ===

impl Call {
    /// An entry of `tool_calls`.
    fn read(entry: &Value) -> Self {
        let kind = text(&entry["type"]);
        let arguments = match kind.as_str() {
            "function" => "arguments",
            "custom" => "input",
            _ => panic!("{entry}"),
        };
        let id = text(&entry["id"]);
        assert!(id.len() <= 40, "{id}");
        Self {
            id,
            namespace: entry.get("namespace").map(text),
            name: text(&entry[&kind]["name"]),
            arguments: text(&entry[&kind][arguments]),
            is_custom: kind == "custom",
        }
    }

    fn read_legacy(call: &Value) -> Self {
        let (name, arguments) = (text(&call["name"]), text(&call["arguments"]));
        Self { name, arguments, ..Self::default() }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}
