//! The secret of a running server, which proves to its owner's commands that it is theirs.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::{KeyError, private};
use crate::settings::Settings;

/// The file that holds it. Each port has its own: several servers may share a data folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSecretFile(PathBuf);

// === impl RunSecretFile ===

impl RunSecretFile {
    /// For a server of these settings that listens on `port`.
    pub fn new(settings: &Settings, port: u16) -> Self {
        // A folder of its own: the data folder is watched for settings.
        Self(settings.data_folder.join("run").join(port.to_string()))
    }

    /// Replaces the secret by a new one.
    ///
    /// # Errors
    /// If it cannot be written, or the system has no random numbers.
    pub fn renew(&self) -> Result<[u8; 32], KeyError> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret)?;
        private::make_folder(private::folder_of(&self.0), &mut Vec::new())?;
        private::replace(&self.0, &URL_SAFE_NO_PAD.encode(secret))?;
        Ok(secret)
    }

    /// The secret of the server that runs, or ran last. Without a good one nothing can be proved.
    pub fn read(&self) -> Option<[u8; 32]> {
        let text = private::read(&self.0, &mut Vec::new()).ok()??;
        URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()
    }

    /// At the end of the server that has this secret: one on another address of the port may have replaced
    /// it. A file that stays behind is harmless.
    pub fn remove(&self, secret: &[u8; 32]) {
        if self.read().as_ref() == Some(secret) {
            let _ = std::fs::remove_file(&self.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::super::tests::settings;
    use super::*;

    fn mode(path: &std::path::Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn row_19_every_start_has_a_secret_of_its_own_in_a_private_file() {
        let folder = tempfile::tempdir().unwrap();
        let settings = settings(folder.path(), "");
        let file = RunSecretFile::new(&settings, 7);
        assert_eq!(file.read(), None);
        let first = file.renew().unwrap();
        assert_eq!(file.read(), Some(first));
        assert_eq!((mode(&file.0), mode(file.0.parent().unwrap())), (0o600, 0o700));
        let second = file.renew().unwrap();
        assert_ne!(first, second);
        let other = RunSecretFile::new(&settings, 8).renew().unwrap();
        assert_eq!(file.read(), Some(second));
        assert_ne!(second, other);
        file.remove(&first);
        assert_eq!(file.read(), Some(second), "it is of another server");
        file.remove(&second);
        assert!(!file.0.exists());
        std::fs::write(&file.0, "not a secret").unwrap();
        assert_eq!(file.read(), None);
    }
}
