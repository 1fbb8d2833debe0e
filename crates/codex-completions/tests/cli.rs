//! The binary as a person uses it, with the real Codex.
#![cfg(test)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;
use testkit::codex_binary;
use testkit::process::{is_running, signal};

/// A fresh user: an empty data folder, and nothing of ours in the environment.
struct User {
    folder: TempDir,
    codex: std::path::PathBuf,
}

impl User {
    async fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), codex: codex_binary().await.path().to_owned() }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_codex-completions"));
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            if ["PROXY_", "WORKER_", "CODEX_"].iter().any(|start| name.starts_with(start)) {
                command.env_remove(name);
            }
        }
        command
            .args(arguments)
            .env_remove("PORT")
            .env("PROXY_DATA_DIR", self.folder.path())
            .env("CODEX_BIN", &self.codex);
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A server that is killed if the test fails.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start(user: &User, more: &[(&str, &str)]) -> Self {
        let mut process = user
            .command(&["serve", "--port", "0"])
            .envs(more.iter().copied())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let address = lines
            .map_while(Result::ok)
            .find_map(|line| Some(line.trim().strip_prefix("address")?.trim().to_owned()))
            .expect("the server tells its address once it is ready");
        let address = address.trim_start_matches("http://").to_owned();
        Self { process, address }
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n",
            self.address
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// The Codex children.
    fn children(&self) -> Vec<u32> {
        let mut processes = self.processes();
        processes.retain(|pid| {
            let program = std::fs::read_link(format!("/proc/{pid}/exe"));
            program.is_ok_and(|program| program.ends_with("codex"))
        });
        processes
    }

    /// Everything that it has started.
    fn processes(&self) -> Vec<u32> {
        let id = self.process.id();
        std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"))
            .unwrap_or_default()
            .split_whitespace()
            .map(|pid| pid.parse().unwrap())
            .collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test]
async fn ask_streams_an_answer_without_an_account() {
    let user = User::new().await;
    let output = user.run(&["ask", "--model", "demo", "hello"]);
    assert!(output.status.success(), "{}", err(&output));
    assert!(out(&output).contains("demo"), "{}", out(&output));
    assert_eq!(err(&output), "");
}

#[tokio::test]
async fn ask_shows_the_calls_of_the_tools_that_it_offers() {
    let user = User::new().await;
    let question = "What is the weather in Paris, and what is the time?";
    let output = user.run(&[
        "ask",
        "--model",
        "demo",
        question,
        "--tool",
        "get_weather",
        "--tool",
        "get_time",
    ]);
    assert!(output.status.success(), "{}", err(&output));
    let calls: Vec<_> =
        out(&output).lines().filter(|line| line.starts_with("→ ")).map(str::to_owned).collect();
    assert!(
        matches!(&calls[..], [weather, time]
        if weather.starts_with("→ get_weather {") && time.starts_with("→ get_time {")),
        "{calls:?}"
    );
}

#[tokio::test]
async fn a_failure_is_explained_and_has_an_exit_code() {
    let user = User::new().await;
    let output = user.run(&["ask", "--model", "demo", "[[http:401]]"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("sign in first"), "{}", err(&output));

    let output = user.command(&["ask", "x"]).env("PROXY_TIMEOUT_MS", "soon").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).starts_with("error: PROXY_TIMEOUT_MS=\"soon\": expected"));
}

#[tokio::test]
async fn odd_places_and_readers_are_fine() {
    let user = User::new().await;
    let parent = user.folder.path().join("with a space, and ümläuts");
    std::fs::create_dir(&parent).unwrap();
    let output = user
        .command(&["ask", "--model", "demo", "[[text:fine]]"])
        .current_dir(&parent)
        .env("PROXY_CODEX_HOME", "relative/home")
        .output()
        .unwrap();
    assert_eq!((out(&output).as_str(), err(&output).as_str()), ("fine\n", ""));
    assert!(parent.join("relative/home/config.toml").exists());

    let mut unread = user
        .command(&["ask", "--model", "demo", "[[big:1000000]]"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(unread.stdout.take());
    assert_eq!(err(&unread.wait_with_output().unwrap()), "");
}

#[tokio::test]
async fn another_upstream_gets_the_question_with_its_own_key() {
    let user = User::new().await;
    let model = scripted_model::ScriptedModel::start().await.unwrap();
    let mut command = user.command(&["ask", "--model", "my-model", "[[echo]]to you"]);
    command
        .env("PROXY_UPSTREAM_BASE_URL", model.base_url())
        .env("PROXY_UPSTREAM_API_KEY", "sk-mine");
    // The model lives in this process, so nothing may block its only thread.
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    assert_eq!(out(&output), "to you\n", "{}", err(&output));
    let request = model.last_request().unwrap();
    assert_eq!(request.header("authorization"), Some("Bearer sk-mine"));
    assert_eq!(request.body["model"], "my-model");
}

#[tokio::test]
async fn doctor_says_what_is_well_and_what_to_do() {
    let user = User::new().await;
    let output = user.run(&["doctor", "--port", "0"]);
    assert!(output.status.success(), "{}", out(&output));
    let lines = out(&output);
    assert_eq!(lines.lines().filter(|line| line.starts_with("ok ")).count(), 6, "{lines}");

    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = user.run(&["doctor", "--port", &port]);
    assert_eq!(output.status.code(), Some(1));
    assert!(out(&output).contains("choose another port"), "{}", out(&output));
}

#[tokio::test]
async fn an_old_or_missing_codex_is_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut user = User::new().await;
    user.codex = user.folder.path().join("codex");
    let missing = user.run(&["ask", "x"]);
    assert!(err(&missing).contains("no Codex at"), "{}", err(&missing));

    std::fs::write(&user.codex, "#!/bin/sh\necho codex-cli 0.1.0\n").unwrap();
    std::fs::set_permissions(&user.codex, std::fs::Permissions::from_mode(0o755)).unwrap();
    let old = user.run(&["doctor", "--port", "0"]);
    assert_eq!(old.status.code(), Some(1));
    assert!(out(&old).contains("too old: 0.166.0 or newer is needed"), "{}", out(&old));
}

#[tokio::test]
async fn the_server_tells_its_health_and_stops_when_asked() {
    let user = User::new().await;
    let mut server = Server::start(&user, &[("WORKER_SHUTDOWN_GRACE_MS", "500")]);
    assert!(server.get("/livez").starts_with("HTTP/1.1 200"));
    let ready = server.get("/readyz");
    let version = format!(r#""codex":"{}""#, codex_binary().await.version());
    assert!(ready.starts_with("HTTP/1.1 200") && ready.contains(&version), "{ready}");
    assert!(server.get("/healthz").contains(r#""state":"ready""#));
    let unknown = server.get("/v1/nothing");
    assert!(unknown.starts_with("HTTP/1.1 404") && unknown.contains(r#""code":"unknown_path""#));

    let processes = server.processes();
    assert_eq!(server.children().len(), 1);
    // Neither a request that never ends nor a grandchild may hold it up.
    let mut half = TcpStream::connect(&server.address).unwrap();
    half.write_all(b"GET /livez HTTP/1.1\r\nhost: x\r\n").unwrap();
    signal(server.process.id(), "-TERM");
    assert_eq!(server.process.wait().unwrap().code(), Some(0));
    assert!(!processes.into_iter().any(is_running));
}

/// A process that Codex starts belongs to its group, and goes with it.
#[tokio::test]
async fn what_the_child_has_started_goes_with_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut user = User::new().await;
    let pid_file = user.folder.path().join("grandchild");
    let wrapper = user.folder.path().join("wrapper");
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = app-server ]; then sleep 1000 & echo $! > '{}'; fi\nexec '{}' \"$@\"\n",
        pid_file.display(),
        user.codex.display(),
    );
    std::fs::write(&wrapper, script).unwrap();
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    user.codex = wrapper;
    for ending in ["-TERM", "-KILL"] {
        let mut server = Server::start(&user, &[]);
        let grandchild: u32 = std::fs::read_to_string(&pid_file).unwrap().trim().parse().unwrap();
        assert!(is_running(grandchild));
        let processes = server.processes();
        signal(server.process.id(), ending);
        server.process.wait().unwrap();
        // If we were killed ourselves, somebody else sees to it a moment later.
        while ending == "-KILL" && processes.iter().chain([&grandchild]).any(|pid| is_running(*pid))
        {
            std::thread::yield_now();
        }
        assert!(!processes.into_iter().chain([grandchild]).any(is_running));
    }
}

/// A child that does not notice that we are gone.
#[tokio::test]
async fn a_child_that_hangs_goes_when_we_are_killed() {
    let user = User::new().await;
    let mut server = Server::start(&user, &[]);
    let processes = server.processes();
    signal(server.children()[0], "-STOP");
    signal(server.process.id(), "-KILL");
    server.process.wait().unwrap();
    while processes.iter().any(|pid| is_running(*pid)) {
        std::thread::yield_now();
    }
}

#[tokio::test]
async fn a_lost_child_makes_the_server_unready() {
    let user = User::new().await;
    let server = Server::start(&user, &[("PROXY_LOG", "off")]);
    signal(server.children()[0], "-KILL");
    let answer = loop {
        let answer = server.get("/readyz");
        if !answer.starts_with("HTTP/1.1 200") {
            break answer;
        }
    };
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("closed its output"), "{answer}");
    assert!(server.get("/livez").starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn a_port_in_use_is_an_error_that_says_what_to_do() {
    let user = User::new().await;
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = user.run(&["serve", "--port", &port]);
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("choose another port with --port or PORT"), "{}", err(&output));
}
