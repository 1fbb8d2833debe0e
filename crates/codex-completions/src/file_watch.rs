//! Noticing that one of a few files has changed.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::event::{AccessKind, AccessMode, EventKind, ModifyKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;

/// How long a file must be left alone before it is read: an editor may write it in several steps.
const QUIET: Duration = Duration::from_millis(100);

/// After so many steps it is read all the same: a neighbour may be written for ever.
const MOST_STEPS: usize = 10;

/// A few files, which need not be there.
///
/// Their folders are watched, because editors replace a file, and a mounted one may be a link to
/// another with each change.
pub(crate) struct FileWatch {
    watcher: Option<RecommendedWatcher>,
    /// Something has happened in a folder.
    stirred: Arc<Notify>,
    folders: BTreeSet<PathBuf>,
    files: BTreeMap<PathBuf, Seen>,
}

/// What was last seen of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// Nobody has looked yet.
    Nothing,
    Missing,
    There(Fingerprint),
}

/// What is different when a file is: its place on disk, its length, and when it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fingerprint {
    place: (u64, u64),
    length: u64,
    written: (i64, i64),
}

// === impl FileWatch ===

impl FileWatch {
    /// Watches nothing yet.
    pub(crate) fn new() -> Self {
        let stirred = Arc::new(Notify::new());
        let wake = Arc::clone(&stirred);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // An error may stand for events that were lost.
            if event.map_or(true, |event| is_change(event.kind)) {
                wake.notify_one();
            }
        });
        let watcher = watcher.inspect_err(complain).ok();
        Self { watcher, stirred, folders: BTreeSet::new(), files: BTreeMap::new() }
    }

    /// Watches these files and no others. One that is new counts as changed: somebody may have read
    /// it already, and it may have changed since.
    pub(crate) fn watch(&mut self, files: impl IntoIterator<Item = PathBuf>) {
        let mut earlier = std::mem::take(&mut self.files);
        for file in files {
            let seen = earlier.remove(&file).unwrap_or(Seen::Nothing);
            self.files.insert(file, seen);
        }
        if self.files.values().any(|seen| *seen == Seen::Nothing) {
            self.stirred.notify_one();
        }
        let folders = self.files.keys().flat_map(|file| folders_of(file)).collect();
        let Some(watcher) = &mut self.watcher else { return };
        for gone in self.folders.difference(&folders) {
            // It may be gone itself.
            let _ = watcher.unwatch(gone);
        }
        for new in folders.difference(&self.folders) {
            if let Err(error) = watcher.watch(new, RecursiveMode::NonRecursive) {
                complain(&error);
            }
        }
        self.folders = folders;
    }

    /// Waits until one of the files is another than it was. What is read after that is not older than
    /// what was seen, so that no change is lost.
    ///
    /// Cancel safe.
    pub(crate) async fn changed(&mut self) {
        loop {
            self.stirred.notified().await;
            for _ in 0..MOST_STEPS {
                if tokio::time::timeout(QUIET, self.stirred.notified()).await.is_err() {
                    break;
                }
            }
            if self.look() {
                return;
            }
        }
    }

    /// Looks at the files now; whether one is another than it was. What is read after that needs not be read
    /// again for what was seen.
    pub(crate) fn look(&mut self) -> bool {
        let mut changed = false;
        for (file, known) in &mut self.files {
            let now = Seen::now(file);
            changed |= *known != now;
            *known = now;
        }
        changed
    }
}

// === impl Seen ===

impl Seen {
    fn now(file: &Path) -> Self {
        std::fs::metadata(file).map_or(Self::Missing, |metadata| {
            Self::There(Fingerprint {
                place: (metadata.dev(), metadata.ino()),
                length: metadata.len(),
                written: (metadata.mtime(), metadata.mtime_nsec()),
            })
        })
    }
}

/// The folder that holds it, and the one that it really is in.
fn folders_of(file: &Path) -> Vec<PathBuf> {
    let real = file.canonicalize().ok();
    let parents = [Some(file), real.as_deref()].into_iter().flatten().filter_map(Path::parent);
    // The parent of a bare name is empty, which is no folder.
    parents.map(|parent| Path::new(".").join(parent)).filter(|folder| folder.is_dir()).collect()
}

/// Reading a file is no change, and ours would wake us again.
fn is_change(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) | EventKind::Modify(ModifyKind::Metadata(_)) => false,
        EventKind::Any
        | EventKind::Create(_)
        | EventKind::Modify(_)
        | EventKind::Remove(_)
        | EventKind::Other => true,
    }
}

fn complain(error: &notify::Error) {
    tracing::warn!(%error, "changes of a settings file may not be noticed; SIGHUP reads them");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only a change that is not noticed reaches it.
    const PATIENCE: Duration = Duration::from_secs(30);

    async fn is_noticed(watch: &mut FileWatch) {
        tokio::time::timeout(PATIENCE, watch.changed()).await.expect("the change is noticed");
    }

    #[tokio::test]
    async fn a_file_may_be_made_written_replaced_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        let mut watch = FileWatch::new();
        watch.watch([file.clone()]);
        is_noticed(&mut watch).await;
        std::fs::write(&file, "one").unwrap();
        is_noticed(&mut watch).await;
        std::fs::write(&file, "two").unwrap();
        is_noticed(&mut watch).await;
        let new = folder.path().join("config.toml.new");
        std::fs::write(&new, "three").unwrap();
        std::fs::rename(&new, &file).unwrap();
        is_noticed(&mut watch).await;
        std::fs::remove_file(&file).unwrap();
        is_noticed(&mut watch).await;
    }

    #[tokio::test]
    async fn a_link_to_a_file_may_be_turned_and_its_end_written() {
        let folder = tempfile::tempdir().unwrap();
        let (here, there) = (folder.path().join("here"), folder.path().join("there"));
        for folder in [&here, &there] {
            std::fs::create_dir(folder).unwrap();
        }
        let file = here.join("config.toml");
        std::fs::write(there.join("one"), "one").unwrap();
        std::fs::write(there.join("two"), "other").unwrap();
        std::os::unix::fs::symlink(there.join("one"), &file).unwrap();
        let mut watch = FileWatch::new();
        watch.watch([file.clone()]);
        is_noticed(&mut watch).await;
        std::fs::write(there.join("one"), "another").unwrap();
        is_noticed(&mut watch).await;
        std::os::unix::fs::symlink(there.join("two"), here.join("new")).unwrap();
        std::fs::rename(here.join("new"), &file).unwrap();
        is_noticed(&mut watch).await;
    }

    /// The next change that is noticed is the one after all the noise.
    #[tokio::test]
    async fn neighbours_and_readers_do_not_matter() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        std::fs::write(&file, "one").unwrap();
        let mut watch = FileWatch::new();
        watch.watch([file.clone()]);
        is_noticed(&mut watch).await;
        std::fs::write(folder.path().join("neighbour"), "x").unwrap();
        std::fs::read(&file).unwrap();
        let unnoticed = tokio::time::timeout(3 * QUIET, watch.changed()).await;
        assert!(unnoticed.is_err(), "nothing of ours has changed");
        std::fs::write(&file, "two").unwrap();
        is_noticed(&mut watch).await;
    }
}
