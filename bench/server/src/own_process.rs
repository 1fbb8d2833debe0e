//! A program that measures, started once more as something else, so that the other's work is not counted as
//! its own, and nothing else has to be built for it.

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};

use scripted_model::ScriptedModel;
use testkit::process::KilledOnDrop;

/// Makes a program the scripted model instead: it calls [`serve_model`].
pub const MODEL_ARGUMENT: &str = "--serve-model";

/// A running copy of this program; dropping it ends the process.
pub struct OwnProcess {
    _process: KilledOnDrop,
    /// The first line of its output: where it listens.
    pub address: String,
}

// === impl OwnProcess ===

impl OwnProcess {
    /// Starts it with `argument`.
    ///
    /// # Errors
    /// If it does not start.
    pub fn start(argument: &str) -> io::Result<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .arg(argument)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = process.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        Ok(Self { _process: KilledOnDrop(process), address: line.trim_end().to_owned() })
    }

    /// Starts the scripted model; its address is a base URL.
    ///
    /// # Errors
    /// If it does not start.
    pub fn model() -> io::Result<Self> {
        Self::start(MODEL_ARGUMENT)
    }
}

/// Is the scripted model until the input closes.
///
/// # Errors
/// If there is no port for it.
#[allow(clippy::print_stdout, reason = "its reader is the program that started it")]
pub async fn serve_model() -> io::Result<()> {
    let model = ScriptedModel::start().await?;
    println!("{}", model.base_url());
    until_input_closes().await;
    Ok(())
}

/// Waits, in the copy, until the program that started it closes our input, which it does even if it is killed.
pub async fn until_input_closes() {
    let end = tokio::task::spawn_blocking(|| io::stdin().read_to_end(&mut Vec::new()));
    let _ = end.await;
}
