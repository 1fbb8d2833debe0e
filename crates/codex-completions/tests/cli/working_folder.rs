//! A folder of a stranger's, such as a clone: no command runs, reads or sends anything that it asks for.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use testkit::codex_binary;
use testkit::process::signal;

use crate::server::{Server, free_port};
use crate::user::{User, err, out};

/// No command takes nearly as long.
const LIMIT: Duration = Duration::from_mins(1);

const WARNING: &str = ".env is not read; to use it, add: --env-file .env";

const RECORD: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../capture/tests/captures/parallel-calls.jsonl");

/// A user with no settings but a port, in the folder of a stranger.
struct Scene {
    home: TempDir,
    hostile: TempDir,
    /// Where the stranger wants everything sent.
    trap: TcpListener,
    /// Where the user's own server listens.
    port: u16,
}

/// Where a command shows its warnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Warned {
    OnStandardError,
    InItsReport,
    /// It has no settings.
    Never,
}

// === impl Scene ===

impl Scene {
    async fn new() -> Self {
        let scene = Self {
            home: tempfile::tempdir().unwrap(),
            hostile: tempfile::tempdir().unwrap(),
            trap: TcpListener::bind("127.0.0.1:0").unwrap(),
            port: free_port(),
        };
        scene.trap.set_nonblocking(true).unwrap();
        let bin = scene.home.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        symlink(codex_binary().await.path(), bin.join("codex")).unwrap();
        std::fs::create_dir_all(scene.data_folder()).unwrap();
        let settings = format!("port = {}\n", scene.port);
        std::fs::write(scene.data_folder().join("config.toml"), settings).unwrap();
        scene.plant();
        scene
    }

    fn data_folder(&self) -> PathBuf {
        self.home.path().join(".local/share/codex-completions")
    }

    fn mark(&self) -> PathBuf {
        self.hostile.path().join("it-ran")
    }

    /// Everything that the folder could do to a command.
    fn plant(&self) {
        let folder = self.hostile.path();
        let trap = self.trap.local_addr().unwrap();
        let lines = [
            "PROXY_HOST=127.0.0.1".to_owned(),
            format!("PORT={}", trap.port()),
            format!("PROXY_DATA_DIR={}", folder.join("stolen").display()),
            "CODEX_BIN=./evil.sh".to_owned(),
            "PROXY_CONFIG=config.toml".to_owned(),
            "PROXY_API_KEY=sk-of-the-stranger".to_owned(),
            format!("PROXY_UPSTREAM_BASE_URL=http://{trap}/v1"),
            format!("PROXY_CHATGPT_BASE_URL=http://{trap}/backend-api"),
        ];
        std::fs::write(folder.join(".env"), lines.join("\n")).unwrap();
        std::fs::write(folder.join("config.toml"), "codex_bin = \"./evil.sh\"\n").unwrap();
        std::fs::write(folder.join("api-key"), "sk-of-the-stranger\n").unwrap();
        let script = format!("#!/bin/sh\necho >'{}'\n", self.mark().display());
        for name in ["evil.sh", "codex", "npm", "xdg-open"] {
            write_program(&folder.join(name), &script);
        }
    }

    /// Our binary in that folder, which the PATH has too, as a careless user's may.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_codex-completions"));
        let bin = self.home.path().join("bin");
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", format!(":.:{}:/usr/local/bin:/usr/bin:/bin", bin.display()))
            .current_dir(self.hostile.path());
        command
    }

    async fn run(&self, arguments: &[&str], input: &str) -> Output {
        let mut command = tokio::process::Command::from(self.command(arguments));
        // A file, because not every command reads it.
        let mut stdin = tempfile::tempfile().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
        std::io::Seek::rewind(&mut stdin).unwrap();
        let output = command.stdin(stdin).kill_on_drop(true).output();
        let output = tokio::time::timeout(LIMIT, output).await;
        output.unwrap_or_else(|_| panic!("{arguments:?} does not end")).unwrap()
    }

    /// Nothing was run, nothing was sent, nothing was left there.
    fn assert_untouched(&self, by: &str) {
        assert!(!self.mark().exists(), "{by} has run a program of the folder");
        let connection = self.trap.accept().map_err(|error| error.kind());
        assert_eq!(connection.unwrap_err(), ErrorKind::WouldBlock, "{by} has called the stranger");
        let names = std::fs::read_dir(self.hostile.path()).unwrap();
        let names: BTreeSet<_> = names.map(|entry| entry.unwrap().file_name()).collect();
        let planted = [".env", "api-key", "codex", "config.toml", "evil.sh", "npm", "xdg-open"];
        assert_eq!(names, planted.map(Into::into).into(), "{by} has written into the folder");
    }

    fn assert_warned(&self, by: &str, output: &Output, warned: Warned) {
        let folder = self.hostile.path().canonicalize().unwrap();
        let warning = format!("{}/{WARNING}", folder.display());
        let counts = [out(output), err(output)].map(|text| text.matches(&warning).count());
        let expected = match warned {
            Warned::OnStandardError => [0, 1],
            Warned::InItsReport => [1, 0],
            Warned::Never => [0, 0],
        };
        assert_eq!(counts, expected, "{by}: {}{}", out(output), err(output));
    }
}

fn write_program(path: &Path, script: &str) {
    std::fs::write(path, script).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// The names of the commands, as `--help` lists them.
fn commands(help: &str) -> BTreeSet<&str> {
    let (_, list) = help.split_once("Commands:\n").unwrap();
    let lines = list.lines().take_while(|line| !line.is_empty());
    lines.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect()
}

#[tokio::test]
async fn row_20_no_command_obeys_the_folder_that_it_is_started_in() {
    use Warned::{InItsReport, Never, OnStandardError};
    let scene = Scene::new().await;
    let base_url = format!("http://127.0.0.1:{}/v1", scene.port);
    let runs: &[(&[&str], i32, Warned)] = &[
        (&["login", "--with-api-key"], 0, OnStandardError),
        (&["status"], 0, OnStandardError),
        (&["models"], 0, OnStandardError),
        (&["ask", "--model", "demo", "hello"], 0, OnStandardError),
        (&["doctor"], 0, InItsReport),
        (&["config"], 0, OnStandardError),
        (&["key", "rotate"], 0, OnStandardError),
        (&["key", "add", "phone"], 0, OnStandardError),
        (&["key", "list"], 0, OnStandardError),
        (&["key", "revoke", "phone"], 0, OnStandardError),
        // No server runs yet.
        (&["smoke"], 1, OnStandardError),
        (&["top"], 1, OnStandardError),
        (&["conformance", "--base-url", &base_url, "--model", "demo"], 2, Never),
        (&["logout"], 0, OnStandardError),
        (&["calls", "--sse"], 0, Never),
        (&["replay", RECORD], 0, Never),
        (&["completions", "bash"], 0, Never),
    ];
    for (arguments, code, warned) in runs {
        let by = arguments.join(" ");
        let output = scene.run(arguments, "sk-of-the-user\n").await;
        scene.assert_untouched(&by);
        let status = output.status.code();
        assert_eq!(status, Some(*code), "{by}: {}{}", out(&output), err(&output));
        scene.assert_warned(&by, &output, *warned);
        assert!(!out(&output).contains("stranger"), "{by}: {}", out(&output));
    }
    let help = out(&scene.run(&["--help"], "").await);
    let run = runs.iter().map(|(arguments, ..)| arguments[0]).chain(["serve"]).collect();
    assert_eq!(commands(&help), run, "every command is tried");

    let log = scene.home.path().join("log");
    let mut serve = scene.command(&["serve"]);
    serve.stderr(std::fs::File::create(&log).unwrap());
    let mut server = Server::spawn(serve);
    assert_eq!(server.address, format!("127.0.0.1:{}", scene.port));
    // It takes the key of the user's own folder.
    let smoke = scene.run(&["smoke"], "").await;
    assert!(smoke.status.success(), "{}{}", out(&smoke), err(&smoke));
    signal(server.process.id(), "-TERM");
    let status = server.process.wait().unwrap();
    scene.assert_untouched("serve");
    let stderr = std::fs::read(log).unwrap();
    let output = Output { status, stdout: Vec::new(), stderr };
    scene.assert_warned("serve", &output, OnStandardError);
}

/// Every command that has settings, with what it needs to get as far as reading them.
const WITH_SETTINGS: [&[&str]; 14] = [
    &["serve"],
    &["ask", "x"],
    &["login"],
    &["logout"],
    &["status"],
    &["models"],
    &["doctor"],
    &["config"],
    &["key", "list"],
    &["key", "add", "x"],
    &["key", "rotate"],
    &["key", "revoke", "x"],
    &["smoke"],
    &["top"],
];

fn user() -> User {
    User { folder: tempfile::tempdir().unwrap(), codex: "/nowhere/codex".into() }
}

#[test]
fn row_20_a_named_file_is_read_by_every_command_with_settings() {
    let user = user();
    let file = user.folder.path().join("my settings.env");
    std::fs::write(&file, "PROXY_TIMEOUT_MS=soon\n").unwrap();
    let named = ["--env-file", file.to_str().unwrap()];
    let problem = format!("(from: {})\n", file.display());
    for command in WITH_SETTINGS {
        for arguments in [[&named, command].concat(), [command, &named].concat()] {
            let output = user.run(&arguments);
            assert_eq!(output.status.code(), Some(1), "{arguments:?}");
            let error = err(&output);
            assert!(
                error.starts_with("error: PROXY_TIMEOUT_MS=\"soon\""),
                "{arguments:?}: {error}"
            );
            assert!(error.ends_with(&problem), "{arguments:?}: {error}");
        }
    }
    // `./start` names one for every command.
    for command in [&["completions", "bash"][..], &["calls", "--help"], &["replay", RECORD]] {
        assert!(user.run(&[&named, command].concat()).status.success(), "{command:?}");
    }
}

#[test]
fn row_20_a_named_file_must_be_there_and_of_the_user() {
    let user = user();
    let file = user.folder.path().join("my.env");
    let refused = |reason: &str| {
        let mut command = user.command(&["config", "--env-file", "my.env"]);
        let output = command.current_dir(user.folder.path()).output().unwrap();
        assert_eq!((output.status.code(), out(&output).as_str()), (Some(1), ""));
        let path = user.folder.path().canonicalize().unwrap().join("my.env");
        let wanted = format!("error: cannot read {}: {reason} (--env-file)\n", path.display());
        assert_eq!(err(&output), wanted);
    };
    refused("No such file or directory (os error 2)");
    std::fs::create_dir(&file).unwrap();
    refused("it is not a regular file");
    std::fs::remove_dir(&file).unwrap();
    std::fs::write(&file, "PORT=1\n").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o646)).unwrap();
    refused("every user can write to it");
    // Only root can give a file away.
    if std::os::unix::fs::chown(&file, Some(65_534), None).is_ok() {
        refused("it belongs to another user");
    }

    let twice = user.run(&["config", "--env-file", "a", "--env-file", "b"]);
    assert_eq!(twice.status.code(), Some(2));
    assert!(err(&twice).contains("'--env-file <FILE>' cannot be used multiple times"));
    let none = user.command(&["config", "--env-file"]).stdin(Stdio::null()).output().unwrap();
    assert_eq!(none.status.code(), Some(2));
}
