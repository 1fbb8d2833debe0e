//! The tools that the model is offered, and what it is told about them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use model_turn::{HistoryItem, Role, Tool, ToolInput, ToolName};
use openai_wire::responses::InputItem;
use openai_wire::{
    self as wire, AllowedMode, ApiError, ChosenTool, Grammar, HostedTool, ToolChoice, ToolKind,
    Tools,
};
use serde_json::{Value, json};

use super::place::Place;
use super::schema::ToolSchema;
use crate::declared_tools::{DeclaredTools, OtherTool};
use crate::policy::{TurnSettings, UnsupportedTools};

/// The tools of a turn.
pub(super) struct OfferedTools {
    /// As Codex takes them.
    pub(super) tools: Vec<Tool>,
    /// The same as the client declares them.
    pub(super) declared: DeclaredTools,
    /// Codex always lets the model choose, so a wish is said in words.
    pub(super) request: Option<HistoryItem>,
    /// What was asked for and has no effect.
    pub(super) ignored: Vec<String>,
}

/// The namespaces of the declared tools, for calls in a history that do not name theirs: not every
/// client can.
pub(super) struct Namespaces(HashMap<String, Option<String>>);

/// Tools are also declared by items. The later declaration of a tool counts.
pub(super) fn with_additional(
    mut tools: Tools,
    earlier: &[InputItem],
    input: &[InputItem],
) -> Tools {
    let earlier = earlier.iter().enumerate().map(|(index, item)| (Place::Earlier(index), item));
    let input = input.iter().enumerate().map(|(index, item)| (Place::Input(index), item));
    let items = earlier.chain(input);
    let mut items =
        items.filter(|(_, item)| matches!(item, InputItem::AdditionalTools { .. })).peekable();
    if items.peek().is_none() {
        return tools;
    }
    for (place, item) in items {
        let additional = item.additional_tools(&place.to_string());
        tools.declared.extend(additional.declared);
        tools.hosted.extend(additional.hosted);
    }
    let mut known = HashSet::new();
    let last = tools.declared.iter().rev().map(|tool| known.insert(tool.identity()));
    let mut last = last.collect::<Vec<_>>().into_iter().rev();
    tools.declared.retain(|_| last.next().unwrap_or(true));
    tools
}

/// Refuses tools that no client runs, if the operator wants that.
pub(super) fn check_hosted(tools: &Tools, settings: &TurnSettings) -> Result<(), ApiError> {
    match (settings.unsupported_tools, tools.hosted.first()) {
        (UnsupportedTools::Refuse, Some(tool)) => Err(tool.refusal()),
        (UnsupportedTools::Refuse, None) | (UnsupportedTools::Ignore, _) => Ok(()),
    }
}

// === impl OfferedTools ===

impl OfferedTools {
    pub(super) fn new(tools: Tools, choice: ToolChoice) -> Self {
        let Tools { declared: mut tools, hosted } = tools;
        let words = match choice {
            ToolChoice::Auto => None,
            ToolChoice::None => {
                tools.clear();
                None
            }
            ToolChoice::Required => Some(CALL_ONE.to_owned()),
            ToolChoice::Named(chosen) => {
                tools.retain(|tool| chosen.identity() == tool.identity());
                // Not by its name: Codex may know it under another one.
                Some(CALL_IT.to_owned())
            }
            ToolChoice::Allowed { tools: allowed, mode } => {
                let allowed: HashSet<_> = allowed.iter().map(ChosenTool::identity).collect();
                tools.retain(|tool| allowed.contains(&tool.identity()));
                (mode == AllowedMode::Required).then(|| CALL_ONE.to_owned())
            }
        };
        let mut ignored = Vec::new();
        for name in hosted.iter().map(HostedTool::ignored_name) {
            if ignored.len() < MOST_NAMED && !ignored.contains(&name) {
                ignored.push(name);
            }
        }
        if tools.iter().any(|tool| matches!(tool.kind, ToolKind::Function { strict: true, .. })) {
            ignored.push("function.strict".to_owned());
        }
        let (mut schemas, mut others) = (Vec::new(), Vec::new());
        let offered = |tool| offered(tool, &mut schemas, &mut others);
        Self {
            tools: tools.into_iter().map(offered).collect(),
            declared: DeclaredTools::new(schemas, others),
            request: words.map(|words| HistoryItem::text(Role::Developer, words)),
            ignored,
        }
    }
}

/// Most tools that are named as left out: they stand in a header.
const MOST_NAMED: usize = 32;

const CALL_ONE: &str = "You must call at least one of your tools in your next answer.";

const CALL_IT: &str = "You must call the one tool that you have in your next answer.";

/// A tool as Codex takes it; `schemas` and `others` get it as the client declares it.
fn offered(
    tool: wire::Tool,
    schemas: &mut Vec<(String, Value)>,
    others: &mut Vec<(String, OtherTool)>,
) -> Tool {
    let (namespace, namespace_description) = match tool.namespace {
        Some(namespace) => (Some(namespace.name.clone()), Arc::clone(&namespace.description)),
        None => (None, Arc::default()),
    };
    let name = ToolName { namespace, name: tool.name };
    let is_custom = matches!(tool.kind, ToolKind::Custom { .. });
    if is_custom || name.namespace.is_some() {
        others.push((name.qualified(), OtherTool { name: name.clone(), is_custom }));
    }
    let (input, remark, schema) = match tool.kind {
        ToolKind::Function { parameters, .. } => {
            // What Codex drops from the schema goes into the description.
            let ToolSchema { parameters: taken, remark } = ToolSchema::new(&parameters);
            (ToolInput::Json(taken), remark, Value::Object(parameters))
        }
        ToolKind::Custom { grammar } => {
            let schema = json!({"type": "object", "properties": {"input": {"type": "string"}}});
            (ToolInput::Text, Some(input_remark(grammar.as_ref())), schema)
        }
    };
    schemas.push((name.qualified(), schema));
    let description = match remark {
        None => tool.description,
        Some(remark) if tool.description.is_empty() => remark,
        Some(remark) => format!("{} {remark}", tool.description),
    };
    Tool { name, namespace_description, description, input }
}

/// Describes the input of a custom tool to the model, which nothing holds to it.
fn input_remark(grammar: Option<&Grammar>) -> String {
    match grammar {
        None => "The parameter `input` is free text, passed on as it is.".to_owned(),
        Some(Grammar { syntax, definition }) => format!(
            "The parameter `input` is free text, passed on as it is. It must follow this {syntax} \
             grammar:\n{definition}"
        ),
    }
}

// === impl Namespaces ===

impl Namespaces {
    pub(super) fn of(tools: &[wire::Tool]) -> Self {
        let mut namespaces = HashMap::new();
        if tools.iter().all(|tool| tool.namespace.is_none()) {
            return Self(namespaces);
        }
        for tool in tools {
            let namespace = tool.namespace_name().map(str::to_owned);
            namespaces
                .entry(tool.name.clone())
                // Of several tools none is meant more than another.
                .and_modify(|known| *known = None)
                .or_insert(namespace);
        }
        Self(namespaces)
    }

    /// The tool of a call.
    pub(super) fn tool(&self, namespace: Option<String>, name: String) -> ToolName {
        let namespace = namespace.or_else(|| self.0.get(&name).cloned().flatten());
        ToolName { namespace, name }
    }
}
