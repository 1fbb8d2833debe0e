//! The formats a call is written in, and what each of them can carry.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::contender::Declared;

/// A call, before it is written in a format.
#[derive(Debug, Clone)]
pub struct Plain {
    pub name: String,
    /// A JSON object.
    pub arguments: Value,
    /// The same as text.
    pub text: String,
}

/// How a call stands in the text of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `<use_tool><name>…</name><args>{…}</args></use_tool>`
    UseTool,
    /// `<tool_call>{"name":…,"arguments":{…}}</tool_call>`: Hermes, Qwen.
    ToolCall,
    /// `<tool_call><function=…><parameter=…>…</parameter></function></tool_call>`: Qwen3-Coder.
    QwenXml,
    /// `<|tool_call_begin|>functions.…:0<|tool_call_argument_begin|>{…}<|tool_call_end|>`: Kimi K2.
    Kimi,
}

// === impl Format ===

impl Format {
    pub fn label(self) -> &'static str {
        match self {
            Self::UseTool => "`<use_tool>`, JSON arguments",
            Self::ToolCall => "`<tool_call>` JSON",
            Self::QwenXml => "`<tool_call>` XML parameters",
            Self::Kimi => "Kimi K2 tokens, JSON arguments",
        }
    }

    /// The call with the white space that the template of the model has.
    pub fn write(self, out: &mut String, call: &Plain, index: usize) {
        let Plain { name, arguments, text } = call;
        let written = match self {
            Self::UseTool => {
                write!(out, "<use_tool><name>{name}</name><args>{text}</args></use_tool>")
            }
            Self::ToolCall => write!(
                out,
                "<tool_call>\n{{\"name\": \"{name}\", \"arguments\": {text}}}\n</tool_call>"
            ),
            Self::QwenXml => {
                let _ = writeln!(out, "<tool_call>\n<function={name}>");
                for (key, value) in arguments.as_object().into_iter().flatten() {
                    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    let _ = writeln!(out, "<parameter={key}>\n{value}\n</parameter>");
                }
                write!(out, "</function>\n</tool_call>")
            }
            Self::Kimi => write!(
                out,
                "<|tool_calls_section_begin|><|tool_call_begin|>functions.{name}:{index}\
                 <|tool_call_argument_begin|>{text}<|tool_call_end|><|tool_calls_section_end|>"
            ),
        };
        written.expect("a string takes it all");
    }

    /// Text that means something to a parser of this format: none of it may stand in prose or values.
    fn markers(self) -> &'static [&'static str] {
        match self {
            Self::UseTool => &["use_tool"],
            Self::ToolCall => &["<tool_call", "</tool_call"],
            Self::QwenXml => &[
                "<tool_call",
                "</tool_call",
                "<function",
                "</function",
                "<parameter",
                "</parameter",
            ],
            Self::Kimi => &["<|tool_call"],
        }
    }

    /// Whether prose can stand beside calls of this format.
    pub fn carries_prose(self, prose: &str) -> bool {
        !self.markers().iter().any(|marker| prose.contains(marker))
    }

    /// Whether the call can be written in this format and be read again without loss.
    pub fn carries(self, call: &Plain) -> bool {
        let named = !call.name.is_empty()
            && call.name.len() <= 64
            && call.name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        let Some(members) = call.arguments.as_object() else { return false };
        named
            && self.carries_prose(&call.text)
            && (self != Self::QwenXml || members.iter().all(|(key, value)| xml_carries(key, value)))
    }
}

/// Readers of XML parameters take white space off values, guess types that no schema says, and read a
/// value in quotes as JSON: what that would change is not their fault.
fn xml_carries(key: &str, value: &Value) -> bool {
    let key_ok = !key.is_empty()
        && key.chars().all(|c| !c.is_whitespace() && !c.is_control() && !"<>\"'=".contains(c));
    key_ok
        && match value {
            Value::Null => false,
            Value::String(text) => {
                text.trim() == text && !text.starts_with('"') && Format::QwenXml.carries_prose(text)
            }
            _ => true,
        }
}

/// The tools these calls need, each with the type of every argument.
#[derive(Debug)]
pub struct Tools {
    pub declared: Vec<Declared>,
    /// Two calls give one argument different types: no schema says both.
    pub disagree: bool,
}

/// Declares what the calls use.
pub fn declare(calls: &[Plain]) -> Tools {
    let mut tools = Tools { declared: Vec::new(), disagree: false };
    for call in calls {
        tools.add(call);
    }
    if tools.declared.is_empty() {
        // A parser that knows no tool at all may not look for calls.
        let unused = json!({ "query": "" });
        tools.add(&Plain {
            name: "search".to_owned(),
            text: unused.to_string(),
            arguments: unused,
        });
    }
    tools
}

// === impl Tools ===

impl Tools {
    fn add(&mut self, call: &Plain) {
        let known = self.declared.iter().position(|tool| tool.name == call.name);
        let at = known.unwrap_or_else(|| {
            let parameters = json!({ "type": "object", "properties": {} });
            self.declared.push(Declared { name: call.name.clone(), parameters });
            self.declared.len() - 1
        });
        let properties = &mut self.declared[at].parameters["properties"];
        for (key, value) in call.arguments.as_object().into_iter().flatten() {
            let schema = json!({ "type": type_of(value) });
            self.disagree |= properties.get(key).is_some_and(|known| *known != schema);
            properties[key.as_str()] = schema;
        }
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
