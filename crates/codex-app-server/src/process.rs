//! The process of an installed Codex: in a group of its own, and gone with us.

use std::io;
use std::process::{ExitStatus, Stdio};

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessGroup};
use tokio::process::Command;

use crate::codex::{Pending, Pipes, Process};
use crate::guard::Guard;

/// SIGTERM; the wrapper takes the bare number.
const TERMINATE: i32 = 15;

/// Dropping it kills its whole group.
struct ProcessOfGroup {
    process: Box<dyn ChildWrapper>,
    /// Does the same if we cannot.
    _guard: Option<Guard>,
}

/// Starts it.
pub(crate) fn spawn(mut command: Command) -> io::Result<(Box<dyn Process>, Pipes)> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process =
        CommandWrap::from(command).wrap(ProcessGroup::leader()).wrap(KillOnDrop).spawn()?;
    let missing = || io::Error::other("a pipe of the child is missing");
    let pipes = Pipes {
        stdin: Box::new(process.stdin().take().ok_or_else(missing)?),
        stdout: Box::new(process.stdout().take().ok_or_else(missing)?),
        stderr: Box::new(process.stderr().take().ok_or_else(missing)?),
    };
    let guard = process.id().map(Guard::over);
    Ok((Box::new(ProcessOfGroup { process, _guard: guard }), pipes))
}

// === impl ProcessOfGroup ===

impl Process for ProcessOfGroup {
    fn id(&self) -> Option<u32> {
        self.process.id()
    }

    fn wait(&mut self) -> Pending<'_, io::Result<ExitStatus>> {
        self.process.wait()
    }

    fn terminate(&mut self) {
        let _ = self.process.signal(TERMINATE);
    }

    fn kill(&mut self) {
        // It may have gone already.
        let _ = self.process.start_kill();
    }
}

impl Drop for ProcessOfGroup {
    /// The process is killed by its wrapper, which knows nothing of the group.
    fn drop(&mut self) {
        self.kill();
    }
}
