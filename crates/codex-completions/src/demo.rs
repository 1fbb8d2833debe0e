//! The model `demo`: built in, and for nobody but our own Codex.

use std::error::Error;

use codex_app_server::{DEMO_MODEL, HistoryItem, Role, Tool, TurnRequest, Upstream};
use scripted_model::ScriptedModel;
use serde_json::json;

/// The running model. It listens like any server, so it has a key of its own, which Codex is told.
pub(crate) struct Demo {
    model: ScriptedModel,
    key: String,
}

// === impl Demo ===

impl Demo {
    pub(crate) async fn start() -> Result<Self, Box<dyn Error>> {
        let key = configuration::random_key()?;
        Ok(Self { model: ScriptedModel::demo(&key).await?, key })
    }

    /// Where it is asked.
    pub(crate) fn upstream(&self) -> Upstream {
        Upstream { base_url: self.model.base_url(), api_key: Some(self.key.clone()) }
    }

    /// A turn with one call, whose arguments are written in several pieces.
    pub(crate) fn log_check(&self) -> TurnRequest {
        TurnRequest {
            model: DEMO_MODEL.to_owned(),
            history: vec![HistoryItem::text(Role::User, "[[args:bytes=120,piece=40]]")],
            tools: vec![Tool {
                name: "check".to_owned(),
                description: String::new(),
                parameters: json!({"type": "object"}).into(),
            }],
            upstream: Some(self.upstream()),
            ..TurnRequest::default()
        }
    }
}
