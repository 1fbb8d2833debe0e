//! A person at a terminal.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;
use testkit::{ScriptedIssuer, codex_binary};

/// A fresh user: an empty data folder, and nothing of ours in the environment.
pub(crate) struct User {
    pub(crate) folder: TempDir,
    pub(crate) codex: PathBuf,
}

impl User {
    pub(crate) async fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), codex: codex_binary().await.path().to_owned() }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.prepare(Command::new(env!("CARGO_BIN_EXE_codex-completions")));
        command.args(arguments);
        command
    }

    /// Any program, in this user's environment.
    pub(crate) fn prepare(&self, mut command: Command) -> Command {
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            if ["PROXY_", "WORKER_", "CODEX_"].iter().any(|start| name.starts_with(start)) {
                command.env_remove(name);
            }
        }
        command
            .env_remove("PORT")
            .env("PROXY_DATA_DIR", self.folder.path())
            .env("CODEX_BIN", &self.codex);
        command
    }

    /// The same where logins are issued by `issuer`.
    pub(crate) fn command_at(&self, issuer: &ScriptedIssuer, arguments: &[&str]) -> Command {
        let mut command = self.command(arguments);
        command.envs(issuer.environment()).env("PROXY_CHATGPT_BASE_URL", issuer.chatgpt_base_url());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    pub(crate) fn type_in(&self, arguments: &[&str], words: &str) -> Output {
        let mut command = self.command(arguments);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        process.stdin.take().unwrap().write_all(words.as_bytes()).unwrap();
        process.wait_with_output().unwrap()
    }
}

pub(crate) fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
