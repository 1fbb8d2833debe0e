//! The tools that a request declares.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Excerpt, Object, Path};
use crate::ApiError;

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// The group that it belongs to. Shared: a short request can declare very many tools in one.
    pub namespace: Option<Arc<Namespace>>,
    /// Its name.
    pub name: String,
    /// What it is for; may be empty.
    pub description: String,
    /// What it is called with.
    pub kind: ToolKind,
}

/// A group of tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namespace {
    /// Its name.
    pub name: String,
    /// What it is for; may be empty.
    pub description: Arc<str>,
}

/// What a tool is called with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolKind {
    /// JSON arguments.
    Function {
        /// JSON schema of its parameters.
        parameters: Map<String, Value>,
        /// Whether the model is to be held to the schema.
        strict: bool,
    },
    /// Text.
    Custom {
        /// What the text must look like; `None` takes any.
        grammar: Option<Grammar>,
    },
}

/// What the input of a custom tool must look like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grammar {
    /// The language of the definition: `lark` or `regex`.
    pub syntax: String,
    /// The grammar.
    pub definition: String,
}

/// A tool that the upstream would run itself, or of a kind that we do not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostedTool {
    /// Its type.
    pub r#type: String,
    /// Where in the request that is.
    pub place: String,
}

/// The tools of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tools {
    /// Those that a client runs; no two of one name.
    pub declared: Vec<Tool>,
    /// The others.
    pub hosted: Vec<HostedTool>,
}

/// Where a tool has its members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolForm {
    /// Inside a member that is named like its type, as in chat completions. Cursor has custom tools flat
    /// there, too.
    Nested,
    /// Beside the type, as in the Responses API.
    Flat,
    /// Without a type: an entry of `functions`.
    Bare,
}

/// Longest type of a tool that is repeated.
const LONGEST_TYPE: usize = 64;

/// Longest name of a tool or of a namespace, in bytes.
const LONGEST_NAME: usize = 512;

/// The namespace in which models see tools that have none.
const FUNCTIONS: &str = "functions";

/// Reads the tools of a list, one after the other.
struct Reader {
    form: ToolForm,
    /// The names so far.
    names: HashSet<(Option<String>, String)>,
    tools: Tools,
}

// === impl Tools ===

impl Tools {
    pub(crate) fn read(
        values: Vec<Value>,
        path: Path<'_>,
        form: ToolForm,
    ) -> Result<Self, ApiError> {
        let names = HashSet::with_capacity(values.len());
        let mut reader = Reader { form, names, tools: Self::default() };
        for (index, value) in values.into_iter().enumerate() {
            reader.read(Object::read(value, path.item(index))?, None)?;
        }
        Ok(reader.tools)
    }
}

// === impl Reader ===

impl Reader {
    fn read(
        &mut self,
        mut tool: Object<'_>,
        namespace: Option<&Arc<Namespace>>,
    ) -> Result<(), ApiError> {
        if self.form == ToolForm::Bare {
            return self.read_function(tool, None);
        }
        let r#type = tool.string("type")?.unwrap_or_else(|| "function".to_owned());
        match r#type.as_str() {
            "function" | "custom" => match tool.take(&r#type) {
                Some(members) => {
                    let path = tool.path(&r#type);
                    self.read_members(&r#type, Object::read(members, path)?, namespace)
                }
                None if self.form == ToolForm::Nested && !tool.has("name") => {
                    Err(tool.path(&r#type).missing())
                }
                None => self.read_members(&r#type, tool, namespace),
            },
            "namespace" if namespace.is_none() => self.read_namespace(tool),
            _ => {
                let place = tool.path("type").to_string();
                self.tools.hosted.push(HostedTool { r#type, place });
                Ok(())
            }
        }
    }

    fn read_members(
        &mut self,
        r#type: &str,
        members: Object<'_>,
        namespace: Option<&Arc<Namespace>>,
    ) -> Result<(), ApiError> {
        match r#type {
            "custom" => self.read_custom(members, namespace),
            _ => self.read_function(members, namespace),
        }
    }

    fn read_namespace(&mut self, mut tool: Object<'_>) -> Result<(), ApiError> {
        let namespace = Arc::new(Namespace {
            name: read_name(&mut tool, "namespace")?,
            description: tool.string("description")?.unwrap_or_default().into(),
        });
        let inner = tool.array("tools")?.unwrap_or_default();
        let path = tool.path("tools");
        for (index, value) in inner.into_iter().enumerate() {
            self.read(Object::read(value, path.item(index))?, Some(&namespace))?;
        }
        Ok(())
    }

    fn read_function(
        &mut self,
        mut function: Object<'_>,
        namespace: Option<&Arc<Namespace>>,
    ) -> Result<(), ApiError> {
        let name = self.read_new_name(&mut function, "function", namespace)?;
        let parameters = function.object("parameters")?.unwrap_or_else(no_parameters);
        let r#type = parameters.get("type").and_then(Value::as_str);
        if let Some(r#type) = r#type.filter(|name| *name != "object") {
            let problem = format!(
                "Invalid schema for function {}: its 'type' must be 'object', but is {}.",
                Excerpt(&name),
                Excerpt(r#type)
            );
            let error = function.path("parameters").invalid(problem);
            return Err(error.with_code("invalid_function_parameters"));
        }
        let strict = function.boolean("strict")?.unwrap_or(false);
        let kind = ToolKind::Function { parameters, strict };
        self.add(function, name, namespace, kind)
    }

    fn read_custom(
        &mut self,
        mut custom: Object<'_>,
        namespace: Option<&Arc<Namespace>>,
    ) -> Result<(), ApiError> {
        let name = self.read_new_name(&mut custom, "custom tool", namespace)?;
        let format = custom.take("format");
        let format =
            format.map(|format| Grammar::read(format, custom.path("format"))).transpose()?;
        let kind = ToolKind::Custom { grammar: format.flatten() };
        self.add(custom, name, namespace, kind)
    }

    fn add(
        &mut self,
        mut members: Object<'_>,
        name: String,
        namespace: Option<&Arc<Namespace>>,
        kind: ToolKind,
    ) -> Result<(), ApiError> {
        let description = members.string("description")?.unwrap_or_default();
        self.tools.declared.push(Tool { namespace: namespace.cloned(), name, description, kind });
        Ok(())
    }

    /// A name that no tool before it has.
    fn read_new_name(
        &mut self,
        members: &mut Object<'_>,
        noun: &str,
        namespace: Option<&Arc<Namespace>>,
    ) -> Result<String, ApiError> {
        let name = read_name(members, noun)?;
        let namespace = namespace.map(|namespace| namespace.name.as_str());
        let (namespace, _) = identity(namespace, &name);
        if !self.names.insert((namespace.map(str::to_owned), name.clone())) {
            let problem = format!("Two tools are named {}: names must differ.", Excerpt(&name));
            return Err(members.path("name").invalid(problem));
        }
        Ok(name)
    }
}

fn read_name(members: &mut Object<'_>, noun: &str) -> Result<String, ApiError> {
    let name = members.required_string("name")?;
    if (1..=LONGEST_NAME).contains(&name.len()) {
        return Ok(name);
    }
    let problem = format!("The name of a {noun} must have 1 to {LONGEST_NAME} bytes.");
    Err(members.path("name").invalid(problem))
}

pub(super) fn identity<'a>(
    namespace: Option<&'a str>,
    name: &'a str,
) -> (Option<&'a str>, &'a str) {
    (namespace.filter(|namespace| !["", FUNCTIONS].contains(namespace)), name)
}

// === impl Tool ===

impl Tool {
    /// The name of its namespace.
    pub fn namespace_name(&self) -> Option<&str> {
        self.namespace.as_ref().map(|namespace| namespace.name.as_str())
    }

    /// What no two tools of a request have in common: namespace and name, as a model sees them.
    pub fn identity(&self) -> (Option<&str>, &str) {
        identity(self.namespace_name(), &self.name)
    }
}

// === impl Grammar ===

impl Grammar {
    /// The Responses API has the members of a grammar one level higher.
    fn read(format: Value, path: Path<'_>) -> Result<Option<Self>, ApiError> {
        let mut format = Object::read(format, path)?;
        let r#type = format.required_string("type")?;
        match r#type.as_str() {
            "text" => Ok(None),
            "grammar" => match format.take("grammar") {
                Some(grammar) => {
                    let path = format.path("grammar");
                    Self::read_members(Object::read(grammar, path)?).map(Some)
                }
                None => Self::read_members(format).map(Some),
            },
            _ => Err(format.path("type").unsupported(&r#type, &["text", "grammar"])),
        }
    }

    fn read_members(mut grammar: Object<'_>) -> Result<Self, ApiError> {
        Ok(Self {
            syntax: grammar.required_string("syntax")?,
            definition: grammar.required_string("definition")?,
        })
    }
}

// === impl HostedTool ===

impl HostedTool {
    /// How it is named where it has no effect. A type can be any text: one that does not look like a
    /// name is not repeated in headers and logs.
    pub fn ignored_name(&self) -> String {
        let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        let is_name = self.r#type.len() <= LONGEST_TYPE && self.r#type.bytes().all(is_name_byte);
        format!("tools.{}", if is_name { &self.r#type } else { "(unusual)" })
    }

    /// The error where such tools are refused.
    pub fn refusal(&self) -> ApiError {
        let problem = format!(
            "Invalid value for '{}': {}. Codex takes no such tool from a client: use tools of type \
             'function', 'custom' or 'namespace', or let it be left out with \
             PROXY_UNSUPPORTED_TOOLS=ignore.",
            self.place,
            Excerpt(&self.r#type)
        );
        ApiError::invalid(self.place.as_str(), problem)
    }
}

fn no_parameters() -> Map<String, Value> {
    Map::from_iter([
        ("type".to_owned(), Value::from("object")),
        ("properties".to_owned(), Map::new().into()),
    ])
}
