//! A benchmark that starts itself once more, as something else: nothing else has to be built for it.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};

use testkit::process::KilledOnDrop;

/// A running copy of this program; dropping it ends the process.
pub(crate) struct OwnProcess {
    _process: KilledOnDrop,
}

// === impl OwnProcess ===

impl OwnProcess {
    /// Starts it with `argument`, and gives the first line that it says.
    pub(crate) fn start(argument: &str) -> (Self, String) {
        let this = std::env::current_exe().expect("no path of this program");
        let mut process = Command::new(this)
            .arg(argument)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program does not start again");
        let mut line = String::new();
        let output = process.stdout.take().expect("no output of the copy");
        BufReader::new(output).read_line(&mut line).expect("the copy says nothing");
        (Self { _process: KilledOnDrop(process) }, line.trim_end().to_owned())
    }
}

/// Waits, in the copy, until the benchmark closes our input, which it does even if it is killed.
pub(crate) async fn until_input_closes() {
    let end = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()));
    let _ = end.await;
}
