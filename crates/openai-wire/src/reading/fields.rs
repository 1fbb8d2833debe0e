//! What becomes of the fields of a request.

use serde_json::Value;

use super::Object;

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

/// Names of the given fields that have no effect.
pub(crate) fn ignored(
    fields: &[(&'static str, FieldTreatment)],
    request: &mut Object<'_>,
) -> Vec<&'static str> {
    let named = fields.iter().filter(|(_, treatment)| *treatment == FieldTreatment::Ignored);
    named
        .map(|(name, _)| *name)
        .filter(|name| request.take(name).is_some_and(|value| asks_for_something(name, &value)))
        .collect()
}

/// False for a value that wishes for what happens anyway.
fn asks_for_something(name: &str, value: &Value) -> bool {
    match (name, value) {
        (_, Value::Bool(false)) => false,
        ("n", Value::Number(count)) => count.as_u64() != Some(1),
        ("stop", Value::Array(texts)) => !texts.is_empty(),
        _ => true,
    }
}
