//! The server as a service, and on a terminal.

use std::io::{BufRead as _, BufReader};
use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};
use std::time::Duration;

use testkit::process::{signal, until_gone};

use crate::server::Server;
use crate::user::{User, processes_of};

/// Only a message that does not come reaches it.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_service_manager_is_told_how_the_server_gets_on() {
    let user = User::new().await;
    let path = user.folder.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let told = || {
        let mut bytes = [0; 4096];
        let length = socket.recv(&mut bytes).expect("the service manager is told");
        String::from_utf8(bytes[..length].to_vec()).unwrap().trim_end().to_owned()
    };
    let path = path.to_str().unwrap();
    let mut server = Server::start(&user, &[("NOTIFY_SOCKET", path), ("PROXY_LOG", "warn")]);
    assert_eq!(told(), "READY=1");
    assert!(server.get("/readyz").starts_with("HTTP/1.1 200"));
    signal(server.process.id(), "-HUP");
    let reloading = told();
    assert!(reloading.starts_with("RELOADING=1\nMONOTONIC_USEC="), "{reloading}");
    assert_eq!(told(), "READY=1");
    signal(server.process.id(), "-TERM");
    assert_eq!(told(), "STOPPING=1");
    assert_eq!(server.process.wait().unwrap().code(), Some(0));
}

/// SIGHUP reads the settings, but it is also what a closing terminal sends.
#[tokio::test]
async fn a_server_goes_with_its_terminal() {
    let user = User::new().await;
    let program = env!("CARGO_BIN_EXE_codex-completions");
    let mut terminal = user
        .prepare(Command::new("script"))
        .args(["-qfec", &format!("{program} serve --port 0"), "/dev/null"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("script (of util-linux) makes a terminal");
    let lines = BufReader::new(terminal.stdout.take().unwrap()).lines();
    let ready = lines.map_while(Result::ok).find(|line| line.contains("base URL"));
    assert!(ready.is_some(), "the server starts");
    let processes = processes_of(&terminal);
    terminal.kill().unwrap();
    terminal.wait().unwrap();
    until_gone(&processes).await;
}
