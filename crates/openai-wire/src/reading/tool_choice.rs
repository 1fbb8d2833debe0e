//! Which of its tools the model may or must call.

use std::collections::HashMap;

use model_turn::ToolCallKind;
use serde_json::Value;

use super::tool::identity;
use super::{Excerpt, Object, Path, Tool, ToolKind};
use crate::ApiError;

/// Which tools the model may or must call. All of them are declared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ToolChoice {
    /// Any or none.
    #[default]
    Auto,
    /// None.
    None,
    /// At least one.
    Required,
    /// This one.
    Named(ChosenTool),
    /// Some of them.
    Allowed {
        /// These.
        tools: Vec<ChosenTool>,
        /// Whether one must be called.
        mode: AllowedMode,
    },
}

/// A declared tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenTool {
    /// The name of its namespace.
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// Kind of its calls.
    pub kind: ToolCallKind,
}

/// The tools that a request declares, by their names.
pub(crate) struct DeclaredNames<'a> {
    /// By [`Tool::identity`]; of two declarations the later counts.
    tools: HashMap<(Option<&'a str>, &'a str), &'a Tool>,
    /// By name; `None` where several tools have it.
    alone: HashMap<&'a str, Option<&'a Tool>>,
}

/// How the allowed ones of the tools are to be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllowedMode {
    /// Any or none of them.
    Auto,
    /// At least one of them.
    Required,
}

const CHOICES: [&str; 3] = ["none", "auto", "required"];
const TYPES: [&str; 3] = ["function", "custom", "allowed_tools"];

// === impl ToolChoice ===

impl ToolChoice {
    pub(crate) fn read(
        choice: Value,
        path: Path<'_>,
        tools: &DeclaredNames<'_>,
    ) -> Result<Self, ApiError> {
        match choice {
            Value::String(name) => match name.as_str() {
                "none" => Ok(Self::None),
                "auto" => Ok(Self::Auto),
                "required" if tools.tools.is_empty() => Err(path.invalid(
                    "'tool_choice' may be 'required' only if 'tools' are given that a client runs.",
                )),
                "required" => Ok(Self::Required),
                _ => Err(path.unsupported(&name, &CHOICES)),
            },
            object @ Value::Object(_) => {
                let mut choice = Object::read(object, path)?;
                let r#type = choice.required_string("type")?;
                match r#type.as_str() {
                    "function" | "custom" => read_chosen(choice, &r#type, tools).map(Self::Named),
                    "allowed_tools" => Self::read_allowed(choice, tools),
                    _ => Err(choice.path("type").unsupported(&r#type, &TYPES)),
                }
            }
            other => Err(path.wrong_type("a string or an object", &other)),
        }
    }

    /// Whether the model must call a tool.
    pub fn is_forced(&self) -> bool {
        match self {
            Self::Required | Self::Named(_) | Self::Allowed { mode: AllowedMode::Required, .. } => {
                true
            }
            Self::Auto | Self::None | Self::Allowed { mode: AllowedMode::Auto, .. } => false,
        }
    }

    /// The Responses API has its members one level higher.
    fn read_allowed(mut choice: Object<'_>, tools: &DeclaredNames<'_>) -> Result<Self, ApiError> {
        match choice.take("allowed_tools") {
            Some(allowed) => {
                let path = choice.path("allowed_tools");
                Self::read_allowed_members(Object::read(allowed, path)?, tools)
            }
            None => Self::read_allowed_members(choice, tools),
        }
    }

    fn read_allowed_members(
        mut allowed: Object<'_>,
        tools: &DeclaredNames<'_>,
    ) -> Result<Self, ApiError> {
        let mode = allowed.required_string("mode")?;
        let mode = match mode.as_str() {
            "auto" => AllowedMode::Auto,
            "required" => AllowedMode::Required,
            _ => return Err(allowed.path("mode").unsupported(&mode, &["auto", "required"])),
        };
        let entries = allowed.array("tools")?.unwrap_or_default();
        let path = allowed.path("tools");
        if entries.is_empty() {
            return Err(path.missing());
        }
        let mut chosen = Vec::with_capacity(entries.len());
        for (index, entry) in entries.into_iter().enumerate() {
            let mut entry = Object::read(entry, path.item(index))?;
            let r#type = entry.string("type")?.unwrap_or_else(|| "function".to_owned());
            // Hosted tools are left out, here too.
            if ["function", "custom"].contains(&r#type.as_str()) {
                chosen.push(read_chosen(entry, &r#type, tools)?);
            }
        }
        if chosen.is_empty() && mode == AllowedMode::Required {
            return Err(path.invalid("None of these tools is one that a client runs."));
        }
        Ok(Self::Allowed { tools: chosen, mode })
    }

    /// Reads the `name` of a declared function.
    pub(crate) fn read_named(
        choice: Object<'_>,
        tools: &DeclaredNames<'_>,
    ) -> Result<Self, ApiError> {
        read_chosen(choice, "function", tools).map(Self::Named)
    }
}

/// Chat completions have the name one level lower.
fn read_chosen(
    mut tool: Object<'_>,
    r#type: &str,
    tools: &DeclaredNames<'_>,
) -> Result<ChosenTool, ApiError> {
    let namespace = tool.string("namespace")?;
    match tool.take(r#type) {
        Some(members) => {
            let path = tool.path(r#type);
            find_declared(Object::read(members, path)?, namespace.as_deref(), tools)
        }
        None => find_declared(tool, namespace.as_deref(), tools),
    }
}

fn find_declared(
    mut members: Object<'_>,
    namespace: Option<&str>,
    tools: &DeclaredNames<'_>,
) -> Result<ChosenTool, ApiError> {
    let name = members.required_string("name")?;
    let found = tools.find(namespace, &name);
    found.map(ChosenTool::of).ok_or_else(|| {
        let problem = format!("The request declares no tool that is named {}.", Excerpt(&name));
        members.path("name").invalid(problem)
    })
}

// === impl DeclaredNames ===

impl<'a> DeclaredNames<'a> {
    pub(crate) fn of(tools: impl IntoIterator<Item = &'a Tool>) -> Self {
        let mut names = Self { tools: HashMap::new(), alone: HashMap::new() };
        for tool in tools {
            let is_known = names.tools.insert(tool.identity(), tool).is_some();
            let alone = names.alone.entry(&tool.name);
            alone
                .and_modify(|alone| *alone = alone.and(is_known.then_some(tool)))
                .or_insert(Some(tool));
        }
        names
    }

    /// A name without a namespace is that of a tool without one, or of the only one in any.
    fn find(&self, namespace: Option<&str>, name: &str) -> Option<&'a Tool> {
        let found = self.tools.get(&identity(namespace, name)).copied();
        found.or_else(|| self.alone.get(name).copied().flatten().filter(|_| namespace.is_none()))
    }
}

// === impl ChosenTool ===

impl ChosenTool {
    fn of(tool: &Tool) -> Self {
        Self {
            namespace: tool.namespace_name().map(str::to_owned),
            name: tool.name.clone(),
            kind: match tool.kind {
                ToolKind::Function { .. } => ToolCallKind::Function,
                ToolKind::Custom { .. } => ToolCallKind::Custom,
            },
        }
    }

    /// As [`Tool::identity`].
    pub fn identity(&self) -> (Option<&str>, &str) {
        identity(self.namespace.as_deref(), &self.name)
    }
}
