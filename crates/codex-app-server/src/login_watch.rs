//! Has somebody else changed who is signed in? Once somebody is, Codex does not notice by itself.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::login_file::{LoginFile, Whose};

/// What one child knows of the login.
#[derive(Debug)]
pub(crate) struct LoginWatch {
    file: LoginFile,
    /// Who was signed in when the child last looked. Locked while the file is read, so that a
    /// change of the child's own is never in between.
    known: Mutex<Whose>,
    /// Changes that the child itself is making.
    own_changes: TaskTracker,
}

/// Says that the child itself is changing the account, until it is dropped.
#[derive(Debug)]
pub(crate) struct OwnChange {
    watch: Arc<LoginWatch>,
    _under_way: TaskTrackerToken,
}

// === impl LoginWatch ===

impl LoginWatch {
    /// To be made before the child reads the file.
    pub(crate) fn over(file: LoginFile) -> Arc<Self> {
        let known = Mutex::new(file.whose());
        Arc::new(Self { file, known, own_changes: TaskTracker::new() })
    }

    pub(crate) fn file(&self) -> &LoginFile {
        &self.file
    }

    pub(crate) fn own_change(self: &Arc<Self>) -> OwnChange {
        OwnChange { watch: Arc::clone(self), _under_way: self.own_changes.token() }
    }

    pub(crate) fn changed_elsewhere(&self) -> bool {
        let known = self.lock();
        let now = self.file.whose();
        self.own_changes.is_empty() && now != Whose::Unknown && now != *known
    }

    /// Waits until the child is not changing the account.
    pub(crate) async fn no_own_change(&self) {
        self.own_changes.close();
        self.own_changes.wait().await;
    }

    fn lock(&self) -> MutexGuard<'_, Whose> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl OwnChange ===

impl OwnChange {
    /// The child has made the change, and knows what is in the file now. One that came to nothing
    /// says nothing about the file: that may have been changed by somebody else meanwhile.
    pub(crate) fn made(self) {
        let mut known = self.watch.lock();
        *known = self.watch.file.whose();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_ones_own_is_none() {
        let home = tempfile::tempdir().unwrap();
        let watch = LoginWatch::over(LoginFile::in_home(home.path()));
        let sign_in = |key: &str| {
            let login = format!(r#"{{"OPENAI_API_KEY":"{key}"}}"#);
            std::fs::write(watch.file().path(), login).unwrap();
        };
        assert!(!watch.changed_elsewhere());
        sign_in("theirs");
        assert!(watch.changed_elsewhere());
        let change = watch.own_change();
        sign_in("ours");
        assert!(!watch.changed_elsewhere());
        change.made();
        assert!(!watch.changed_elsewhere());
        std::fs::remove_file(watch.file().path()).unwrap();
        assert!(watch.changed_elsewhere());
    }

    #[test]
    fn a_change_that_came_to_nothing_hides_nobody_elses() {
        let home = tempfile::tempdir().unwrap();
        let watch = LoginWatch::over(LoginFile::in_home(home.path()));
        let change = watch.own_change();
        std::fs::write(watch.file().path(), r#"{"OPENAI_API_KEY":"theirs"}"#).unwrap();
        assert!(!watch.changed_elsewhere());
        drop(change);
        assert!(watch.changed_elsewhere());
    }
}
