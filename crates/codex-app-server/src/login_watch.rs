//! Has somebody else changed who is signed in? Codex does not notice that by itself.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::login_file::{LoginFile, Whose};

/// What one child knows of the login.
#[derive(Debug)]
pub(crate) struct LoginWatch {
    file: LoginFile,
    /// Who was signed in when the child last looked.
    known: Mutex<Whose>,
    /// Changes that the child itself is making.
    own_changes: AtomicUsize,
}

/// Says that the child itself is changing the account, until it is dropped.
#[derive(Debug)]
pub(crate) struct OwnChange(Arc<LoginWatch>);

// === impl LoginWatch ===

impl LoginWatch {
    /// To be made before the child reads the file.
    pub(crate) fn over(file: LoginFile) -> Arc<Self> {
        let known = Mutex::new(file.whose());
        Arc::new(Self { file, known, own_changes: AtomicUsize::new(0) })
    }

    pub(crate) fn file(&self) -> &LoginFile {
        &self.file
    }

    pub(crate) fn own_change(self: &Arc<Self>) -> OwnChange {
        self.own_changes.fetch_add(1, Ordering::SeqCst);
        OwnChange(Arc::clone(self))
    }

    pub(crate) fn changed_elsewhere(&self) -> bool {
        if self.own_changes.load(Ordering::SeqCst) > 0 {
            return false;
        }
        let now = self.file.whose();
        now != Whose::Unknown && now != *self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl OwnChange ===

impl Drop for OwnChange {
    fn drop(&mut self) {
        let watch = &self.0;
        *watch.known.lock().unwrap_or_else(PoisonError::into_inner) = watch.file.whose();
        watch.own_changes.fetch_sub(1, Ordering::SeqCst);
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
        drop(change);
        assert!(!watch.changed_elsewhere());
        std::fs::remove_file(watch.file().path()).unwrap();
        assert!(watch.changed_elsewhere());
    }
}
