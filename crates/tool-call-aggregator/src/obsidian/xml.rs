//! Calls as `<use_tool>` blocks.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::canon::{Argument, arrange, canon, declared};
use super::escape::{escape_json, escape_verbatim, escape_xml};
use crate::FunctionCall;
use crate::json_members::{decoded_string, json_value, object_members, object_text};
use crate::text::{begins_name, continues_name};

/// How a block is written.
///
/// ```
/// use tool_call_aggregator::obsidian::{XmlEscaping, XmlOptions, to_obsidian_xml};
///
/// let options = XmlOptions { escaping: XmlEscaping::Verbatim, indent: 0, ..XmlOptions::default() };
/// assert_eq!(
///     to_obsidian_xml(("updateMemory", r#"{"statement":"1 < 2 & 3"}"#), &options),
///     "<use_tool>\n<name>updateMemory</name>\n<statement>1 < 2 & 3</statement>\n</use_tool>"
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct XmlOptions<'a> {
    /// What becomes of `<`, `>` and `&` in text.
    pub escaping: XmlEscaping,
    /// Spaces before each line inside the block.
    pub indent: usize,
    /// The tool's own JSON schema, as the request declared it. A known tool keeps every argument that its
    /// `properties` name, also if the canon does not.
    pub schema: Option<&'a Value>,
}

/// What becomes of `<`, `>` and `&` in strings. In arrays and objects they are always written as `\u003c`,
/// `\u003e` and `\u0026`, which is the same JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum XmlEscaping {
    /// They become `&lt;`, `&gt;` and `&amp;`: right XML, for readers that decode entities.
    #[default]
    Entities,
    /// They stay, for readers that do not. Only a `<` that would make such a reader lose text becomes
    /// `&lt;`, which it shows so: that of a tag which would end the parameter or the block early, and
    /// that of `<NAME>` where `</NAME>` follows, since Obsidian Copilot reads a value with elements as
    /// an object. [`RenderedXml::altered`] counts such values.
    Verbatim,
}

/// A call as a `<use_tool>` block, and what its reader cannot get back.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RenderedXml {
    /// The block.
    pub xml: String,
    /// How many values have a `&lt;` where the call has a `<`, although [the reader](XmlEscaping::Verbatim)
    /// does not decode it.
    pub altered: usize,
}

/// A call (`&record`, or its name and arguments) as a `<use_tool>` block, without a line break at its end.
///
/// Each argument has a tag and a line of its own. For a [known tool](super::canon()) they come in the
/// canon's order, an optional one that is `null` is left out, and so is what neither the canon nor the
/// [schema](XmlOptions::schema) knows; any other tool keeps all of them, in their order. Strings are
/// decoded; every other value stands there as its own JSON text.
///
/// ```
/// use tool_call_aggregator::obsidian::{XmlOptions, to_obsidian_xml};
///
/// assert_eq!(
///     to_obsidian_xml(("get_user", r#"{"id":"42"}"#), &XmlOptions::default()),
///     "<use_tool>
///   <name>get_user</name>
///   <id>42</id>
/// </use_tool>"
/// );
/// ```
///
/// One tag `args` holds what cannot be tags: arguments that are not an object, and an object with a key
/// that is no tag's name or that a reader would take for something else (`name`, `args`, `use_tool`).
///
/// ```
/// # use tool_call_aggregator::obsidian::{XmlOptions, to_obsidian_xml};
/// assert_eq!(
///     to_obsidian_xml(("greet", r#"{"name": "Ann", "at": 1e3}"#), &XmlOptions::default()),
///     r#"<use_tool>
///   <name>greet</name>
///   <args>{"name":"Ann","at":1e3}</args>
/// </use_tool>"#
/// );
/// ```
pub fn to_obsidian_xml<'a>(call: impl Into<FunctionCall<'a>>, options: &XmlOptions<'_>) -> String {
    render_obsidian_xml(call, options).xml
}

/// The same as [`to_obsidian_xml`], with a count of the values that had to be altered.
///
/// ```
/// use tool_call_aggregator::obsidian::{XmlEscaping, XmlOptions, render_obsidian_xml};
///
/// let options = XmlOptions { escaping: XmlEscaping::Verbatim, ..XmlOptions::default() };
/// let arguments = r#"{"path":"a.md","content":"<b>bold</b>, 1 < 2"}"#;
/// let rendered = render_obsidian_xml(("writeToFile", arguments), &options);
/// assert!(rendered.xml.contains("<content>&lt;b>bold</b>, 1 < 2</content>"));
/// assert_eq!(rendered.altered, 1);
/// ```
pub fn render_obsidian_xml<'a>(
    call: impl Into<FunctionCall<'a>>,
    options: &XmlOptions<'_>,
) -> RenderedXml {
    let FunctionCall { name, arguments } = call.into();
    let xml = String::with_capacity(arguments.len() + 128);
    let mut block = Block { xml, altered: 0, options };
    block.xml.push_str("<use_tool>\n");
    block.text("name", name);
    if let Some(members) = object_members(arguments) {
        block.arguments(&kept(name, arrange(name, &members, options.schema), options.schema));
    } else if let Some(json) = json_value(arguments) {
        block.json("args", json);
    } else if !arguments.trim().is_empty() {
        block.text("args", arguments);
    }
    block.xml.push_str("</use_tool>");
    RenderedXml { xml: block.xml, altered: block.altered }
}

/// A block that is being written.
struct Block<'o> {
    xml: String,
    altered: usize,
    options: &'o XmlOptions<'o>,
}

fn kept<'a>(
    tool: &str,
    mut arguments: Vec<Argument<'a>>,
    schema: Option<&Value>,
) -> Vec<Argument<'a>> {
    let known = canon(tool).is_some();
    arguments.retain(|argument| match argument.parameter {
        // Models in strict mode must send every parameter: `null` is how they leave one out.
        Some(parameter) => !(parameter.optional && argument.value == "null"),
        None => !known || declared(schema, argument.name).is_some(),
    });
    arguments
}

/// Whether a reader would find this tag again, and take it for an argument.
fn is_plain_tag(name: &str) -> bool {
    name.bytes().next().is_some_and(begins_name)
        && name.bytes().all(continues_name)
        && !matches!(name, "name" | "args" | "use_tool")
}

// === impl XmlOptions ===

impl Default for XmlOptions<'_> {
    fn default() -> Self {
        Self { escaping: XmlEscaping::default(), indent: 2, schema: None }
    }
}

// === impl Block ===

impl Block<'_> {
    fn arguments(&mut self, arguments: &[Argument<'_>]) {
        if !arguments.iter().all(|argument| is_plain_tag(argument.name)) {
            let members = arguments.iter().map(|argument| (argument.name, argument.value));
            return self.json("args", &object_text(members));
        }
        for argument in arguments {
            match decoded_string(argument.value) {
                Some(text) => self.text(argument.name, &text),
                None => self.json(argument.name, argument.value),
            }
        }
    }

    fn text(&mut self, tag: &str, text: &str) {
        let text = match self.options.escaping {
            XmlEscaping::Entities => escape_xml(text),
            XmlEscaping::Verbatim => {
                let escaped = escape_verbatim(tag, text);
                self.altered += usize::from(matches!(escaped, Cow::Owned(_)));
                escaped
            }
        };
        self.line(tag, &text);
    }

    fn json(&mut self, tag: &str, json: &str) {
        self.line(tag, &escape_json(json));
    }

    fn line(&mut self, tag: &str, value: &str) {
        self.xml.extend(std::iter::repeat_n(' ', self.options.indent));
        self.xml.extend(["<", tag, ">", value, "</", tag, ">\n"]);
    }
}
