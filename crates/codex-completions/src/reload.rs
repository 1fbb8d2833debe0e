//! Settings that change while the server runs.

use std::error::Error;
use std::io::IsTerminal as _;

use configuration::{Inputs, Keys, Loaded, Reloaded};
use server::{Access, Api};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::app;
use crate::file_watch::FileWatch;
use crate::logging::Logs;

/// Reads the settings again when one of their files has changed, or somebody asks for it.
pub(crate) struct Reload {
    inputs: Inputs,
    running: Loaded,
    in_use: InUse,
    /// Names of settings that wait for the next start.
    waiting: Vec<&'static str>,
    files: FileWatch,
    hangups: Signal,
    /// Whether we were started on a terminal.
    on_terminal: bool,
}

/// The terminal that we were started on was closed.
pub(crate) struct TerminalGone;

/// Who uses the settings.
pub(crate) struct InUse {
    pub(crate) access: Access,
    pub(crate) api: Api,
    pub(crate) logs: Logs,
}

// === impl Reload ===

impl Reload {
    pub(crate) fn new(inputs: Inputs, running: Loaded, in_use: InUse) -> std::io::Result<Self> {
        Ok(Self {
            inputs,
            running,
            in_use,
            waiting: Vec::new(),
            files: FileWatch::new(),
            hangups: signal(SignalKind::hangup())?,
            on_terminal: is_on_terminal(),
        })
    }

    /// Until nobody can ask any more.
    ///
    /// SIGHUP is also how a terminal says that it is closed. Then it means what it always meant.
    pub(crate) async fn run(&mut self) -> TerminalGone {
        self.watch();
        loop {
            tokio::select! {
                _ = self.hangups.recv() => {
                    if self.on_terminal && !is_on_terminal() {
                        return TerminalGone;
                    }
                    tracing::info!("reading the settings again");
                }
                () = self.files.changed() => {}
            }
            self.reload();
        }
    }

    fn watch(&mut self) {
        let mut files = self.running.sources();
        files.extend(Keys::files(&self.running.settings));
        self.files.watch(files);
    }

    fn reload(&mut self) {
        match self.read() {
            Ok(()) => self.watch(),
            Err(error) => tracing::error!(%error, "the settings stay as they were"),
        }
    }

    /// Everything that can fail comes first, so that either all changes or nothing does.
    fn read(&mut self) -> Result<(), Box<dyn Error>> {
        let Reloaded { loaded, changed, at_next_start } =
            configuration::reload(&self.inputs, &self.running)?;
        let settings = &loaded.settings;
        let keys = Keys::load(settings)?;
        let access = app::access_settings(settings, &keys)?;
        let InUse { access: gate, api, logs } = &self.in_use;
        gate.change(access);
        api.change(app::api_settings(settings));
        logs.change(&settings.log);
        let new = loaded.warnings.iter().filter(|new| !self.running.warnings.contains(new));
        for warning in new.chain(&keys.warnings) {
            tracing::warn!("{warning}");
        }
        if !changed.is_empty() {
            tracing::info!(changed = %changed.join(" "), "settings have changed");
        }
        if !at_next_start.is_empty() && at_next_start != self.waiting {
            let names = at_next_start.join(" ");
            tracing::warn!(%names, "settings have changed that count at the next start");
        }
        self.waiting = at_next_start;
        self.running = loaded;
        Ok(())
    }
}

fn is_on_terminal() -> bool {
    std::io::stdin().is_terminal() || std::io::stderr().is_terminal()
}
