//! A call as it stands at the end.

use serde::ser::{Serialize, SerializeStruct, Serializer};

/// One call. It serialises as an entry of `message.tool_calls[]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolCallRecord {
    /// The id that the client sees.
    pub id: String,
    /// The backend's own id of the call, if it gave one.
    pub backend_id: Option<String>,
    /// The name of the tool.
    pub name: String,
    /// The arguments, byte for byte; empty if there were none.
    pub arguments: String,
}

/// A call in the shape of the legacy `message.function_call`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionCall<'a> {
    /// The name of the function.
    pub name: &'a str,
    /// The arguments; `{}` if there were none.
    pub arguments: &'a str,
}

/// What a call without arguments is written as. Clients parse the arguments, and an empty text is not
/// JSON; it is the only thing that is ever rewritten.
pub(crate) const NO_ARGUMENTS: &str = "{}";

// === impl ToolCallRecord ===

impl ToolCallRecord {
    /// The same call for a client that uses `functions`.
    ///
    /// ```
    /// # use tool_call_aggregator::ToolCallRecord;
    /// let record = ToolCallRecord {
    ///     id: "tool_0_0".into(),
    ///     backend_id: None,
    ///     name: "f".into(),
    ///     arguments: "".into(),
    /// };
    /// let function_call = serde_json::to_string(&record.as_function_call())?;
    /// assert_eq!(function_call, r#"{"name":"f","arguments":"{}"}"#);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn as_function_call(&self) -> FunctionCall<'_> {
        FunctionCall { name: &self.name, arguments: on_the_wire(&self.arguments) }
    }
}

impl Serialize for ToolCallRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut call = serializer.serialize_struct("ToolCall", 3)?;
        call.serialize_field("id", &self.id)?;
        call.serialize_field("type", "function")?;
        call.serialize_field("function", &self.as_function_call())?;
        call.end()
    }
}

// === impl FunctionCall ===

impl<'a> From<&'a ToolCallRecord> for FunctionCall<'a> {
    fn from(record: &'a ToolCallRecord) -> Self {
        record.as_function_call()
    }
}

impl<'a> From<(&'a str, &'a str)> for FunctionCall<'a> {
    fn from((name, arguments): (&'a str, &'a str)) -> Self {
        Self { name, arguments }
    }
}

impl Serialize for FunctionCall<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut function = serializer.serialize_struct("Function", 2)?;
        function.serialize_field("name", self.name)?;
        function.serialize_field("arguments", self.arguments)?;
        function.end()
    }
}

/// Arguments as a client can parse them.
fn on_the_wire(arguments: &str) -> &str {
    if arguments.is_empty() { NO_ARGUMENTS } else { arguments }
}
