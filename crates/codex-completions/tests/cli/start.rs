//! `./start`, where everything is built already.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::user::{err, out};

const START: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../start");

/// A clone, with a program in the place of ours that prints what it is given.
struct Clone {
    folder: TempDir,
}

// === impl Clone ===

impl Clone {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for part in ["bin", "target/release", "elsewhere"] {
            std::fs::create_dir_all(folder.path().join(part)).unwrap();
        }
        std::fs::copy(START, folder.path().join("start")).unwrap();
        write_program(&folder.path().join("bin/cargo"), "");
        let program = folder.path().join("target/release/codex-completions");
        write_program(&program, "pwd; printf '%s\\n' \"$@\"");
        Self { folder }
    }

    /// What our program is given, if `./start` is called from another folder.
    fn arguments(&self, arguments: &[&str]) -> Vec<String> {
        let folder = self.folder.path();
        let output = Command::new(folder.join("start"))
            .args(arguments)
            .current_dir(folder.join("elsewhere"))
            .env(
                "PATH",
                format!("{}:{}", folder.join("bin").display(), std::env::var("PATH").unwrap()),
            )
            .env("CODEX_BIN", "/nowhere/codex")
            .env_remove("CARGO_TARGET_DIR")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", err(&output));
        let printed = out(&output);
        let mut lines = printed.lines();
        let working_folder = lines.next().unwrap();
        assert_eq!(Path::new(working_folder), folder.canonicalize().unwrap());
        lines.map(str::to_owned).collect()
    }
}

fn write_program(path: &Path, script: &str) {
    std::fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn row_20_start_names_the_file_of_the_repository_and_of_no_other_folder() {
    let clone = Clone::new();
    std::fs::write(clone.folder.path().join("elsewhere/.env"), "PORT=1\n").unwrap();
    for (arguments, expected) in [
        (&[][..], &["serve"][..]),
        (&["--port", "8080"], &["serve", "--port", "8080"]),
        (&["--env-file", "my.env"], &["serve", "--env-file", "my.env"]),
        (&["--env-file=my.env"], &["serve", "--env-file=my.env"]),
        (&["ask", "two words"], &["ask", "two words"]),
    ] {
        assert_eq!(clone.arguments(arguments), expected, "{arguments:?}");
    }

    std::fs::write(clone.folder.path().join(".env"), "PORT=2\n").unwrap();
    for (arguments, expected) in [
        (&[][..], &["--env-file", ".env", "serve"][..]),
        (&["--host", "::1"], &["--env-file", ".env", "serve", "--host", "::1"]),
        (&["key", "list"], &["--env-file", ".env", "key", "list"]),
        (&["completions", "bash"], &["--env-file", ".env", "completions", "bash"]),
        (&["--help"], &["--env-file", ".env", "--help"]),
        // Another one that is named is meant.
        (&["--env-file", "my.env"], &["serve", "--env-file", "my.env"]),
        (&["top", "--env-file=my.env"], &["top", "--env-file=my.env"]),
    ] {
        assert_eq!(clone.arguments(arguments), expected, "{arguments:?}");
    }
}
