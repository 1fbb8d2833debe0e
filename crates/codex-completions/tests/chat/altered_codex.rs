//! The real Codex, with a filter on its way in or out: what it never does by itself.

use tempfile::TempDir;
use testkit::{codex_binary, write_altered_codex};

/// A Codex whose lines go through `sed`.
pub(crate) struct AlteredCodex {
    path: String,
    folder: TempDir,
}

// === impl AlteredCodex ===

impl AlteredCodex {
    /// Each command of `sed` is for lines that say a part of a text.
    pub(crate) async fn new(commands: &[&str]) -> Self {
        let filters: Vec<_> = commands
            .iter()
            .map(|command| format!("-e '/^{{\"method\":\"item\\/agentMessage\\/delta\"/{command}'"))
            .collect();
        Self::between("-e ''", &filters.join(" ")).await
    }

    /// What it is asked goes through a command of `sed`.
    pub(crate) async fn asked(command: &str) -> Self {
        Self::between(&format!("-e '{command}'"), "-e ''").await
    }

    async fn between(input: &str, output: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (real, heard) = (codex_binary().await, folder.path().join("heard"));
        let pipeline =
            format!("tee -a '{}' | sed -u {input} | CODEX | sed -u {output}", heard.display());
        let path = folder.path().join("codex");
        write_altered_codex(&path, real.path(), &pipeline);
        Self { path: path.to_str().unwrap().to_owned(), folder }
    }

    /// `CODEX_BIN`
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Everything that was said to it.
    pub(crate) fn heard(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("heard")).unwrap_or_default()
    }
}
