//! Finding the native Codex binary, and whether we can work with it.

use std::ffi::OsStr;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use semver::Version;
use tokio::process::Command;

use crate::catalog::CatalogError;
use crate::child_log;
use crate::client_config::ClientConfig;
use crate::codex::{Codex, Pending, Pipes, Process};
use crate::home::CodexHome;
use crate::process;

/// The oldest Codex that is known to work.
pub const MINIMUM_VERSION: Version = Version::new(0, 166, 0);

/// For a command of Codex that only prints something.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(15);

/// A Codex binary of a supported version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodexBinary {
    path: PathBuf,
    version: Version,
    found_by: Search,
}

/// Where a binary was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Search {
    At(PathBuf),
    OnThePathOrIn { copies: PathBuf },
}

/// No usable Codex.
#[derive(Debug, thiserror::Error)]
pub enum BinaryError {
    /// Nothing at the given place.
    #[error("no Codex at {}", .0.display())]
    Missing(PathBuf),
    /// Not on the PATH, and no copy of our own.
    #[error(
        "no Codex on the PATH; `npm install -g --ignore-scripts @openai/codex@{MINIMUM_VERSION}` \
         installs it, or set CODEX_BIN to one that is elsewhere"
    )]
    NotFound,
    /// The npm wrapper without its platform package.
    #[error(
        "{} is the npm wrapper, but the native binary beside it is missing; \
         reinstall @openai/codex", .0.display()
    )]
    WrapperAlone(PathBuf),
    /// It does not run, or does not say its version.
    #[error(
        "{} does not answer --version as Codex does: {reason}; \
         CODEX_BIN can name the native binary", path.display()
    )]
    Unusable {
        /// The binary.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Too old.
    #[error(
        "Codex {found} at {} is too old: {MINIMUM_VERSION} or newer is needed; \
         `npm install -g --ignore-scripts @openai/codex@{MINIMUM_VERSION}` installs that", path.display()
    )]
    TooOld {
        /// The binary.
        path: PathBuf,
        /// Its version.
        found: Version,
    },
}

/// Environment that the child may see: how to reach the network, and where to put temporary
/// files. Nothing else of ours, and no key, reaches it.
const PASSED_ON: [&str; 13] = [
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CODEX_CA_CERTIFICATE",
];

// === impl CodexBinary ===

impl CodexBinary {
    /// The binary at `explicit`, else a supported one on the PATH, else the newest of our own
    /// copies under `copies`.
    ///
    /// # Errors
    /// If there is none, or if the explicit one cannot be used. One on the PATH that is too old
    /// is passed over only if there is a copy to use instead.
    pub async fn locate(explicit: Option<&Path>, copies: &Path) -> Result<Self, BinaryError> {
        if let Some(path) = explicit {
            return Self::at(path).await;
        }
        let on_path = match std::env::var_os("PATH").and_then(|path| find_in(&path, "codex")) {
            Some(path) => Self::at(&path).await,
            None => Err(BinaryError::NotFound),
        };
        let found = match (on_path, newest_copy(copies)) {
            (Ok(binary), _) => binary,
            (Err(_), Some(copy)) => Self::at(&copy).await?,
            (Err(error), None) => return Err(error),
        };
        Ok(Self { found_by: Search::OnThePathOrIn { copies: copies.to_owned() }, ..found })
    }

    /// The binary at `path`, which may be the npm wrapper in front of it.
    ///
    /// # Errors
    /// If it is missing, does not run, or is too old.
    pub async fn at(path: &Path) -> Result<Self, BinaryError> {
        let found_by = Search::At(path.to_owned());
        let path = native(path)?;
        let unusable = |reason: String| BinaryError::Unusable { path: path.clone(), reason };
        let mut command = Command::new(&path);
        // Nor does it see the folder that we were started in.
        command.arg("--version").env_clear().current_dir("/");
        let output = output_of(command).await.map_err(|error| unusable(error.to_string()))?;
        let words = String::from_utf8_lossy(&output.stdout).into_owned();
        let version = words
            .lines()
            .find_map(|line| Version::parse(line.strip_prefix("codex-cli ")?.trim()).ok())
            .ok_or_else(|| unusable(format!("it printed {:?}", words.trim())))?;
        // A pre-release of a newer version is newer, though semver orders it before the release.
        if (version.major, version.minor, version.patch)
            < (MINIMUM_VERSION.major, MINIMUM_VERSION.minor, MINIMUM_VERSION.patch)
        {
            return Err(BinaryError::TooOld { path, found: version });
        }
        Ok(Self { path, version, found_by })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its version.
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// Codex itself runs no program, and would ask one after the other for the name of the system. A
    /// script around it needs some.
    fn search_path(&self, home: &CodexHome) -> PathBuf {
        if is_script(&self.path) {
            "/usr/local/bin:/usr/bin:/bin".into()
        } else {
            home.working_folder()
        }
    }

    /// A command with the minimal environment, and `home` as the home of everything.
    fn command(&self, home: &CodexHome) -> Command {
        let mut command = Command::new(&self.path);
        command.env_clear();
        command.envs(PASSED_ON.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        command
            .env("PATH", self.search_path(home))
            .env("HOME", home.path())
            .env("CODEX_HOME", home.path())
            // Every call that we leave unanswered would be reported as an error.
            .env("RUST_LOG", "error,codex_core::tools::router=off")
            .env("NO_COLOR", "1")
            // The scripted model and an own upstream on this machine are never behind a proxy.
            .env("NO_PROXY", no_proxy())
            .current_dir(home.path());
        command
    }
}

impl Codex for CodexBinary {
    fn version(&self) -> &Version {
        &self.version
    }

    fn found_again(&self) -> Pending<'_, Result<Arc<dyn Codex>, BinaryError>> {
        Box::pin(async {
            let found = match &self.found_by {
                Search::At(path) => Self::at(path).await,
                Search::OnThePathOrIn { copies } => Self::locate(None, copies).await,
            };
            Ok(Arc::new(found?) as Arc<dyn Codex>)
        })
    }

    fn bundled_models(&self, home: &CodexHome) -> Pending<'_, Result<Vec<u8>, CatalogError>> {
        let mut command = self.command(home);
        command.args(["debug", "models", "--bundled"]);
        Box::pin(async {
            let output = output_of(command).await;
            let output = output.map_err(|error| CatalogError::Command(error.to_string()))?;
            if !output.status.success() {
                let stderr = String::from_utf8_lossy(&output.stderr);
                return Err(CatalogError::Command(format!("{} {}", output.status, stderr.trim())));
            }
            Ok(output.stdout)
        })
    }

    fn spawn(
        &self,
        config: &ClientConfig,
        home: &CodexHome,
    ) -> io::Result<(Box<dyn Process>, Pipes)> {
        let mut command = self.command(home);
        if config.early_arguments {
            command.envs(child_log::ENVIRONMENT);
        }
        command
            .arg("app-server")
            .envs(config.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(home.working_folder());
        process::spawn(command)
    }
}

/// Runs a command that prints something and ends.
async fn output_of(mut command: Command) -> io::Result<Output> {
    let output = command.kill_on_drop(true).stdin(Stdio::null()).output();
    tokio::time::timeout(COMMAND_TIMEOUT, output).await.unwrap_or_else(|_| {
        Err(io::Error::new(io::ErrorKind::TimedOut, format!("no end after {COMMAND_TIMEOUT:?}")))
    })
}

fn no_proxy() -> String {
    let given = std::env::var("NO_PROXY").or_else(|_| std::env::var("no_proxy"));
    let mut hosts = String::from("127.0.0.1,localhost,::1");
    for host in given.iter().filter(|hosts| !hosts.is_empty()) {
        hosts.push(',');
        hosts.push_str(host);
    }
    hosts
}

/// A relative entry of the PATH, an empty one too, is the folder that we happen to be started in: nothing in it is run.
fn find_in(path: &OsStr, name: &str) -> Option<PathBuf> {
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// The copy of the highest version in `copies/<version>/node_modules/@openai/codex`.
fn newest_copy(copies: &Path) -> Option<PathBuf> {
    std::fs::read_dir(copies)
        .ok()?
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let version = Version::parse(entry.file_name().to_str()?).ok()?;
            let wrapper = entry.path().join("node_modules/@openai/codex/bin/codex.js");
            wrapper.is_file().then_some((version, wrapper))
        })
        .max()
        .map(|(_, wrapper)| wrapper)
}

/// The native binary behind `path`.
///
/// The npm wrapper costs a Node process, and leaves an orphan when it is killed.
fn native(path: &Path) -> Result<PathBuf, BinaryError> {
    let found = std::fs::canonicalize(path).map_err(|_| BinaryError::Missing(path.to_owned()))?;
    if !found.is_file() {
        return Err(BinaryError::Missing(found));
    }
    if !is_script(&found) || found.extension() != Some(OsStr::new("js")) {
        // Not what a link leads to: some programs look at the name they are called by.
        return std::path::absolute(path).map_err(|_| BinaryError::Missing(found));
    }
    // node_modules/@openai/codex/bin/codex.js: the platform package is a sibling or a child.
    found
        .ancestors()
        .nth(2)
        .into_iter()
        .flat_map(|package| [package.parent(), Some(package)])
        .flatten()
        .flat_map(|folder| [folder.to_owned(), folder.join("node_modules/@openai")])
        .find_map(|folder| platform_binary(&folder))
        .ok_or_else(|| BinaryError::WrapperAlone(found.clone()))
}

/// `codex-<os>-<arch>/vendor/<triple>/bin/codex` in a folder of npm packages.
fn platform_binary(packages: &Path) -> Option<PathBuf> {
    let arch = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let vendor = packages.join(format!("codex-{os}-{arch}")).join("vendor");
    std::fs::read_dir(vendor)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path().join("bin/codex")))
        .find(|binary| binary.is_file())
}

fn is_script(path: &Path) -> bool {
    let mut start = [0; 2];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && &start == b"#!"
}

#[cfg(test)]
mod tests;
