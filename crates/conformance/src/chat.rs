//! Chat completions, read as strictly as the strictest client does.

mod call_frames;
mod stream;
mod whole;

use serde_json::Value;

use crate::answer::{AnswerRules, CallKind};
use crate::rule::RuleId;

pub(crate) use stream::{UsageWish, read as read_stream};
pub(crate) use whole::read as read_whole;

pub(crate) const RULES: AnswerRules = AnswerRules {
    text: RuleId::ChatTextExact,
    calls: RuleId::ChatCallsComplete,
    arguments: RuleId::ChatArgumentsExact,
    no_arguments: RuleId::ChatNoArguments,
    custom_form: RuleId::ChatCustomFrames,
};

/// Of a call or the begin of one: its kind, and the member that has its name and its text.
fn members(call: &Value) -> (CallKind, &Value) {
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
