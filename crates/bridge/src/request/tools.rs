//! The tools that the model is offered, and what it is told about them.

use std::collections::HashSet;

use codex_app_server::{HistoryItem, Role, Tool};
use openai_wire::chat::{AllowedMode, FunctionTool, ToolChoice};
use serde_json::Value;

use super::schema::ToolSchema;
use crate::policy::DeclaredTools;

/// The tools of a turn.
pub(super) struct OfferedTools {
    /// As Codex takes them.
    pub(super) tools: Vec<Tool>,
    /// The same as the client declares them.
    pub(super) declared: DeclaredTools,
    /// Codex always lets the model choose, so a wish is said in words.
    pub(super) request: Option<HistoryItem>,
    /// What was asked for and has no effect.
    pub(super) ignored: Vec<&'static str>,
}

// === impl OfferedTools ===

impl OfferedTools {
    pub(super) fn new(mut tools: Vec<FunctionTool>, choice: ToolChoice) -> Self {
        let words = match choice {
            ToolChoice::Auto => None,
            ToolChoice::None => {
                tools.clear();
                None
            }
            ToolChoice::Required => Some(CALL_ONE.to_owned()),
            ToolChoice::Named(name) => {
                tools.retain(|tool| tool.name == name);
                // Not by its name: Codex may know it under another one.
                Some(CALL_IT.to_owned())
            }
            ToolChoice::Allowed { names, mode } => {
                let names: HashSet<_> = names.into_iter().collect();
                tools.retain(|tool| names.contains(&tool.name));
                (mode == AllowedMode::Required).then(|| CALL_ONE.to_owned())
            }
        };
        let strict = tools.iter().any(|tool| tool.strict);
        let (tools, declared): (Vec<_>, Vec<_>) = tools.into_iter().map(offered).unzip();
        Self {
            tools,
            declared: declared.into_iter().collect(),
            request: words.map(|words| HistoryItem::text(Role::Developer, words)),
            ignored: if strict { vec!["function.strict"] } else { Vec::new() },
        }
    }
}

const CALL_ONE: &str = "You must call at least one of your tools in your next answer.";

const CALL_IT: &str = "You must call the one tool that you have in your next answer.";

/// A tool as Codex takes it, and as the client declares it. What Codex drops from the schema goes into
/// the description.
fn offered(tool: FunctionTool) -> (Tool, (String, Value)) {
    let ToolSchema { parameters, remark } = ToolSchema::new(&tool.parameters);
    let description = match remark {
        None => tool.description,
        Some(remark) if tool.description.is_empty() => remark,
        Some(remark) => format!("{} {remark}", tool.description),
    };
    let declared = (tool.name.clone(), Value::Object(tool.parameters));
    (Tool { name: tool.name, description, parameters }, declared)
}
