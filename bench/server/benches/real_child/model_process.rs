//! The scripted model in a process of its own, so that its work is not counted as ours.

use scripted_model::ScriptedModel;

use crate::own_process::{OwnProcess, until_input_closes};

/// Makes this program the model instead of the benchmark.
pub(crate) const ARGUMENT: &str = "--serve-model";

/// A running model; dropping it ends the process.
pub(crate) struct ModelProcess {
    _process: OwnProcess,
    base_url: String,
}

// === impl ModelProcess ===

impl ModelProcess {
    pub(crate) fn start() -> Self {
        let (process, base_url) = OwnProcess::start(ARGUMENT);
        Self { _process: process, base_url }
    }

    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }
}

/// Serves until the benchmark ends.
pub(crate) async fn serve() {
    let model = ScriptedModel::start().await.expect("no port for the model");
    println!("{}", model.base_url());
    until_input_closes().await;
}
