//! The model catalog of the installed Codex, with everything of Codex's own taken out.

use serde_json::{Value, json};

use crate::codex::Codex;
use crate::home::CodexHome;

/// Slug of the built-in model that needs no account.
pub const DEMO_MODEL: &str = "demo";

/// Slug of the entry for all models that have none: every slug begins with it.
pub(crate) const ANY_OTHER: &str = "";

/// Larger than any input: Codex never shortens a history or a tool's output by itself.
const UNLIMITED_TOKENS: u64 = 1_000_000_000;

/// The catalog could not be read.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// The binary did not print it.
    #[error("`codex debug models --bundled` failed: {0}")]
    Command(String),
    /// It is not what we know.
    #[error("the model catalog of this Codex is not understood: {0}")]
    Shape(&'static str),
}

/// How the models of a catalog are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// As each of them ships.
    AsShipped,
    /// As Codex always did, so that `parallel_tool_calls` is not switched off.
    Classic,
}

/// The patched catalog of `codex`, as JSON.
pub(crate) async fn patched(
    codex: &dyn Codex,
    home: &CodexHome,
    dialect: Dialect,
) -> Result<String, CatalogError> {
    let bundled = codex.bundled_models(home).await?;
    let bundled =
        serde_json::from_slice(&bundled).map_err(|_| CatalogError::Shape("it is not JSON"))?;
    patch(bundled, dialect).map(|catalog| catalog.to_string())
}

/// Makes the client's tools native and removes Codex's own from every model, and adds `demo`.
fn patch(mut catalog: Value, dialect: Dialect) -> Result<Value, CatalogError> {
    let models = catalog
        .get_mut("models")
        .and_then(Value::as_array_mut)
        .ok_or(CatalogError::Shape("no models"))?;
    let has_tiers = |tiers: &&Value| tiers.as_array().is_some_and(|tiers| !tiers.is_empty());
    let tiers =
        models.iter().find_map(|model| model.get("service_tiers").filter(has_tiers)).cloned();
    for model in models.iter_mut() {
        overwrite(model, quiet_fields());
        // Codex drops a tier that a model does not list; the upstream says whether it has it.
        if let Some(tiers) = &tiers {
            overwrite(model, json!({"service_tiers": tiers}));
        }
        if let Some(fields) = model.as_object_mut() {
            fields.remove("multi_agent_version");
        }
        match dialect {
            Dialect::AsShipped => {}
            Dialect::Classic => overwrite(model, json!({"use_responses_lite": false})),
        }
    }
    let mut demo = models.first().cloned().ok_or(CatalogError::Shape("no models"))?;
    let demo_fields = json!({
        "slug": DEMO_MODEL,
        "display_name": "Demo",
        "description": "Built-in scripted model: no account, no network.",
        "visibility": "list",
        "priority": 1_000,
        "upgrade": null,
        "availability_nux": null,
        "use_responses_lite": false,
    });
    overwrite(&mut demo, demo_fields);
    models.push(any_other(&demo));
    models.push(demo);
    Ok(catalog)
}

/// What holds for models that nobody knows, of an upstream of one's own. Codex takes the entry whose slug a
/// model's begins with. Without one it assumes a small window, and replaces long histories by summaries.
fn any_other(model: &Value) -> Value {
    let mut other = model.clone();
    let fields = json!({
        "slug": ANY_OTHER,
        "display_name": "Any other",
        "description": "",
        "visibility": "hide",
        // As Codex does with a model that it does not know: nothing is asked for that nobody wants.
        "default_reasoning_level": null,
        "supported_reasoning_levels": [],
        "supports_reasoning_effort_updates": false,
        "default_reasoning_summary": "auto",
    });
    overwrite(&mut other, fields);
    other
}

/// What makes a model quiet, whatever it ships with.
fn quiet_fields() -> Value {
    json!({
        // Most models ship as code-mode-only, in which the client's tools are no functions.
        "tool_mode": "direct",
        "shell_type": "disabled",
        "apply_patch_tool_type": null,
        "supports_search_tool": false,
        "experimental_supported_tools": [],
        "base_instructions": "",
        "model_messages": null,
        // Sent where it is asked for, and nowhere else.
        "support_verbosity": true,
        "default_verbosity": null,
        "include_skills_usage_instructions": false,
        "include_plugin_usage_instructions": false,
        "include_apps_usage_instructions": false,
        // By default a tool's output is cut to 10,000 tokens.
        "truncation_policy": {"mode": "bytes", "limit": UNLIMITED_TOKENS},
        // Otherwise Codex replaces a long history by a summary of its own.
        "context_window": UNLIMITED_TOKENS,
        "max_context_window": UNLIMITED_TOKENS,
        "auto_compact_token_limit": UNLIMITED_TOKENS / 10 * 9,
        "effective_context_window_percent": 100,
    })
}

fn overwrite(model: &mut Value, fields: Value) {
    if let (Value::Object(model), Value::Object(fields)) = (model, fields) {
        model.extend(fields);
    }
}

#[cfg(test)]
mod tests;
