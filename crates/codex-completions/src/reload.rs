//! Settings that change while the server runs.

use std::error::Error;
use std::io::IsTerminal as _;
use std::sync::Arc;

use configuration::{Inputs, Keys, Loaded, Reloaded, Warning};
use server::{Access, Api, IdleTimeout, KeyReload};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use crate::app;
use crate::console;
use crate::file_watch::FileWatch;
use crate::logging::Logs;
use crate::service_manager::ServiceManager;

/// Reads the settings again when one of their files has changed, or somebody asks for it.
pub(crate) struct Reload {
    inputs: Inputs,
    running: Loaded,
    keys: Keys,
    in_use: InUse,
    /// Names of settings that wait for the next start.
    waiting: Vec<&'static str>,
    files: FileWatch,
    hangups: Signal,
    /// The server asks for the keys as they are on disk.
    requests: mpsc::Receiver<KeyReload>,
    /// Whether we were started on a terminal.
    on_terminal: bool,
}

/// The terminal that we were started on was closed.
pub(crate) struct TerminalGone;

/// Who uses the settings.
pub(crate) struct InUse {
    pub(crate) access: Access,
    pub(crate) idle_timeout: IdleTimeout,
    pub(crate) api: Api,
    pub(crate) logs: Logs,
    pub(crate) service_manager: Arc<ServiceManager>,
}

// === impl Reload ===

impl Reload {
    pub(crate) fn new(
        inputs: Inputs,
        running: Loaded,
        keys: Keys,
        in_use: InUse,
    ) -> std::io::Result<Self> {
        Ok(Self {
            inputs,
            running,
            keys,
            requests: in_use.access.reloads(),
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
        // For what has changed since the settings were loaded, and before we are ready: a service manager would
        // take it for a reload.
        let _ = self.read_again();
        loop {
            let request = tokio::select! {
                _ = self.hangups.recv() => {
                    if self.on_terminal && !is_on_terminal() {
                        return TerminalGone;
                    }
                    tracing::info!("reading the settings again");
                    None
                }
                () = self.files.changed() => None,
                Some(request) = self.requests.recv() => Some(request),
            };
            let outcome = self.read_again();
            if let Some(request) = request {
                // The caller may have stopped waiting.
                let _ = request.send(outcome);
            }
        }
    }

    /// Reads the files as they are now, which the watch then takes for seen.
    fn read_again(&mut self) -> Result<(), String> {
        self.files.look();
        self.reload()
    }

    fn watch(&mut self) {
        let mut files = self.running.sources();
        files.extend(Keys::files(&self.running.settings));
        self.files.watch(files);
    }

    /// The keys are taken apart from the settings: one that is revoked must go, whatever else is wrong.
    ///
    /// # Errors
    /// If a key may be older than what is on disk; the settings may name one too.
    fn reload(&mut self) -> Result<(), String> {
        let service_manager = Arc::clone(&self.in_use.service_manager);
        let mut outcome = Ok(());
        service_manager.reload(|| {
            if let Err(error) = self.take_settings() {
                tracing::error!(%error, "the settings stay as they were");
                outcome = Err(error.to_string());
            }
            if let Err(error) = self.take_keys() {
                tracing::error!(%error, "the keys stay as they were");
                outcome = Err(error.to_string());
            }
        });
        self.watch();
        outcome
    }

    /// Everything that can fail comes first, so that either all settings change or none does.
    fn take_settings(&mut self) -> Result<(), Box<dyn Error>> {
        let Reloaded { loaded, changed, at_next_start } =
            configuration::reload(&self.inputs, &self.running)?;
        let settings = &loaded.settings;
        let access = app::access_settings(settings, &self.keys)?;
        self.in_use.access.change(access);
        self.in_use.idle_timeout.change(settings.turn_options().limits.idle_timeout);
        self.in_use.api.change(app::api_settings(&loaded));
        self.in_use.logs.change(&settings.log);
        warn(&loaded.warnings, &self.running.warnings);
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

    fn take_keys(&mut self) -> Result<(), Box<dyn Error>> {
        let settings = &self.running.settings;
        let keys = Keys::load(settings)?;
        self.in_use.access.change(app::access_settings(settings, &keys)?);
        warn(&keys.warnings, &self.keys.warnings);
        if keys.keys != self.keys.keys {
            let names: Vec<_> = keys.keys.iter().map(|key| key.name.as_str()).collect();
            tracing::info!(accepted = %names.join(" "), "keys have changed");
        }
        self.keys = keys;
        Ok(())
    }
}

/// Nobody is warned of the same thing twice.
fn warn(now: &[Warning], before: &[Warning]) {
    for warning in now.iter().filter(|warning| !before.contains(warning)) {
        tracing::warn!("{warning}");
    }
}

fn is_on_terminal() -> bool {
    std::io::stdin().is_terminal() || console::stderr().is_terminal()
}
