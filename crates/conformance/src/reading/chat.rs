//! Chat completions, read as strictly as the strictest client does.

mod calls;
mod choice;
mod stream;
mod whole;

use serde_json::{Value, json};

use super::{Answer, Call, CallKind, Mismatch, Sink, members, text};
use crate::answer::AnswerRules;
use crate::rule::RuleId;

pub use stream::ChatStream;
pub use whole::read as read_whole;

/// What an answer says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Completion {
    /// Its choices.
    pub choices: Vec<Choice>,
    /// Its token counts.
    pub usage: Option<Value>,
    /// The comment of our own server at a stream's end.
    pub telemetry: Option<Value>,
    /// The `error` of a failed answer.
    pub error: Option<Value>,
}

/// One choice of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// Its text, if it is not null.
    pub content: Option<String>,
    /// Why the model does not answer.
    pub refusal: Option<String>,
    /// A summary of its reasoning.
    pub reasoning: String,
    /// Its calls.
    pub calls: Vec<Call>,
    /// Why it ended.
    pub finish: Option<String>,
}

/// What is known of the request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terms {
    /// The model that our own server names.
    pub model: Option<String>,
    /// How many choices our own server gives.
    pub choices: Option<usize>,
    /// Whether it asks for a usage frame.
    pub usage: UsageWish,
}

/// Whether a request asks for a usage frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UsageWish {
    /// There may be one.
    #[default]
    Unknown,
    /// There must be one.
    Asked,
    /// There must be none.
    Unasked,
}

pub(crate) const RULES: AnswerRules = AnswerRules {
    text: RuleId::ChatTextExact,
    calls: RuleId::ChatCallsComplete,
    arguments: RuleId::ChatArgumentsExact,
    no_arguments: RuleId::ChatNoArguments,
    custom_form: RuleId::ChatCustomFrames,
};

/// Longest id of a call that upstreams and clients take.
const LONGEST_ID: usize = 40;

/// What the ids of our own server's answers begin with.
const ID_PREFIX: &str = "chatcmpl-";

// === impl Completion ===

impl Completion {
    /// What was said, in all choices together.
    pub fn answer(self) -> Answer {
        let mut answer = Answer { has_failed: self.error.is_some(), ..Answer::default() };
        for choice in self.choices {
            answer.text.push_str(choice.text());
            answer
                .calls
                .extend(choice.calls.into_iter().filter(|call| call.kind != CallKind::Legacy));
            answer.finish = choice.finish.or(answer.finish);
        }
        answer
    }
}

// === impl Choice ===

impl Choice {
    /// Its text; empty if it is null.
    pub fn text(&self) -> &str {
        self.content.as_deref().unwrap_or_default()
    }

    /// Names and arguments of the calls.
    pub fn called(&self) -> Vec<(&str, &str)> {
        self.calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect()
    }
}

// === impl Terms ===

impl Terms {
    /// What our own server writes around choices: the model that was asked for, and nothing more.
    fn check_object<S: Sink>(&self, object: &Value, is_exact: bool, sink: &mut S) {
        let model = &object["model"];
        sink.ours(self.model.as_ref().is_none_or(|wanted| model == wanted), || {
            Mismatch::new("model", json!(self.model).to_string(), model)
        });
        sink.ours(is_exact && text(&object["id"]).starts_with(ID_PREFIX), || {
            let expected = format!("an id that begins with {ID_PREFIX}, and no other members");
            Mismatch::new("envelope", expected, object)
        });
    }
}

// === impl Call ===

impl Call {
    /// A call as it begins, or a whole one.
    fn of_chat(call: &Value) -> Self {
        let (kind, called) = called(call);
        Self {
            kind,
            id: text(&call["id"]),
            namespace: call["namespace"].as_str().map(str::to_owned),
            name: text(&called["name"]),
            arguments: said_in(call),
        }
    }

    /// The legacy form.
    fn legacy(call: &Value) -> Self {
        let (name, arguments) = (text(&call["name"]), text(&call["arguments"]));
        Self { kind: CallKind::Legacy, name, arguments, ..Self::default() }
    }
}

/// Whether a call has just the members that our own server writes, after these.
fn is_exact(call: &Value, first: &[&str]) -> bool {
    let (kind, called) = called(call);
    let (member, text) = match kind {
        CallKind::Custom => ("custom", "input"),
        _ => ("function", "arguments"),
    };
    let namespace = call["namespace"].as_str().map(|_| "namespace");
    let wanted = [first, &["id", "type"], namespace.as_slice(), &[member]].concat();
    members(call) == wanted
        && members(called) == ["name", text]
        && call["id"].as_str().is_some_and(|id| !id.is_empty() && id.len() <= LONGEST_ID)
}

fn inexact(call: &Value) -> Mismatch {
    let expected = format!(
        "one with id of 1 to {LONGEST_ID} bytes, type, name and arguments, and without more"
    );
    Mismatch::new("call", expected, call)
}

/// Of a call or the begin of one: its kind, and the member that has its name and its text.
fn called(call: &Value) -> (CallKind, &Value) {
    let is_custom = match call["type"].as_str() {
        Some(kind) => kind == "custom",
        None => call["custom"]["name"].is_string(),
    };
    if is_custom {
        (CallKind::Custom, &call["custom"])
    } else {
        (CallKind::Function, &call["function"])
    }
}

/// The arguments of a call, or the input of a custom tool: all of it, or an increment.
fn said_in(call: &Value) -> String {
    let (arguments, input) = (&call["function"]["arguments"], &call["custom"]["input"]);
    arguments.as_str().or(input.as_str()).unwrap_or_default().to_owned()
}

/// Token counts that add up.
fn is_usage(usage: &Value) -> bool {
    let count = |name: &str| usage[name].as_u64();
    match (count("prompt_tokens"), count("completion_tokens"), count("total_tokens")) {
        (Some(asked), Some(said), Some(total)) => asked.checked_add(said) == Some(total),
        _ => false,
    }
}
