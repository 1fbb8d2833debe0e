use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn script(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn codex_that_says(folder: &Path, words: &str) -> PathBuf {
    let path = folder.join("codex");
    script(&path, &format!("#!/bin/sh\necho '{words}'\n"));
    path
}

#[tokio::test]
async fn the_version_decides() {
    let folder = tempfile::tempdir().unwrap();
    for (words, expected) in [
        ("codex-cli 0.166.0", Ok("0.166.0")),
        ("codex-cli 0.170.0-alpha.2", Ok("0.170.0-alpha.2")),
        ("codex-cli 1.0.0", Ok("1.0.0")),
        ("codex-cli 0.165.9", Err("too old: 0.166.0 or newer is needed")),
        ("hello", Err("does not answer --version")),
        ("mise 2026.1.0", Err("does not answer --version")),
    ] {
        let path = codex_that_says(folder.path(), words);
        match (CodexBinary::at(&path).await, expected) {
            (Ok(binary), Ok(version)) => assert_eq!(binary.version().to_string(), version),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (other, _) => panic!("{words}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn the_npm_wrapper_leads_to_the_native_binary() {
    let folder = tempfile::tempdir().unwrap();
    let scope = folder.path().join("node_modules/@openai");
    let wrapper = scope.join("codex/bin/codex.js");
    script(&wrapper, "#!/usr/bin/env node\n");
    assert!(matches!(CodexBinary::at(&wrapper).await, Err(BinaryError::WrapperAlone(_))));

    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    let platform = match (os, arch) {
        ("linux", "x86_64") => "codex-linux-x64",
        ("linux", "aarch64") => "codex-linux-arm64",
        ("macos", "x86_64") => "codex-darwin-x64",
        ("macos", "aarch64") => "codex-darwin-arm64",
        other => panic!("no name for {other:?}"),
    };
    let native = scope.join(platform).join("vendor/some-triple/bin/codex");
    script(&native, "#!/bin/sh\necho codex-cli 9.9.9\n");
    let link = folder.path().join("codex");
    std::os::unix::fs::symlink(&wrapper, &link).unwrap();
    let binary = CodexBinary::at(&link).await.unwrap();
    assert_eq!(binary.path(), native.canonicalize().unwrap());
}

#[test]
fn the_newest_copy_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    for version in ["0.9.0", "0.166.0", "0.20.0", "rubbish"] {
        let wrapper = folder.path().join(version).join("node_modules/@openai/codex/bin/codex.js");
        script(&wrapper, "#!/usr/bin/env node\n");
    }
    let newest = newest_copy(folder.path()).unwrap();
    assert!(newest.starts_with(folder.path().join("0.166.0")), "{}", newest.display());
    assert_eq!(newest_copy(&folder.path().join("none")), None);
}

/// Tests run in the folder of their crate, where `Cargo.toml` is.
#[test]
fn row_20_the_working_folder_is_not_searched_even_if_the_path_names_it() {
    let name = "Cargo.toml";
    let here = std::env::current_dir().unwrap();
    for path in [".", "", ":", "./", "src/.."] {
        assert!(path.split(':').any(|folder| Path::new(folder).join(name).is_file()), "{path:?}");
        assert_eq!(find_in(OsStr::new(path), name), None, "{path:?}");
        let path = format!("{path}:{}", here.display());
        assert_eq!(find_in(OsStr::new(&path), name), Some(here.join(name)), "{path:?}");
    }
}

#[tokio::test]
async fn row_20_its_version_is_asked_for_outside_of_the_working_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("codex");
    script(&path, "#!/bin/sh\necho codex-cli 9.9.9; pwd >\"$0.pwd\"\n");
    CodexBinary::at(&path).await.unwrap();
    assert_eq!(std::fs::read_to_string(folder.path().join("codex.pwd")).unwrap(), "/\n");
}

#[tokio::test]
async fn a_missing_binary_is_named() {
    let error = CodexBinary::at(Path::new("no/such/codex")).await.unwrap_err();
    assert_eq!(error.to_string(), "no Codex at no/such/codex");
}
