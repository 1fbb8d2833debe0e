//! A connection whose other end is played by a test.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, BufReader, DuplexStream, Lines};
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use super::letting_go::Unwanted;
use super::{Connection, Damage, Onlookers};
use crate::child_log::EarlyArguments;

/// Both ends.
pub(crate) struct PlayedConnection {
    pub(crate) connection: Arc<Connection>,
    /// What the child is asked.
    pub(crate) lines: Lines<BufReader<DuplexStream>>,
    /// What the child says.
    pub(crate) answers: DuplexStream,
    /// What is to be let go.
    pub(crate) unwanted: mpsc::UnboundedReceiver<Unwanted>,
    pub(crate) tasks: TaskTracker,
}

// === impl PlayedConnection ===

impl PlayedConnection {
    pub(crate) fn new(request_timeout: Duration) -> Self {
        let (connection, unwanted) = Connection::new(
            request_timeout,
            Onlookers::default(),
            EarlyArguments::On,
            Arc::default(),
        );
        let connection = Arc::new(connection);
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (answers, output) = tokio::io::duplex(1 << 20);
        let tasks = TaskTracker::new();
        let writer = Arc::clone(&connection);
        tasks.spawn(async move { writer.outbox().drain_into(ours).await });
        let reader = Arc::clone(&connection);
        tasks.spawn(async move {
            let (Ok(reason) | Err(Damage(reason))) = reader.read(output, 1 << 16).await;
            reader.close(&reason);
        });
        Self { connection, lines: BufReader::new(theirs).lines(), answers, unwanted, tasks }
    }
}
