//! What a service manager such as systemd is told, if one has started us.

use std::sync::atomic::{AtomicBool, Ordering};

use sd_notify::NotifyState;

/// Whoever has started us and wants to know how we get on; perhaps nobody.
#[derive(Debug, Default)]
pub(crate) struct ServiceManager {
    /// Whether it knows that we are ready.
    told_ready: AtomicBool,
}

// === impl ServiceManager ===

impl ServiceManager {
    /// Turns can be served.
    pub(crate) fn ready(&self) {
        self.told_ready.store(true, Ordering::Relaxed);
        tell(&[NotifyState::Ready]);
    }

    /// The settings are read again, which takes no time that anybody would wait for.
    pub(crate) fn reload<T>(&self, reload: impl FnOnce() -> T) -> T {
        let told_ready = self.told_ready.load(Ordering::Relaxed);
        if told_ready && let Ok(now) = NotifyState::monotonic_usec_now() {
            tell(&[NotifyState::Reloading, now]);
        }
        let reloaded = reload();
        // One who waits for the first time is told when it is time.
        if told_ready {
            tell(&[NotifyState::Ready]);
        }
        reloaded
    }

    /// Nothing new is begun.
    pub(crate) fn stopping(&self) {
        self.told_ready.store(false, Ordering::Relaxed);
        tell(&[NotifyState::Stopping]);
    }
}

fn tell(state: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(state) {
        tracing::warn!(%error, "the service manager could not be told");
    }
}
