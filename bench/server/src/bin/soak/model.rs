//! The scripted model in a process of its own, so that its work is not counted as ours.

use std::io;
use std::process::Stdio;

use scripted_model::ScriptedModel;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// A running model; dropping it ends the process.
pub(crate) struct ModelProcess {
    _process: Child,
    pub(crate) base_url: String,
}

// === impl ModelProcess ===

impl ModelProcess {
    pub(crate) async fn start() -> io::Result<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .arg("--serve-model")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let output = process.stdout.take().ok_or_else(|| io::Error::other("no output"))?;
        let line = BufReader::new(output).lines().next_line().await?;
        let base_url = line.ok_or_else(|| io::Error::other("the model does not start"))?;
        Ok(Self { _process: process, base_url })
    }
}

/// Serves until whoever started it is gone.
pub(crate) async fn serve() -> io::Result<()> {
    let model = ScriptedModel::start().await?;
    println!("{}", model.base_url());
    let until_closed = || io::copy(&mut io::stdin(), &mut io::sink());
    tokio::task::spawn_blocking(until_closed).await??;
    Ok(())
}
