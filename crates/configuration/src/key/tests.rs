use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use secrecy::ExposeSecret as _;
use tempfile::TempDir;

use super::private::{mode_of, write_new};
use super::*;
use crate::loading::{Flags, Inputs, load};

pub(crate) fn settings(data: &Path, key: &str) -> Settings {
    let inputs = Inputs {
        environment: vec![
            ("PROXY_DATA_DIR".into(), data.into()),
            ("PROXY_API_KEY".into(), key.into()),
        ],
        working_folder: "/nowhere".into(),
        user_data: None,
        flags: Flags::default(),
    };
    load(&inputs).unwrap().settings
}

pub(crate) fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// A data folder that is yet to be made, in a folder that is removed.
pub(crate) fn place() -> (TempDir, PathBuf) {
    let parent = tempfile::tempdir().unwrap();
    let data = parent.path().join("new/data");
    (parent, data)
}

#[test]
fn a_key_that_was_set_is_taken_and_not_kept() {
    let (_parent, data) = place();
    std::fs::create_dir_all(&data).unwrap();
    set_mode(&data, 0o755);
    let key = ApiKey::obtain(&settings(&data, "test")).unwrap();
    assert_eq!((key.secret.expose_secret(), key.origin), ("test", KeyOrigin::Given));
    assert_eq!(key.warnings, [Warning::Tightened { path: data.clone() }]);
    assert_eq!((mode_of(&data).unwrap() & 0o777, data.read_dir().unwrap().count()), (0o700, 0));
}

#[test]
fn row_5_the_first_run_makes_a_key_and_the_next_ones_keep_it() {
    let (_parent, data) = place();
    let settings = settings(&data, "");
    let path = ApiKey::file(&settings);
    let first = ApiKey::obtain(&settings).unwrap();
    assert_eq!(first.origin, KeyOrigin::Generated(path.clone()));
    let text = first.secret.expose_secret();
    let random = URL_SAFE_NO_PAD.decode(text.strip_prefix("sk-proxy-").unwrap()).unwrap();
    assert_eq!(random.len(), 32);
    assert!(!is_weak_key(text) && !format!("{first:?}").contains(text));
    assert_eq!(mode_of(&data).unwrap() & 0o777, 0o700);
    assert_eq!(mode_of(&path).unwrap() & 0o777, 0o600);

    let next = ApiKey::obtain(&settings).unwrap();
    assert_eq!(next.secret.expose_secret(), text);
    assert_eq!((next.origin, next.warnings), (KeyOrigin::Kept(path), Vec::new()));
    let (_other_parent, other) = place();
    let other = ApiKey::obtain(&self::settings(&other, "")).unwrap();
    assert_ne!(other.secret.expose_secret(), text);
}

#[test]
fn row_5_what_others_could_read_is_closed_and_told() {
    let (_parent, data) = place();
    let settings = settings(&data, "");
    let path = ApiKey::file(&settings);
    ApiKey::obtain(&settings).unwrap();
    set_mode(&data, 0o755);
    set_mode(&path, 0o644);
    let key = ApiKey::obtain(&settings).unwrap();
    let tightened = |path: &Path| Warning::Tightened { path: path.to_owned() };
    assert_eq!(key.warnings, [tightened(&data), tightened(&path)]);
    assert_eq!(mode_of(&data).unwrap() & 0o777, 0o700);
    assert_eq!(mode_of(&path).unwrap() & 0o777, 0o600);
}

#[test]
fn a_shared_folder_is_refused_and_left_alone() {
    let (_parent, data) = place();
    std::fs::create_dir_all(&data).unwrap();
    let settings = settings(&data, "");
    set_mode(&data, 0o1777);
    let error = ApiKey::obtain(&settings).unwrap_err();
    assert!(matches!(error, KeyError::SharedFolder(folder) if folder == data));
    assert_eq!(mode_of(&data).unwrap() & 0o7777, 0o1777);
}

#[test]
fn a_file_that_holds_no_key_is_refused() {
    let (_parent, data) = place();
    std::fs::create_dir_all(&data).unwrap();
    let settings = settings(&data, "");
    let path = ApiKey::file(&settings);
    for content in [&b""[..], b"short", b"codex-local-secret", b"a key of several words", b"\xff"] {
        std::fs::write(&path, content).unwrap();
        let error = ApiKey::obtain(&settings).unwrap_err();
        assert!(matches!(&error, KeyError::Damaged(file) if *file == path), "{error}");
    }
}

/// Whoever starts at the same time gets the same key.
#[test]
fn a_key_that_somebody_else_has_just_written_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("api-key");
    assert_eq!(write_new(&path, "the first").unwrap(), Written::New);
    assert_eq!(write_new(&path, "the second").unwrap(), Written::Exists);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "the first");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn row_5_the_default_key_is_rotated_in_its_file() {
    let (_parent, data) = place();
    let settings = settings(&data, "");
    let path = ApiKey::file(&settings);
    let mut earlier = Vec::new();
    // The first one replaces nothing, the last one something that is no key.
    for content in [None, None, Some("damaged")] {
        if let Some(content) = content {
            std::fs::write(&path, content).unwrap();
        }
        let rotated = ApiKey::rotate(&settings).unwrap();
        assert_eq!(rotated.origin, KeyOrigin::Generated(path.clone()));
        let secret = rotated.secret.expose_secret().to_owned();
        assert_eq!(ApiKey::obtain(&settings).unwrap().secret.expose_secret(), secret);
        assert_eq!(mode_of(&path).unwrap() & 0o777, 0o600);
        assert!(!earlier.contains(&secret));
        earlier.push(secret);
    }
    assert_eq!(std::fs::read_dir(&data).unwrap().count(), 1);
}

#[test]
fn a_key_that_was_set_is_not_rotated() {
    let (_parent, data) = place();
    let error = ApiKey::rotate(&settings(&data, "test")).unwrap_err();
    assert!(matches!(error, KeyChangeError::Given), "{error}");
    assert!(!data.exists());
}
