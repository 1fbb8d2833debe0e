//! `--xml`: calls as `<use_tool>` blocks.

use std::borrow::Cow;

use serde_json::{Value, json};
use tool_call_aggregator::obsidian::{XmlEscaping, XmlOptions, to_obsidian_xml};

use super::{CallsOptions, Fault, Reader};

/// Writes a block for each call.
pub(super) struct Blocks {
    escaping: XmlEscaping,
}

// === impl Blocks ===

impl Blocks {
    pub(super) fn new(options: &CallsOptions) -> Self {
        Self { escaping: options.escape.into() }
    }
}

impl Reader for Blocks {
    /// Other fields are passed over, so that the calls of a snapshot can be given as they are.
    fn take(&mut self, record: Value) -> Result<Vec<Value>, Fault> {
        let Value::Object(call) = &record else {
            return Err(Fault::Shape("an object with name and arguments"));
        };
        let Some(Value::String(name)) = call.get("name") else {
            return Err(Fault::Field { name: "name", allowed: "a string" });
        };
        let arguments = match call.get("arguments") {
            Some(Value::String(text)) => Cow::Borrowed(text.as_str()),
            Some(object @ Value::Object(_)) => Cow::Owned(object.to_string()),
            _ => {
                return Err(Fault::Field { name: "arguments", allowed: "a string or an object" });
            }
        };
        let options = XmlOptions { escaping: self.escaping, ..XmlOptions::default() };
        Ok(vec![json!({"xml": to_obsidian_xml((name.as_str(), &*arguments), &options)})])
    }
}
