//! Threads that are started ahead: what the next turn most likely begins with is there already.
//!
//! A thread takes Codex some milliseconds, which nobody has to wait for while the model answers
//! somebody else. One that was started ahead has nothing in it: no message was given to it and
//! nothing was asked. It is used only where its parameters, tools and upstream included, are to the
//! byte those that the turn would have sent itself, for the same login and in the same child. So it
//! does not matter whose turn it was started for.

mod places;

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::value::{RawValue, to_raw_value};
use tokio_util::task::TaskTracker;

use crate::connection::Connection;
use crate::ids::ThreadId;
use crate::login_watch::LoginWatch;
use crate::protocol::incoming::ThreadStarted;
use crate::protocol::outgoing::{Request as _, ThreadStart};
use crate::request_error::RequestError;
use crate::turn::router::Wire as _;
use places::{Place, Places};

/// How often a turn looks whether Codex has time to start a thread for the next one: when the model has
/// begun to answer in this turn and in all others of the child, nothing of them is delayed.
pub(crate) const LOOK: Duration = Duration::from_millis(50);

/// How long a thread waits for its turn: Codex has 0.9 MB for it.
const KEPT_FOR: Duration = Duration::from_mins(10);

/// What a thread is started with, and who was signed in.
#[derive(Clone)]
pub(crate) struct Setting {
    /// Parameters of `thread/start`, as they are sent. They may hold a key.
    params: Arc<RawValue>,
    account: Option<u128>,
}

/// The threads of one child that wait for their turns.
pub(crate) struct ThreadsAhead {
    places: Mutex<Places>,
    kept_for: Duration,
    connection: Arc<Connection>,
    login: Arc<LoginWatch>,
    tasks: TaskTracker,
}

// === impl Setting ===

impl PartialEq for Setting {
    fn eq(&self, other: &Self) -> bool {
        self.account == other.account && self.params.get() == other.params.get()
    }
}

// === impl ThreadsAhead ===

impl ThreadsAhead {
    /// At most `limit` threads of a child; its shutdown waits for `tasks`.
    pub(crate) fn new(
        limit: usize,
        connection: &Arc<Connection>,
        login: &Arc<LoginWatch>,
        tasks: &TaskTracker,
    ) -> Self {
        Self {
            places: Mutex::new(Places::new(limit)),
            kept_for: KEPT_FOR,
            connection: Arc::clone(connection),
            login: Arc::clone(login),
            tasks: tasks.clone(),
        }
    }

    /// The setting of a thread that would be started now.
    pub(crate) fn setting(&self, params: &ThreadStart<'_>) -> Result<Setting, RequestError> {
        let params = to_raw_value(params).map_err(|error| RequestError::Unwritable {
            method: ThreadStart::METHOD,
            reason: error.to_string(),
        })?;
        Ok(Setting { params: params.into(), account: self.login.account() })
    }

    /// A thread with this setting, if there is one that can be used at once. Nobody else gets it.
    pub(crate) fn take(&self, setting: &Setting) -> Option<ThreadId> {
        let taken = self.places.lock().take(setting);
        for thread in &taken.useless {
            self.connection.unsubscribe(thread);
        }
        taken.thread
    }

    /// How many could be used at once.
    pub(crate) fn ready(&self) -> usize {
        self.places.lock().ready()
    }

    /// Starts a thread for the next turn with this setting, if there is none yet and there is room.
    pub(crate) fn start_ahead(self: &Arc<Self>, setting: Setting) {
        let Some(place) = self.places.lock().reserve(&setting, Instant::now()) else { return };
        if let Some(thread) = &place.replaced {
            self.connection.unsubscribe(thread);
        }
        self.tasks.spawn(Arc::clone(self).keep(setting, place));
    }

    /// No more threads are started ahead: the child is about to go.
    pub(crate) fn close(&self) {
        self.places.lock().close();
    }

    /// Starts a thread.
    pub(crate) async fn start(&self, setting: &Setting) -> Result<ThreadId, RequestError> {
        let params = &*setting.params;
        let starting = self.connection.start::<ThreadStarted>(ThreadStart::METHOD, &params);
        starting.await.map(|id| ThreadId::from(id.as_str()))
    }

    /// Sees one thread through until somebody has it, its time is over, or its child has gone.
    async fn keep(self: Arc<Self>, setting: Setting, place: Place) {
        let Place { number, left, .. } = place;
        match self.start(&setting).await {
            Ok(thread) => {
                if let Err(unwanted) = self.places.lock().fill(number, thread) {
                    return self.connection.unsubscribe(&unwanted);
                }
            }
            Err(error) => {
                // A turn that needs it will see for itself.
                tracing::debug!(%error, "no thread could be started ahead");
                self.places.lock().remove(number);
                return;
            }
        }
        let mut closed = self.connection.closed();
        tokio::select! {
            _ = left => {}
            _ = closed.wait_for(Option::is_some) => {}
            () = tokio::time::sleep(self.kept_for) => {
                let expired = self.places.lock().remove(number);
                if let Some(thread) = expired {
                    self.connection.unsubscribe(&thread);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
