//! The scripted model in a process of its own, so that its work is not counted as ours.
//!
//! That process is this benchmark, started once more: nothing else has to be built for it.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};

use scripted_model::ScriptedModel;

/// Makes this program the model instead of the benchmark.
pub(crate) const ARGUMENT: &str = "--serve-model";

/// A running model; dropping it ends the process.
pub(crate) struct ModelProcess {
    process: Child,
    base_url: String,
}

// === impl ModelProcess ===

impl ModelProcess {
    pub(crate) fn start() -> Self {
        let this = std::env::current_exe().expect("no path of this program");
        let mut process = Command::new(this)
            .arg(ARGUMENT)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the model does not start");
        let mut base_url = String::new();
        let output = process.stdout.take().expect("no output of the model");
        BufReader::new(output).read_line(&mut base_url).expect("the model says nothing");
        Self { process, base_url: base_url.trim_end().to_owned() }
    }

    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }
}

impl Drop for ModelProcess {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Serves until the benchmark closes our input, which it does even if it is killed.
pub(crate) async fn serve() {
    let model = ScriptedModel::start().await.expect("no port for the model");
    println!("{}", model.base_url());
    let end = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()));
    let _ = end.await;
}
