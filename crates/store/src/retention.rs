//! What goes, and when.

use std::ops::ControlFlow;

use rusqlite::Connection;

use crate::database;
use crate::responses::ResponsesRetention;
use crate::usage::UsageRetention;

/// How long everything is kept, and how much of it.
#[derive(Debug, Default)]
pub(crate) struct Retention {
    pub(crate) usage: UsageRetention,
    pub(crate) responses: ResponsesRetention,
}

// === impl Retention ===

impl Retention {
    /// Deletes some of what has to go, and gives some room back; breaks when there is no more to do.
    pub(crate) fn sweep_some(
        &self,
        database: &mut Connection,
    ) -> rusqlite::Result<ControlFlow<()>> {
        let steps = [
            self.usage.delete_some(database)?,
            self.responses.delete_some(database)?,
            database::shrink_some(database)?,
        ];
        Ok(if steps.iter().all(ControlFlow::is_break) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    }
}
