//! What becomes of every field of a request.

use serde_json::Value;

use super::object::Object;
use FieldTreatment::{Accepted, Emulated, Ignored, Passed, Refused};

/// What becomes of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldTreatment {
    /// The model receives it.
    Passed,
    /// It is done here, or asked of the model in words.
    Emulated,
    /// It has no effect, and is named in `x-proxy-ignored-params`.
    Ignored,
    /// It has no effect, and no answer would be another with it.
    Accepted,
    /// A request that has it is not served.
    Refused,
}

/// The fields of a request, and what becomes of each. A field that is not here is accepted.
pub const FIELDS: &[(&str, FieldTreatment)] = &[
    ("model", Passed),
    ("messages", Passed),
    ("tools", Passed),
    ("functions", Passed),
    ("response_format", Passed),
    ("reasoning_effort", Passed),
    ("reasoning", Passed),
    ("tool_choice", Emulated),
    ("function_call", Emulated),
    ("parallel_tool_calls", Emulated),
    ("n", Emulated),
    ("stop", Emulated),
    ("max_tokens", Emulated),
    ("max_completion_tokens", Emulated),
    ("stream", Emulated),
    ("stream_options", Emulated),
    ("temperature", Ignored),
    ("top_p", Ignored),
    ("top_k", Ignored),
    ("top_a", Ignored),
    ("min_p", Ignored),
    ("typical_p", Ignored),
    ("seed", Ignored),
    ("presence_penalty", Ignored),
    ("frequency_penalty", Ignored),
    ("repetition_penalty", Ignored),
    ("logit_bias", Ignored),
    ("logprobs", Ignored),
    ("top_logprobs", Ignored),
    ("verbosity", Ignored),
    ("prediction", Ignored),
    ("service_tier", Ignored),
    ("web_search_options", Ignored),
    ("user", Accepted),
    ("metadata", Accepted),
    ("store", Accepted),
    ("safety_identifier", Accepted),
    ("prompt_cache_key", Accepted),
    ("prompt_cache_retention", Accepted),
    ("modalities", Accepted),
    ("audio", Refused),
];

/// Names of the given fields that have no effect.
pub(super) fn ignored(request: &mut Object<'_>) -> Vec<&'static str> {
    let named = FIELDS.iter().filter(|(_, treatment)| *treatment == Ignored);
    named
        .map(|(name, _)| *name)
        .filter(|name| request.take(name).is_some_and(|value| asks_for_something(name, &value)))
        .collect()
}

/// False for a value that wishes for what happens anyway.
fn asks_for_something(name: &str, value: &Value) -> bool {
    match (name, value) {
        (_, Value::Bool(false)) => false,
        ("service_tier", Value::String(tier)) => !["auto", "default"].contains(&tier.as_str()),
        _ => true,
    }
}
