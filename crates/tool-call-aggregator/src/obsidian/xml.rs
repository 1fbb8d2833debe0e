//! Calls as `<use_tool>` blocks.

use serde_json::Value;

use super::canon::{Argument, arrange, canon, declared};
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum XmlEscaping {
    /// They become `&lt;`, `&gt;` and `&amp;`: right XML, for readers that decode entities.
    #[default]
    Entities,
    /// They stay, for readers that do not. Only the `<` of a tag that would end the parameter or the block
    /// early becomes `&lt;`: such a reader shows it so, but it does not lose the rest.
    Verbatim,
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
    let FunctionCall { name, arguments } = call.into();
    let mut block = Block { xml: String::with_capacity(arguments.len() + 128), options };
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
    block.xml
}

/// A block that is being written.
struct Block<'o> {
    xml: String,
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

/// Whether a `<` with this text after it would end a value in `tag`, or the whole block.
fn ends_early(tag: &str, after: &str) -> bool {
    let closed = after.strip_prefix('/');
    let is = |text: &str, tag: &str| {
        let rest = text.strip_prefix(tag);
        rest.is_some_and(|rest| !rest.bytes().next().is_some_and(continues_name))
    };
    is(closed.unwrap_or(after), "use_tool") || closed.is_some_and(|name| is(name, tag))
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
        self.open(tag);
        match self.options.escaping {
            XmlEscaping::Entities => self.replaced(text, ["&lt;", "&gt;", "&amp;"]),
            XmlEscaping::Verbatim => self.verbatim(tag, text),
        }
        self.close(tag);
    }

    /// Outside its strings JSON has none of the three characters, and inside them it has another way to
    /// write each.
    fn json(&mut self, tag: &str, json: &str) {
        self.open(tag);
        self.replaced(json, ["\\u003c", "\\u003e", "\\u0026"]);
        self.close(tag);
    }

    fn open(&mut self, tag: &str) {
        self.xml.extend(std::iter::repeat_n(' ', self.options.indent));
        self.xml.extend(["<", tag, ">"]);
    }

    fn close(&mut self, tag: &str) {
        self.xml.extend(["</", tag, ">\n"]);
    }

    fn replaced(&mut self, text: &str, [less, greater, and]: [&str; 3]) {
        let mut done = 0;
        for at in memchr::memchr3_iter(b'<', b'>', b'&', text.as_bytes()) {
            self.xml.push_str(&text[done..at]);
            self.xml.push_str(match text.as_bytes()[at] {
                b'<' => less,
                b'>' => greater,
                _ => and,
            });
            done = at + 1;
        }
        self.xml.push_str(&text[done..]);
    }

    fn verbatim(&mut self, tag: &str, text: &str) {
        let mut done = 0;
        for at in memchr::memchr_iter(b'<', text.as_bytes()) {
            if ends_early(tag, &text[at + 1..]) {
                self.xml.extend([&text[done..at], "&lt;"]);
                done = at + 1;
            }
        }
        self.xml.push_str(&text[done..]);
    }
}
