//! `scripted-app-server`: speaks `codex app-server`'s protocol over its pipes, without a model.
//!
//! It answers as fast as it reads, so that what is measured over it is the client alone. A mark
//! in the last injected item chooses the turn: `[[deltas:66]]` is a text in so many deltas,
//! `[[calls:3]]` so many tool calls, `[[block:10000]]` a call in the text whose argument comes in so
//! many deltas, `[[paced:250]]` a text in so many deltas every 20 ms, and `[[marked:…]]`
//! an answer in which every piece says whose it is; without a mark it is a text in one delta. Messages have the fields of Codex 0.166 that a client reads.
//! Notifications that the client opts out of are never sent.
//!
//! Calls wait for their answers, and then the turn goes on with a text that is what they say.
//!
//! It also goes wrong in every way that a child can: in a turn by a mark such as `[[half-line]]`,
//! at a start by `SCRIPTED_FAULTS` and `SCRIPTED_STATE`.

mod fault;
mod held;
mod marked;
mod pace;
mod play;
mod scenario;
mod server;
mod start;

use std::io::{self, Write as _};
use std::process::ExitCode;

use fault::Deed;
use server::Server;
use start::StartFault;

const VERSION: &str = "codex-cli 0.166.0\n";
const CATALOG: &str = "{\"models\":[{\"slug\":\"scripted\"}]}\n";

#[expect(clippy::disallowed_methods, reason = "its reader is a program")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["--version"] => io::stdout().write_all(VERSION.as_bytes()),
        ["debug", "models", "--bundled"] => io::stdout().write_all(CATALOG.as_bytes()),
        ["app-server"] => app_server(),
        _ => Err(io::Error::other("usage: --version | debug models --bundled | app-server")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // With stderr gone as well there is nobody left to tell.
            let _ = writeln!(io::stderr(), "scripted-app-server: {error}");
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "its reader is a program")]
fn app_server() -> io::Result<()> {
    // Texts that are said slowly are written by a thread of their own.
    let (input, output) = (io::stdin().lock(), io::stdout());
    match start::fault_of_this_start()? {
        None => Server::default().serve(input, output),
        Some(StartFault::Deaf) => Server::deaf_after(4).serve(input, output),
        Some(StartFault::Exit) => Deed::Exit.perform(output),
        Some(StartFault::Complain) => Deed::Complain.perform(output),
        Some(StartFault::Mute) => Deed::Hang.perform(output),
        Some(StartFault::Babble) => Deed::Talk.perform(output),
    }
}
