//! Has somebody else changed who is signed in? Once somebody is, Codex does not notice by itself.

use std::sync::Arc;

use parking_lot::Mutex;
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

    /// Who is signed in, if the child does not know it and is not about to.
    pub(crate) fn changed_elsewhere(&self) -> Option<Whose> {
        let known = self.known.lock();
        let now = self.file.whose();
        let is_news = self.own_changes.is_empty() && now != Whose::Unknown && now != *known;
        is_news.then_some(now)
    }

    /// A fingerprint of who is signed in, as far as the child knows.
    pub(crate) fn account(&self) -> Option<u128> {
        self.known.lock().fingerprint()
    }

    /// Waits until the child is not changing the account.
    pub(crate) async fn no_own_change(&self) {
        self.own_changes.close();
        self.own_changes.wait().await;
    }
}

// === impl OwnChange ===

impl OwnChange {
    /// The child has made the change, and knows what is in the file now. One that came to nothing
    /// says nothing about the file: that may have been changed by somebody else meanwhile.
    pub(crate) fn made(self) {
        let mut known = self.watch.known.lock();
        *known = self.watch.file.whose();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The watch over a home, and its login file.
    fn watch_over(home: &tempfile::TempDir) -> (Arc<LoginWatch>, std::path::PathBuf) {
        let watch = LoginWatch::over(LoginFile::in_home(home.path()));
        (watch, home.path().join(LoginFile::NAME))
    }

    #[test]
    fn a_change_of_ones_own_is_none() {
        let home = tempfile::tempdir().unwrap();
        let (watch, file) = watch_over(&home);
        let sign_in = |key: &str| {
            std::fs::write(&file, format!(r#"{{"OPENAI_API_KEY":"{key}"}}"#)).unwrap();
        };
        assert_eq!(watch.changed_elsewhere(), None);
        sign_in("theirs");
        assert!(matches!(watch.changed_elsewhere(), Some(Whose::Account(_))));
        let change = watch.own_change();
        sign_in("ours");
        assert_eq!(watch.changed_elsewhere(), None);
        change.made();
        assert_eq!(watch.changed_elsewhere(), None);
        std::fs::remove_file(&file).unwrap();
        assert_eq!(watch.changed_elsewhere(), Some(Whose::Nobody));
    }

    #[test]
    fn a_change_that_came_to_nothing_hides_nobody_elses() {
        let home = tempfile::tempdir().unwrap();
        let (watch, file) = watch_over(&home);
        let change = watch.own_change();
        std::fs::write(&file, r#"{"OPENAI_API_KEY":"theirs"}"#).unwrap();
        assert_eq!(watch.changed_elsewhere(), None);
        drop(change);
        assert!(watch.changed_elsewhere().is_some());
    }
}
