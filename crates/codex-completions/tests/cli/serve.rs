//! `serve`: health, restarts, a new version, and the end.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use testkit::http::blocking::Connection;
use testkit::process::{is_running, signal, until_gone};
use testkit::{blocking_until, codex_binary, write_script};

use crate::server::{Server, free_port};
use crate::user::{User, err};

const KEY: &str = "sk-of-these-tests";
const WITH_KEY: &str = "authorization: Bearer sk-of-these-tests";

#[tokio::test]
async fn the_server_tells_its_health_and_stops_when_asked() {
    let user = User::new().await;
    let settings = [("WORKER_SHUTDOWN_GRACE_MS", "500"), ("PROXY_API_KEY", KEY)];
    let mut server = Server::start(&user, &settings);
    assert!(server.get("/livez").starts_with("HTTP/1.1 200"));
    let ready = server.get("/readyz");
    assert!(ready.starts_with("HTTP/1.1 200") && ready.ends_with(r#"{"ready":true}"#), "{ready}");
    assert!(server.get("/healthz").ends_with(r#"{"status":"ok"}"#));
    let version = format!(
        r#"{{"state":"ready","codex":"{}","canary":"passed","early_arguments":""#,
        codex_binary().await.version()
    );
    let details = server.send("GET /healthz", &[WITH_KEY], "");
    assert!(details.contains(r#"{"status":"ok","#) && details.contains(&version), "{details}");
    let unknown = server.get("/v1/nothing");
    assert!(unknown.starts_with("HTTP/1.1 404") && unknown.contains(r#""code":"unknown_path""#));

    let processes = server.processes();
    assert_eq!(server.children().len(), 1);
    // Neither a request that never ends nor a grandchild may hold it up.
    let mut half = Connection::open(&server.address).unwrap();
    half.begin(b"GET /livez HTTP/1.1\r\nhost: x\r\n").unwrap();
    signal(server.process.id(), "-TERM");
    assert_eq!(server.process.wait().unwrap().code(), Some(0));
    assert!(!processes.into_iter().any(is_running));
}

#[tokio::test]
async fn a_server_that_is_stopping_is_not_ready() {
    let user = User::new().await;
    let mut server = Server::start(&user, &[("WORKER_SHUTDOWN_GRACE_MS", "1000")]);
    let processes = server.processes();
    // It takes both graces to stop this one.
    signal(server.children()[0], "-STOP");
    signal(server.process.id(), "-TERM");
    let answer = server.until("/readyz", |answer| !answer.starts_with("HTTP/1.1 200"));
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains(r#""reason":"shutting_down""#));
    assert_eq!(server.process.wait().unwrap().code(), Some(0));
    // They have been killed; a busy machine needs a moment to bury a process that was stopped.
    until_gone(&processes).await;
}

/// A process that Codex starts belongs to its group, and goes with it.
#[tokio::test]
async fn row_7_what_the_child_has_started_goes_with_it() {
    let mut user = User::new().await;
    let pid_file = user.folder.path().join("grandchild");
    let wrapper = user.folder.path().join("wrapper");
    let script = format!(
        "if [ \"$1\" = app-server ]; then sleep 1000 & echo $! > '{}'; fi\nexec '{}' \"$@\"",
        pid_file.display(),
        user.codex.display(),
    );
    write_script(&wrapper, &script);
    user.codex = wrapper;
    for ending in ["-TERM", "-KILL"] {
        let mut server = Server::start(&user, &[]);
        let grandchild: u32 = std::fs::read_to_string(&pid_file).unwrap().trim().parse().unwrap();
        assert!(is_running(grandchild));
        let mut processes = server.processes();
        signal(server.process.id(), ending);
        server.process.wait().unwrap();
        // If we were killed ourselves, somebody else sees to it a moment later.
        processes.push(grandchild);
        if ending == "-KILL" {
            until_gone(&processes).await;
        }
        assert!(!processes.into_iter().any(is_running));
    }
}

/// A child that does not notice that we are gone.
#[tokio::test]
async fn row_7_a_child_that_hangs_goes_when_we_are_killed() {
    let user = User::new().await;
    let mut server = Server::start(&user, &[]);
    let processes = server.processes();
    signal(server.children()[0], "-STOP");
    signal(server.process.id(), "-KILL");
    server.process.wait().unwrap();
    until_gone(&processes).await;
}

#[tokio::test]
async fn a_lost_child_makes_the_server_unready_until_it_is_back() {
    let user = User::new().await;
    let long =
        [("PROXY_LOG", "off"), ("WORKER_BACKOFF_INITIAL_MS", "2000"), ("PROXY_API_KEY", KEY)];
    let server = Server::start(&user, &long);
    let child = server.children()[0];
    signal(child, "-KILL");
    let lost = server.until("/readyz", |answer| answer.starts_with("HTTP/1.1 503"));
    // Why in words is for those who have the key.
    assert!(lost.ends_with(r#"{"ready":false,"reason":"codex_restarting"}"#), "{lost}");
    assert!(lost.contains("retry-after: "), "{lost}");
    let lost = server.send("GET /readyz", &[WITH_KEY], "");
    assert!(lost.contains("closed its output") && lost.contains("next_try_ms"), "{lost}");
    assert!(server.get("/livez").starts_with("HTTP/1.1 200"));
    server.until("/readyz", |answer| answer.starts_with("HTTP/1.1 200"));
    assert_ne!(server.children(), [child]);
}

#[tokio::test]
async fn a_new_codex_is_taken_up_on_request() {
    let mut user = User::new().await;
    // A link, as a package manager would move it to another version.
    let (real, link) = (user.codex.clone(), user.folder.path().join("codex"));
    std::os::unix::fs::symlink(&real, &link).unwrap();
    user.codex.clone_from(&link);
    let settings = [("WORKER_COUNT", "2"), ("PROXY_API_KEY", KEY)];
    let mut server = Server::start_with_log(&user, &settings, Stdio::piped());
    let log = BufReader::new(server.process.stderr.take().unwrap());
    let ready = |codex: &str| {
        let worker = format!(r#"{{"state":"ready"{codex}"#);
        server.send("GET /healthz", &[WITH_KEY], "").matches(&worker).count()
    };
    blocking_until("two children are ready", || ready("") == 2);
    let old = server.children();
    assert_eq!(old.len(), 2);

    let newer = user.folder.path().join("newer");
    let script = format!(
        "if [ \"$1\" = --version ]; then echo codex-cli 9.9.9; else exec '{}' \"$@\"; fi",
        real.display()
    );
    write_script(&newer, &script);
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(&newer, &link).unwrap();
    signal(server.process.id(), "-USR2");
    blocking_until("two newer children are ready", || ready(r#","codex":"9.9.9""#) == 2);
    let is_old = |child: &u32| old.contains(child);
    blocking_until("the old ones are gone", || !server.children().iter().any(is_old));
    assert_eq!(server.children().len(), 2);

    // One that does not work changes nothing.
    let children = server.children();
    write_script(&newer, "echo codex-cli 10.0.0");
    signal(server.process.id(), "-USR2");
    let refused = log.lines().map_while(Result::ok).find(|line| line.contains("was not renewed"));
    assert!(refused.is_some());
    assert_eq!(ready(r#","codex":"9.9.9""#), 2);
    assert!(server.get("/readyz").starts_with("HTTP/1.1 200"));
    assert_eq!(server.children(), children);
}

#[tokio::test]
async fn a_codex_that_does_not_start_is_tried_again_and_its_words_are_shown() {
    let mut user = User::new().await;
    let (real, broken) = (user.codex.clone(), user.folder.path().join("broken"));
    let mended = user.folder.path().join("mended");
    let script = format!(
        "if [ \"$1\" = app-server ] && ! [ -e '{}' ]; then echo no disk >&2; exit 1; fi\nexec '{}' \"$@\"",
        mended.display(),
        real.display()
    );
    write_script(&broken, &script);
    user.codex = broken;
    let port = free_port();
    let mut process = user
        .command(&["serve", "--port", &port.to_string()])
        .env("PROXY_LOG", "off")
        .env("PROXY_API_KEY", KEY)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let stdout = process.stdout.take().unwrap();
    let server = Server::of(process, format!("127.0.0.1:{port}"));
    let tells = || server.send("GET /readyz", &[WITH_KEY], "").contains("no disk");
    blocking_until("the reason is told", tells);
    std::fs::write(mended, "").unwrap();
    server.until("/readyz", |answer| answer.starts_with("HTTP/1.1 200"));
    assert!(BufReader::new(stdout).lines().next().unwrap().unwrap().contains("is ready"));
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

#[tokio::test]
async fn row_1_the_server_does_not_start_for_others_by_accident() {
    let user = User::new().await;
    let strong = ("PROXY_API_KEY", "a-key-that-nobody-can-guess");
    let weak = ("PROXY_API_KEY", "codex-local-secret");
    let allowed = ("PROXY_ALLOW_REMOTE", "true");
    for (host, settings, reason) in [
        ("0.0.0.0", &[strong][..], "set PROXY_ALLOW_REMOTE=true if that is meant"),
        ("::", &[], "set PROXY_ALLOW_REMOTE=true if that is meant"),
        ("0.0.0.0", &[allowed, weak], "PROXY_API_KEY can be guessed"),
        ("0.0.0.0", &[weak], "set PROXY_ALLOW_REMOTE=true if that is meant"),
    ] {
        let mut command = user.command(&["serve", "--port", "0", "--host", host]);
        let output = command.envs(settings.iter().copied()).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(err(&output).contains(reason), "{}", err(&output));
        assert!(output.stdout.is_empty(), "it has not started");
    }
    // With leave and a generated key it does, and what it prints can be pasted on this machine.
    let server = Server::start(&user, &[("PROXY_HOST", "0.0.0.0"), allowed]);
    assert!(server.address.starts_with("127.0.0.1:"), "{}", server.address);
    assert!(server.get("/livez").starts_with("HTTP/1.1 200"));
}

/// The system may give us fewer connections than we would take.
#[tokio::test]
async fn row_6_idle_connections_lock_nobody_out_where_files_are_few() {
    let user = User::new().await;
    let port = free_port().to_string();
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -S -n 80 && exec \"$@\"", "sh"]);
    shell.args([env!("CARGO_BIN_EXE_codex-completions"), "serve", "--port", &port]);
    let mut shell = user.prepare(shell);
    let process = shell.env("PROXY_LOG", "off").stdout(Stdio::null()).spawn().unwrap();
    let server = Server::of(process, format!("127.0.0.1:{port}"));
    server.until("/readyz", |answer| answer.starts_with("HTTP/1.1 200"));
    let idle: Vec<_> = (0..200).map(|_| Connection::open(&server.address).unwrap()).collect();
    for _ in 0..3 {
        assert!(server.get("/livez").starts_with("HTTP/1.1 200"));
    }
    drop(idle);
}

/// Whoever can write the settings can choose the Codex that is run.
#[tokio::test]
async fn row_5_settings_that_others_can_write_are_not_obeyed() {
    let user = User::new().await;
    let file = user.folder.path().join("config.toml");
    std::fs::write(&file, "log = \"info\"\n").unwrap();
    let chmod = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for command in [&["serve", "--port", "0"][..], &["status"], &["config"], &["key", "list"]] {
        chmod(&file, 0o666);
        let refused = user.run(command);
        assert!(err(&refused).contains("every user can write to it"), "{}", err(&refused));
        chmod(&file, 0o644);
        chmod(user.folder.path(), 0o777);
        let refused = user.run(command);
        assert!(err(&refused).contains("every user can write to it"), "{}", err(&refused));
        chmod(user.folder.path(), 0o700);
    }
    let home = user.folder.path().join("shared-home");
    std::fs::create_dir(&home).unwrap();
    chmod(&home, 0o777);
    let mut command = user.command(&["serve", "--port", "0"]);
    let refused = command.env("PROXY_CODEX_HOME", &home).output().unwrap();
    assert!(err(&refused).contains("is not for Codex alone"), "{}", err(&refused));
}

/// What cannot be read to its end must not keep a running server.
#[tokio::test]
async fn pipes_and_devices_in_the_place_of_settings_change_nothing() {
    let user = User::new().await;
    let mut server = Server::start_with_log(&user, &[], Stdio::piped());
    let mut log = BufReader::new(server.process.stderr.take().unwrap()).lines();
    let file = user.folder.path().join("config.toml");
    assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
    let mut until_told = || {
        let is_told = |line: &String| line.contains("it is not a regular file");
        assert!(log.by_ref().map_while(Result::ok).any(|line| is_told(&line)));
    };
    until_told();
    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
    until_told();
    assert!(server.get("/livez").starts_with("HTTP/1.1 200"));
    signal(server.process.id(), "-TERM");
    assert_eq!(server.process.wait().unwrap().code(), Some(0));
}
