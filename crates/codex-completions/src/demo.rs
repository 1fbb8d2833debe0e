//! The model `demo`: built in, and for nobody but our own Codex.

use std::error::Error;

use codex_app_server::Upstream;
use scripted_model::ScriptedModel;

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
}
