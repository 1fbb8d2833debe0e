//! Chat completions, read as strictly as the strictest client does.

mod call_frames;
mod stream;
mod whole;

use serde_json::Value;

use crate::answer::AnswerRules;
use crate::rule::RuleId;

pub(crate) use stream::{UsageWish, read as read_stream};
pub(crate) use whole::read as read_whole;

pub(crate) const RULES: AnswerRules = AnswerRules {
    text: RuleId::ChatTextExact,
    calls: RuleId::ChatCallsComplete,
    arguments: RuleId::ChatArgumentsExact,
    no_arguments: RuleId::ChatNoArguments,
};

/// Token counts that add up.
fn is_usage(usage: &Value) -> bool {
    let count = |name: &str| usage[name].as_u64();
    match (count("prompt_tokens"), count("completion_tokens"), count("total_tokens")) {
        (Some(asked), Some(said), Some(total)) => asked.checked_add(said) == Some(total),
        _ => false,
    }
}
