//! The place where a worker's child takes its turns from.

use parking_lot::Mutex;

use crate::client::Client;
use crate::login_file::Whose;
use crate::turn::plan::PlannedTurn;

/// The child of a worker, for those who have turns for it.
#[derive(Default)]
pub(crate) struct Slot {
    /// Only a child in here gets turns. It leaves under the lock, so that none is given to a child
    /// that is already being retired.
    client: Mutex<Option<Client>>,
}

// === impl Slot ===

impl Slot {
    /// How much the child has to do, if there is one.
    pub(crate) fn running_turns(&self) -> Option<usize> {
        usable(self.client.lock().as_ref()).map(Client::running_turns)
    }

    /// Gives the turn to the child, or back if there is none that can take it: a login that was just made
    /// is taken up by a new child, a real model needs a child that has passed its canary, and a turn that
    /// resumes a thread needs the child that has it.
    pub(crate) fn give(&self, turn: PlannedTurn) -> Result<(), Box<PlannedTurn>> {
        let stale = |client: &Client| {
            turn.plan.needs_login()
                && matches!(client.login_watch().changed_elsewhere(), Some(Whose::Account(_)))
        };
        let elsewhere = |client: &Client| {
            turn.found.as_ref().is_some_and(|found| !found.kept.is_of(client.connection()))
        };
        let untested = |client: &Client| !turn.plan.is_for_demo() && !client.takes_real_models();
        let client = self.client.lock();
        let takes = |client: &&Client| !stale(client) && !elsewhere(client) && !untested(client);
        match usable(client.as_ref()).filter(takes) {
            Some(client) => {
                client.run(turn);
                Ok(())
            }
            None => Err(Box::new(turn)),
        }
    }

    pub(crate) fn client(&self) -> Option<Client> {
        usable(self.client.lock().as_ref()).cloned()
    }

    /// Puts a child in the place of the one before.
    pub(crate) fn put(&self, client: Option<Client>) -> Option<Client> {
        std::mem::replace(&mut *self.client.lock(), client)
    }
}

/// The worker may not have noticed yet that its child has gone.
fn usable(client: Option<&Client>) -> Option<&Client> {
    client.filter(|client| !client.is_gone())
}
