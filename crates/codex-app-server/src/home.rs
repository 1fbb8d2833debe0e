//! The folder that Codex lives in: its configuration, model catalog, login and databases.

use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::binary::CodexBinary;
use crate::catalog::{self, CatalogError};

/// First line of every configuration that we wrote.
const MARK: &str = "# Written by codex-completions";

/// Files that would change what the model sees, and that we never write.
const INSTRUCTIONS: [&str; 2] = ["AGENTS.md", "AGENTS.override.md"];

/// A home for the child, ready to be used.
#[derive(Debug, Clone)]
pub struct CodexHome {
    path: PathBuf,
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
    /// It cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The model catalog could not be made.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
}

// === impl CodexHome ===

impl CodexHome {
    /// Makes the folder, the configuration and the patched model catalog of `binary`.
    ///
    /// # Errors
    /// If the folder holds somebody else's configuration or cannot be written, or if `binary`
    /// does not give its catalog.
    pub async fn prepare(path: &Path, binary: &CodexBinary) -> Result<Self, HomeError> {
        // The child stands in another folder than we do.
        let path = std::path::absolute(path)
            .map_err(|source| HomeError::Write { path: path.to_owned(), source })?;
        let home = Self { path };
        home.refuse_foreign()?;
        make_private_folder(home.path())?;
        make_private_folder(&home.working_folder())?;
        let models = catalog::patched(binary, home.path()).await?;
        let catalog_path = home.path.join("models.json");
        write_private(&catalog_path, models.as_bytes())?;
        // A JSON string is a TOML string too.
        let quoted = serde_json::Value::from(catalog_path.to_string_lossy()).to_string();
        let config = include_str!("home/config.toml").replace("@CATALOG@", &quoted);
        write_private(&home.path.join("config.toml"), config.as_bytes())?;
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

    /// Ours is a folder with our configuration, and one that holds nothing, or a login alone.
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
        match names.filter(|name| name != "auth.json").min() {
            Some(found) => foreign(&found),
            None => Ok(()),
        }
    }
}

fn make_private_folder(path: &Path) -> Result<(), HomeError> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|source| HomeError::Write { path: path.to_owned(), source })
}

/// Writes a whole file at once, so that a child that starts meanwhile never reads half of it.
fn write_private(path: &Path, content: &[u8]) -> Result<(), HomeError> {
    use io::Write as _;
    let temporary = path.with_extension(format!("new-{}", std::process::id()));
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
    write().map_err(|source| HomeError::Write { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests;
