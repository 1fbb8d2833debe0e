//! The folder that Codex lives in: its configuration, model catalog, login and databases.

use std::fs::{File, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::catalog::{self, CatalogError, Dialect};
use crate::client_config::ClientConfig;
use crate::login_file::LoginFile;

/// First line of every configuration that we wrote.
const MARK: &str = "# Written by codex-completions";

/// Files that would change what the model sees, and that we never write.
const INSTRUCTIONS: [&str; 2] = ["AGENTS.md", "AGENTS.override.md"];

/// A home for the child, ready to be used.
#[derive(Debug, Clone)]
pub struct CodexHome {
    path: PathBuf,
}

/// Held while a child starts. Two of them that make their databases in the same home at the same
/// time fail, whichever process they belong to.
#[derive(Debug)]
pub(crate) struct StartLock {
    _file: File,
}

/// A home that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    /// It holds a configuration that is not ours.
    #[error(
        "{} belongs to somebody else ({found} is not ours); \
         set PROXY_CODEX_HOME to a folder of its own", path.display()
    )]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// What was found in it.
        found: String,
    },
    /// Somebody else may have put something into it.
    #[error("{} is not for Codex alone: {reason}; set PROXY_CODEX_HOME to a folder of its own", path.display())]
    Shared {
        /// The folder.
        path: PathBuf,
        /// Why.
        reason: &'static str,
    },
    /// It cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file of it cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Other children have been starting in it for too long.
    #[error("another Codex is still starting in {}", path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
    },
    /// The model catalog could not be made.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
}

// === impl CodexHome ===

impl CodexHome {
    /// Makes the folder if there is none.
    ///
    /// # Errors
    /// If it holds somebody else's configuration, or cannot be made.
    pub fn make(path: &Path) -> Result<(), HomeError> {
        Self { path: path.to_owned() }.refuse_foreign()?;
        make_private_folder(path)
    }

    /// Makes the folder, the configuration and the patched model catalog of the binary.
    ///
    /// # Errors
    /// If the folder holds somebody else's configuration or cannot be written, or if the binary
    /// does not give its catalog.
    pub async fn prepare(config: &ClientConfig) -> Result<Self, HomeError> {
        // The child stands in another folder than we do.
        let path = std::path::absolute(&config.home)
            .map_err(|source| HomeError::Write { path: config.home.clone(), source })?;
        let home = Self { path };
        home.refuse_foreign()?;
        make_private_folder(home.path())?;
        // First of all: it marks the folder as ours, for whoever starts at the same time.
        let catalog_path = home.path.join("models.json");
        let chatgpt = config
            .chatgpt_base_url
            .as_deref()
            .map_or_else(String::new, |url| format!("chatgpt_base_url = {}\n", quoted(url)));
        let config_file = include_str!("home/config.toml")
            .replace("@CATALOG@", &quoted(&catalog_path.to_string_lossy()))
            .replace("@CHATGPT@", &chatgpt);
        write_private(&home.path.join("config.toml"), config_file.as_bytes())?;
        make_private_folder(&home.working_folder())?;
        let dialect = if config.classic_models { Dialect::Classic } else { Dialect::AsShipped };
        let models = catalog::patched(&*config.codex, &home, dialect).await?;
        write_private(&catalog_path, models.as_bytes())?;
        Ok(home)
    }

    /// The folder itself, `CODEX_HOME` of the child.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// An empty folder for the child to stand in.
    pub fn working_folder(&self) -> PathBuf {
        self.path.join("empty")
    }

    pub(crate) fn login_file(&self) -> LoginFile {
        LoginFile::in_home(&self.path)
    }

    /// Waits until no other child is starting in this home.
    pub(crate) async fn lock_start(&self, limit: Duration) -> Result<StartLock, HomeError> {
        const LOOK_AGAIN: Duration = Duration::from_millis(20);
        let path = self.path.join("start.lock");
        let file = File::options().write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(|source| HomeError::Write { path, source })?;
        // Asked again and again: a thread that waits in the system could not be called back.
        let locked = async {
            loop {
                match file.try_lock() {
                    Err(TryLockError::WouldBlock) => tokio::time::sleep(LOOK_AGAIN).await,
                    Ok(()) => return,
                    Err(TryLockError::Error(error)) => {
                        tracing::warn!(%error, "cannot lock the home against other starts");
                        return;
                    }
                }
            }
        };
        let in_time = tokio::time::timeout(limit, locked).await;
        in_time.map_err(|_| HomeError::Busy { path: self.path.clone() })?;
        Ok(StartLock { _file: file })
    }

    /// Ours is a folder with our configuration, and one that holds nothing, or a login alone, or
    /// a configuration or login that is just being written.
    fn refuse_foreign(&self) -> Result<(), HomeError> {
        let foreign =
            |found: &str| Err(HomeError::Foreign { path: self.path.clone(), found: found.into() });
        if let Some(found) = INSTRUCTIONS.into_iter().find(|name| self.path.join(name).exists()) {
            return foreign(found);
        }
        match std::fs::read(self.path.join("config.toml")) {
            Ok(config) if config.starts_with(MARK.as_bytes()) => return Ok(()),
            Ok(_) => return foreign("config.toml"),
            Err(_) => {}
        }
        let entries = std::fs::read_dir(&self.path).into_iter().flatten();
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let is_ours = |name: &String| {
            name == LoginFile::NAME
                || ["config.new-", "auth.new-"].iter().any(|start| name.starts_with(start))
        };
        match names.filter(|name| !is_ours(name)).min() {
            Some(found) => foreign(&found),
            None => Ok(()),
        }
    }
}

/// Makes a folder that is ours alone. One in which somebody else may have put something is not taken.
fn make_private_folder(path: &Path) -> Result<(), HomeError> {
    const WRITABLE_BY_ALL: u32 = 0o002;
    const OTHERS: u32 = 0o077;
    let failed = |source| HomeError::Write { path: path.to_owned(), source };
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
    let metadata = std::fs::metadata(path).map_err(failed)?;
    let shared = |reason| HomeError::Shared { path: path.to_owned(), reason };
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(shared("it belongs to another user"));
    }
    if metadata.mode() & WRITABLE_BY_ALL != 0 {
        return Err(shared("every user can write to it"));
    }
    if metadata.mode() & OTHERS != 0 {
        std::fs::set_permissions(path, Permissions::from_mode(0o700)).map_err(failed)?;
    }
    Ok(())
}

/// A JSON string is a TOML string too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Writes a whole file at once, so that a child that starts meanwhile never reads half of it.
pub(crate) fn write_private(path: &Path, content: &[u8]) -> Result<(), HomeError> {
    use io::Write as _;
    static WRITES: AtomicU64 = AtomicU64::new(0);
    let write_number = WRITES.fetch_add(1, Ordering::Relaxed);
    let temporary = path.with_extension(format!("new-{}-{write_number}", std::process::id()));
    let write = || {
        std::fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&temporary)?
            .write_all(content)?;
        std::fs::rename(&temporary, path)
    };
    write().map_err(|source| {
        let _ = std::fs::remove_file(&temporary);
        HomeError::Write { path: path.to_owned(), source }
    })
}

#[cfg(test)]
mod tests;
