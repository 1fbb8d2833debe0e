//! Where children come from.

use std::io;
use std::pin::Pin;
use std::process::ExitStatus;
use std::sync::Arc;

use semver::Version;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::binary::BinaryError;
use crate::catalog::CatalogError;
use crate::client_config::ClientConfig;
use crate::home::CodexHome;

/// A Codex that can be run: an installed one, or one that a test simulates.
pub trait Codex: Send + Sync {
    /// Its version.
    fn version(&self) -> &Version;

    /// Looks for it again: another version may be there by now.
    fn found_again(&self) -> Pending<'_, Result<Arc<dyn Codex>, BinaryError>>;

    /// The model catalog that it ships with, as JSON.
    fn bundled_models(&self, home: &CodexHome) -> Pending<'_, Result<Vec<u8>, CatalogError>>;

    /// Starts an app-server.
    ///
    /// # Errors
    /// If that is not possible.
    fn spawn(
        &self,
        config: &ClientConfig,
        home: &CodexHome,
    ) -> io::Result<(Box<dyn Process>, Pipes)>;
}

/// Something that is not there yet.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A running app-server; dropping it kills it.
pub trait Process: Send {
    /// Its number; `None` if it has ended.
    fn id(&self) -> Option<u32>;

    /// Waits for its end.
    fn wait(&mut self) -> Pending<'_, io::Result<ExitStatus>>;

    /// Asks it to end.
    fn terminate(&mut self);

    /// Kills it, and all that it has started, without waiting for the end.
    fn kill(&mut self);
}

/// The pipes of a process.
pub struct Pipes {
    /// What it reads.
    pub stdin: Box<dyn AsyncWrite + Send + Unpin>,
    /// What it answers.
    pub stdout: Box<dyn AsyncRead + Send + Unpin>,
    /// What it logs.
    pub stderr: Box<dyn AsyncRead + Send + Unpin>,
}
