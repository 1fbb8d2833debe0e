//! Has somebody else changed who is signed in? Once somebody is, Codex does not notice by itself.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::login_file::{LoginFile, Whose};

/// What one child knows of the login.
#[derive(Debug)]
pub(crate) struct LoginWatch {
    file: LoginFile,
    /// Locked while the file is read, so that a change of the child's own is never in between.
    known: Mutex<Known>,
}

#[derive(Debug)]
struct Known {
    /// Who was signed in when the child last looked.
    whose: Whose,
    /// Changes that the child itself is making.
    own_changes: usize,
}

/// Says that the child itself is changing the account, until it is dropped.
#[derive(Debug)]
pub(crate) struct OwnChange(Arc<LoginWatch>);

// === impl LoginWatch ===

impl LoginWatch {
    /// To be made before the child reads the file.
    pub(crate) fn over(file: LoginFile) -> Arc<Self> {
        let known = Known { whose: file.whose(), own_changes: 0 };
        Arc::new(Self { file, known: Mutex::new(known) })
    }

    pub(crate) fn file(&self) -> &LoginFile {
        &self.file
    }

    pub(crate) fn own_change(self: &Arc<Self>) -> OwnChange {
        self.lock().own_changes += 1;
        OwnChange(Arc::clone(self))
    }

    pub(crate) fn changed_elsewhere(&self) -> bool {
        let known = self.lock();
        let now = self.file.whose();
        known.own_changes == 0 && now != Whose::Unknown && now != known.whose
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl OwnChange ===

impl Drop for OwnChange {
    fn drop(&mut self) {
        let mut known = self.0.lock();
        known.whose = self.0.file.whose();
        known.own_changes -= 1;
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
