//! The layers of the settings, as `config` and the start of every command show them.

use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::user::{User, err, out};

/// `config` in a folder of its own, for a user without Codex.
struct Scene {
    user: User,
    folder: TempDir,
}

impl Scene {
    fn new() -> Self {
        let codex = "/nowhere/codex".into();
        Self {
            user: User { folder: tempfile::tempdir().unwrap(), codex },
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.user.command(arguments);
        command.current_dir(self.folder.path());
        if self.folder.path().join(".env").exists() {
            command.args(["--env-file", ".env"]);
        }
        command
    }

    fn with_dotenv(self, text: &str) -> Self {
        std::fs::write(self.folder.path().join(".env"), text).unwrap();
        self
    }

    fn with_toml(self, text: &str) -> Self {
        std::fs::write(self.user.folder.path().join("config.toml"), text).unwrap();
        self
    }

    fn path(folder: &TempDir, file: &str) -> String {
        std::fs::canonicalize(folder.path()).unwrap().join(file).display().to_string()
    }
}

fn setting(output: &Output, name: &str) -> Value {
    assert!(output.status.success(), "{}", err(output));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    json["settings"][name].clone()
}

fn is(value: &str, source: &str) -> Value {
    json!({"value": value, "source": source})
}

#[test]
fn every_layer_is_read_and_the_last_wins() {
    let mut scene = Scene::new();
    let port =
        |scene: &Scene| setting(&scene.command(&["config", "--json"]).output().unwrap(), "PORT");
    assert_eq!(port(&scene), is("11435", "default"));
    scene = scene.with_toml("port = 1\n");
    let toml = scene.user.folder.path().join("config.toml");
    assert_eq!(port(&scene), is("1", toml.to_str().unwrap()));
    scene = scene.with_dotenv("PORT=2\n");
    assert_eq!(port(&scene), is("2", &Scene::path(&scene.folder, ".env")));
    let output = scene.command(&["config", "--json"]).env("PORT", "3").output().unwrap();
    assert_eq!(setting(&output, "PORT"), is("3", "environment"));
    let flag = &["config", "--json", "--port", "4"];
    let output = scene.command(flag).env("PORT", "3").output().unwrap();
    assert_eq!(setting(&output, "PORT"), is("4", "--port"));
}

#[test]
fn another_file_can_be_named() {
    let scene = Scene::new().with_toml("port = 1\n");
    std::fs::write(scene.folder.path().join("mine.toml"), "port = 2\nhost = '::1'\n").unwrap();
    let output = scene.command(&["config", "--json", "--config", "mine.toml"]).output().unwrap();
    assert_eq!(setting(&output, "PORT"), is("2", "mine.toml"));
    assert_eq!(setting(&output, "PROXY_HOST"), is("::1", "mine.toml"));
    let output = scene.command(&["serve", "--config", "none.toml"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).starts_with("error: cannot read none.toml: "), "{}", err(&output));
}

#[test]
fn everything_wrong_is_told_before_anything_starts() {
    let scene = Scene::new().with_dotenv("PROXY_TIMEOUT_MS=soon\n");
    let mut command = scene.command(&["serve", "--port", "0"]);
    let output = command.env("PROXY_STOP_AFTER_TOOL", "1").output().unwrap();
    assert_eq!((output.status.code(), out(&output).as_str()), (Some(1), ""));
    let dotenv = Scene::path(&scene.folder, ".env");
    let wanted = format!(
        "error: 2 settings cannot be used:\n  \
         PROXY_TIMEOUT_MS=\"soon\": expected a whole number of milliseconds from 1 to 31536000000 (from: {dotenv})\n  \
         PROXY_STOP_AFTER_TOOL is not a setting; did you mean PROXY_STOP_AFTER_TOOLS? \
         (from: environment)\n"
    );
    assert_eq!(err(&output), wanted);
}

#[test]
fn other_machines_are_not_let_in_by_accident() {
    let scene = Scene::new();
    let output = scene.command(&["serve", "--host", "0.0.0.0", "--port", "0"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("set PROXY_ALLOW_REMOTE=true if that is meant"));
    let mut command = scene.command(&["serve", "--host", "0.0.0.0", "--port", "0"]);
    command.env("PROXY_ALLOW_REMOTE", "true").env("PROXY_API_KEY", "codex-local-secret");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("PROXY_API_KEY can be guessed"), "{}", err(&output));
}

#[test]
fn one_address_can_be_chosen() {
    let scene = Scene::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for (host, words) in [
        ("127.0.0.1", format!("FAIL  127.0.0.1:{port} is in use")),
        ("127.0.0.2", format!("ok    port {port} is free\n")),
        ("192.0.2.1", format!("FAIL  cannot listen on 192.0.2.1:{port}: ")),
    ] {
        let mut command = scene.command(&["doctor", "--host", host, "--port", &port]);
        let output = command.env("PROXY_ALLOW_REMOTE", "true").output().unwrap();
        assert!(out(&output).contains(&words), "{}", out(&output));
    }
}

#[test]
fn secrets_are_hidden_and_what_is_unset_is_explained() {
    let scene = Scene::new();
    let mut command = scene.command(&["config"]);
    let output = command.env("PROXY_API_KEY", "canary-canary").output().unwrap();
    assert!(output.status.success());
    let lines: Vec<_> = out(&output).lines().map(str::to_owned).collect();
    let line = |name: &str| {
        let line = lines.iter().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("PROXY_API_KEY="), "PROXY_API_KEY=(hidden) environment");
    assert_eq!(line("PROXY_HOST="), "PROXY_HOST= default: 127.0.0.1 and ::1");
    assert_eq!(line("CODEX_BIN="), "CODEX_BIN=/nowhere/codex environment");
    let data = scene.user.folder.path();
    let home = format!("PROXY_CODEX_HOME={} default", data.join("codex-home").display());
    assert_eq!(line("PROXY_CODEX_HOME="), home);
    assert!(!out(&output).contains("canary"));
    assert_eq!(err(&output), "");
    // Looking changes nothing.
    assert_eq!(std::fs::read_dir(data).unwrap().count(), 0);
}

#[test]
fn settings_of_another_time_are_warned_about() {
    let scene = Scene::new().with_dotenv("PROXY_USE_APP_SERVER=true\n");
    let output = scene.command(&["config"]).env("PROXY_LOG_FORMAT", "text").output().unwrap();
    assert!(output.status.success());
    let dotenv = Scene::path(&scene.folder, ".env");
    let words = format!(
        "PROXY_USE_APP_SERVER is not used: codex app-server is always used (from: {dotenv})"
    );
    let told = err(&output);
    let warned = |line: &str| line.contains(" WARN ") && line.ends_with(&words);
    assert_eq!(told.lines().filter(|line| warned(line)).count(), 1, "{told}");
}

#[test]
fn logs_are_json_where_no_person_reads_them() {
    let scene = Scene::new();
    let mut command = scene.command(&["config"]);
    let output = command.env("PROXY_USE_APP_SERVER", "true").output().unwrap();
    let line: Value = serde_json::from_str(&err(&output)).unwrap();
    assert_eq!(
        (&line["level"], &line["message"]),
        (
            &json!("WARN"),
            &json!(
                "PROXY_USE_APP_SERVER is not used: codex app-server is always used (from: environment)"
            )
        )
    );
}
