use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use super::*;

fn refused<T: std::fmt::Debug>(result: io::Result<T>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn row_5_what_every_user_can_write_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    std::fs::write(&file, "port = 1").unwrap();
    assert_eq!(read(&file).unwrap(), b"port = 1");
    std::fs::set_permissions(&file, Permissions::from_mode(0o666)).unwrap();
    assert_eq!(refused(read(&file)), "every user can write to it");
    assert_eq!(read_of_anybody(&file).unwrap(), b"port = 1");

    assert!(check_folder(folder.path()).is_ok());
    assert!(check_folder(&folder.path().join("missing")).is_ok());
    for mode in [0o777, 0o1777] {
        std::fs::set_permissions(folder.path(), Permissions::from_mode(mode)).unwrap();
        assert_eq!(refused(check_folder(folder.path())), "every user can write to it");
    }
}

/// Files of others are at hand for those who are not root only.
#[test]
fn row_5_what_belongs_to_another_user_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    std::fs::write(&file, "port = 1").unwrap();
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&file, Some(65_534), None).unwrap();
        assert_eq!(refused(read(&file)), "it belongs to another user");
    } else {
        // Root's are as good as ours.
        assert!(read(Path::new("/etc/passwd")).is_ok());
    }
}

#[test]
fn what_is_no_file_or_never_ends_does_not_keep_us() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [&pipe, Path::new("/dev/zero"), folder.path()] {
        assert_eq!(refused(read(path)), "it is not a regular file", "{}", path.display());
    }
    let large = folder.path().join("large");
    File::create(&large).unwrap().set_len(MOST_BYTES + 1).unwrap();
    assert_eq!(refused(read(&large)), "it is larger than 1048576 bytes");
    assert_eq!(
        refused(read(&folder.path().join("missing"))),
        "No such file or directory (os error 2)"
    );
}
