//! Our server as a process of its own, and what is behind it.

use std::path::Path;
use std::process::Command;
use std::{fs, io};

use scripted_model::ScriptedModel;
use testkit::server_process::{ServerFolder, ServerProcess, Target};

/// The key of the clients under fire.
const KEY: &str = "key-of-those-under-fire";

/// Settings that differ from the defaults, and why.
pub(crate) const SETTINGS: [(&str, &str, &str); 7] = [
    ("PROXY_LOG_FORMAT", "json", "the log is read"),
    ("PROXY_MAX_BODY_BYTES", "4194304", "bodies that are too large are sent often"),
    ("PROXY_MAX_STREAM_BUFFER_BYTES", "262144", "slow readers are to be cut"),
    ("PROXY_HEADER_TIMEOUT_MS", "2000", "heads that never end are sent often"),
    ("PROXY_BODY_TIMEOUT_MS", "3000", "so are bodies"),
    ("PROXY_IDLE_TIMEOUT_MS", "8000", "a child that hangs is to be noticed by its turns"),
    ("PROXY_QUEUE_WAIT_MS", "5000", "some shall wait in vain"),
];

/// What stands behind the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The scripted app-server.
    Scripted,
    /// The real Codex, and the scripted model as its upstream.
    Real,
}

/// A running server.
pub(crate) struct Server {
    process: ServerProcess,
    pub(crate) pid: u32,
    pub(crate) target: Target,
    /// A key for somebody who behaves.
    pub(crate) probe_key: String,
    _model: Option<ScriptedModel>,
    folder: ServerFolder,
}

// === impl Kind ===

impl Kind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Scripted => "scripted",
            Self::Real => "real",
        }
    }
}

// === impl Server ===

impl Server {
    /// Starts it, and waits until it takes turns.
    pub(crate) async fn start(
        binary: &Path,
        codex: &Path,
        kind: Kind,
        turns: u32,
    ) -> io::Result<Self> {
        let (upstream, model) = match kind {
            // Nobody is there: the scripted app-server asks no upstream.
            Kind::Scripted => ("http://127.0.0.1:9/v1".to_owned(), None),
            Kind::Real => {
                let model = ScriptedModel::start().await?;
                (model.base_url(), Some(model))
            }
        };
        let folder = ServerFolder::new()?;
        let probe_key = folder.add_key(binary, "probe")?;
        allow_turns(&folder, turns)?;
        let mut settings = SETTINGS.map(|(name, value, _)| (name, value)).to_vec();
        settings.extend([("PROXY_API_KEY", KEY), ("PROXY_UPSTREAM_BASE_URL", &upstream)]);
        if kind == Kind::Scripted {
            // It asks no model, so that no canary passes.
            settings.push(("PROXY_ALLOW_UNTESTED_CODEX", "true"));
        }
        let mut process = folder.serve(Command::new(binary), 0, codex, &settings)?;
        let address = process.ready().await?;
        let model_name = match kind {
            Kind::Scripted => "scripted",
            Kind::Real => "gpt-5.5",
        };
        let (pid, target) = (process.process.id(), Target::new(address, KEY, model_name));
        Ok(Self { process, pid, target, probe_key, _model: model, folder })
    }

    /// Has it run so many turns at once from now on.
    pub(crate) fn allow_turns(&self, turns: u32) -> io::Result<()> {
        allow_turns(&self.folder, turns)
    }

    /// Everything that it has written to standard error.
    pub(crate) fn log(&self) -> io::Result<String> {
        self.folder.log()
    }

    /// Asks it to stop, and says what is wrong with how it does.
    pub(crate) async fn stop(self) -> Vec<String> {
        self.process.stop().await
    }
}

/// In the file, because it changes while the server runs.
fn allow_turns(folder: &ServerFolder, turns: u32) -> io::Result<()> {
    let new = folder.data().join("config.toml.new");
    fs::write(&new, format!("max_concurrent_turns = {turns}\n"))?;
    fs::rename(new, folder.data().join("config.toml"))
}
