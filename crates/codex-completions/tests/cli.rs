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

    fn type_in(&self, arguments: &[&str], words: &str) -> Output {
        let mut command = self.command(arguments);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        process.stdin.take().unwrap().write_all(words.as_bytes()).unwrap();
        process.wait_with_output().unwrap()
    }
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Everything that a process of ours has started.
fn processes_of(process: &Child) -> Vec<u32> {
    let id = process.id();
    std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"))
        .unwrap_or_default()
        .split_whitespace()
        .map(|pid| pid.parse().unwrap())
        .collect()
}

/// A port that nobody listens on, for a server that is asked before it tells its own.
fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A server that is killed if the test fails.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start(user: &User, more: &[(&str, &str)]) -> Self {
        Self::start_with_log(user, more, Stdio::inherit())
    }

    fn start_with_log(user: &User, more: &[(&str, &str)], log: Stdio) -> Self {
        let mut process = user
            .command(&["serve", "--port", "0"])
            .envs(more.iter().copied())
            .stdout(Stdio::piped())
            .stderr(log)
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

    /// Asks until the answer is as wanted.
    fn until(&self, path: &str, wanted: impl Fn(&str) -> bool) -> String {
        loop {
            let answer = self.get(path);
            if wanted(&answer) {
                return answer;
            }
        }
    }

    fn get(&self, path: &str) -> String {
        // A server that is just starting does not listen yet.
        let mut stream = loop {
            if let Ok(stream) = TcpStream::connect(&self.address) {
                break stream;
            }
        };
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

    fn processes(&self) -> Vec<u32> {
        processes_of(&self.process)
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
    assert!(err(&output).contains("login` signs you in"), "{}", err(&output));

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
    assert!(lines.contains("note  nobody is signed in: only the model demo works"), "{lines}");

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

#[tokio::test]
async fn a_turn_that_is_ended_by_a_signal_leaves_nothing() {
    let user = User::new().await;
    for ending in ["-INT", "-TERM", "-KILL"] {
        let mut process = user
            .command(&["ask", "--model", "demo", "[[hang]]"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0];
        process.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
        let processes = processes_of(&process);
        assert!(!processes.is_empty());
        signal(process.id(), ending);
        process.wait().unwrap();
        while processes.iter().any(|pid| is_running(*pid)) {
            std::thread::yield_now();
        }
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
async fn a_lost_child_makes_the_server_unready_until_it_is_back() {
    let user = User::new().await;
    let long = [("PROXY_LOG", "off"), ("WORKER_BACKOFF_INITIAL_MS", "2000")];
    let server = Server::start(&user, &long);
    let child = server.children()[0];
    signal(child, "-KILL");
    let lost = server.until("/readyz", |answer| answer.starts_with("HTTP/1.1 503"));
    assert!(lost.contains(r#""state":"restarting""#) && lost.contains("next_try_ms"), "{lost}");
    assert!(lost.contains("closed its output"), "{lost}");
    assert!(server.get("/livez").starts_with("HTTP/1.1 200"));
    server.until("/readyz", |answer| answer.starts_with("HTTP/1.1 200"));
    assert_ne!(server.children(), [child]);
}

#[tokio::test]
async fn a_new_codex_is_taken_up_on_request() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut user = User::new().await;
    // A link, as a package manager would move it to another version.
    let (real, link) = (user.codex.clone(), user.folder.path().join("codex"));
    std::os::unix::fs::symlink(&real, &link).unwrap();
    user.codex.clone_from(&link);
    let mut server = Server::start_with_log(&user, &[("WORKER_COUNT", "2")], Stdio::piped());
    let log = BufReader::new(server.process.stderr.take().unwrap());
    server.until("/healthz", |answer| answer.matches(r#"{"state":"ready""#).count() == 2);
    let old = server.children();
    assert_eq!(old.len(), 2);

    let newer = user.folder.path().join("newer");
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = --version ]; then echo codex-cli 9.9.9; else exec '{}' \"$@\"; fi\n",
        real.display()
    );
    std::fs::write(&newer, script).unwrap();
    std::fs::set_permissions(&newer, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(&newer, &link).unwrap();
    signal(server.process.id(), "-USR2");
    server.until("/healthz", |answer| {
        answer.matches(r#"{"state":"ready","codex":"9.9.9""#).count() == 2
    });
    while server.children().iter().any(|child| old.contains(child)) {
        std::thread::yield_now();
    }
    assert_eq!(server.children().len(), 2);

    // One that does not work changes nothing.
    let children = server.children();
    std::fs::write(&newer, "#!/bin/sh\necho codex-cli 10.0.0\n").unwrap();
    signal(server.process.id(), "-USR2");
    let refused = log.lines().map_while(Result::ok).find(|line| line.contains("was not renewed"));
    assert!(refused.is_some());
    let ready = server.get("/readyz");
    assert!(ready.starts_with("HTTP/1.1 200") && ready.contains("9.9.9"), "{ready}");
    assert_eq!(server.children(), children);
}

#[tokio::test]
async fn a_codex_that_does_not_start_is_tried_again_and_its_words_are_shown() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut user = User::new().await;
    let (real, broken) = (user.codex.clone(), user.folder.path().join("broken"));
    let mended = user.folder.path().join("mended");
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = app-server ] && ! [ -e '{}' ]; then echo no disk >&2; exit 1; fi\nexec '{}' \"$@\"\n",
        mended.display(),
        real.display()
    );
    std::fs::write(&broken, script).unwrap();
    std::fs::set_permissions(&broken, std::fs::Permissions::from_mode(0o755)).unwrap();
    user.codex = broken;
    let port = free_port();
    let mut process = user
        .command(&["serve", "--port", &port.to_string()])
        .env("PROXY_LOG", "off")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let stdout = process.stdout.take().unwrap();
    let server = Server { process, address: format!("127.0.0.1:{port}") };
    server.until("/readyz", |answer| {
        answer.starts_with("HTTP/1.1 503") && answer.contains("no disk")
    });
    std::fs::write(mended, "").unwrap();
    server.until("/readyz", |answer| answer.starts_with("HTTP/1.1 200"));
    assert!(BufReader::new(stdout).lines().next().unwrap().unwrap().contains("is ready"));
}

#[tokio::test]
async fn an_api_key_signs_in_and_a_running_server_takes_it_up() {
    let user = User::new().await;
    let server = Server::start(&user, &[]);
    let before = server.children();
    let status = user.run(&["status"]);
    assert!(status.status.success() && out(&status).starts_with("Nobody is signed in"));
    let nobody = user.run(&["ask", "hello"]);
    assert_eq!(nobody.status.code(), Some(1));
    assert!(err(&nobody).starts_with("error: not signed in to Codex"), "{}", err(&nobody));

    let login = user.type_in(&["login", "--with-api-key"], "sk-of-the-user\n");
    assert_eq!((out(&login).as_str(), err(&login).as_str()), ("Signed in with an API key.\n", ""));
    let status = user.run(&["status", "--json"]);
    let status: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(status["account"]["type"], "api_key");
    let doctor = user.run(&["doctor", "--port", "0"]);
    assert!(out(&doctor).contains("ok    signed in with an API key\n"), "{}", out(&doctor));
    while server.children().is_empty() || server.children() == before {
        std::thread::yield_now();
    }

    assert_eq!(out(&user.run(&["logout"])), "Signed out.\n");
    assert_eq!(out(&user.run(&["logout"])), "Nobody was signed in.\n");
    let empty = user.type_in(&["login", "--with-api-key"], "\n");
    assert!(err(&empty).contains("standard input holds no API key"), "{}", err(&empty));
}

#[tokio::test]
async fn models_are_listed_with_their_other_names() {
    let user = User::new().await;
    let list = user.run(&["models"]);
    assert!(out(&list).contains("\ndemo "), "{}", out(&list));
    assert!(out(&list).contains("\nchat-low "), "{}", out(&list));
    let json = user
        .command(&["models", "--json"])
        .env("CODEX_MODEL", "gpt-5.5")
        .env("PROXY_MODEL_ALIASES", "fast=demo:low")
        .output()
        .unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let find = |list: &str, key: &str, name: &str| {
        let all = json[list].as_array().unwrap();
        all.iter().find(|entry| entry[key] == name).unwrap_or_else(|| panic!("{json}")).clone()
    };
    assert_eq!(find("models", "id", "gpt-5.5")["default"], true);
    assert_eq!(find("models", "id", "demo")["default"], false);
    assert_eq!(find("aliases", "name", "codex-5")["model"], "gpt-5.5");
    let fast = serde_json::json!({"name": "fast", "model": "demo", "effort": "low"});
    assert_eq!(find("aliases", "name", "fast"), fast);

    let ask = user
        .command(&["ask", "--model", "fast", "[[text:by another name]]"])
        .env("PROXY_MODEL_ALIASES", "fast=demo:low")
        .output()
        .unwrap();
    assert_eq!(out(&ask), "by another name\n", "{}", err(&ask));
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
