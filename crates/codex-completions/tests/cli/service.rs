//! The server as a service, and on a terminal.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};
use std::time::Duration;

use testkit::blocking_until;
use testkit::process::{descendants, signal, until_gone};

use crate::server::Server;
use crate::user::User;

/// Only a message that does not come reaches it.
const PATIENCE: Duration = Duration::from_mins(1);

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

const UNIT: &str = include_str!("../../../../packaging/systemd/codex-completions.service");

/// The command lines of the unit, as systemd would run them one after another for a user with this home.
fn unit_commands(home: &str) -> Vec<Vec<String>> {
    let lines = UNIT.lines().filter_map(|line| {
        line.strip_prefix("ExecStartPre=").or_else(|| line.strip_prefix("ExecStart="))
    });
    lines.map(|line| line.split(' ').map(|word| word.replace("%h", home)).collect()).collect()
}

#[tokio::test]
async fn row_20_the_packaged_unit_names_its_file_and_starts_with_and_without_it() {
    let user = User::new().await;
    let home = user.folder.path();
    std::fs::create_dir_all(home.join(".local/bin")).unwrap();
    let program = env!("CARGO_BIN_EXE_codex-completions");
    symlink(program, home.join(".local/bin/codex-completions")).unwrap();
    let commands = unit_commands(home.to_str().unwrap());
    let start = || {
        let (serve, before) = commands.split_last().unwrap();
        let prepare = |words: &[String]| {
            // As `UMask=` of the unit.
            let mut command = user.prepare(Command::new("sh"));
            command.args(["-c", "umask 0077; exec \"$@\"", "sh"]).args(words);
            command.env("HOME", home).env_remove("XDG_DATA_HOME").env_remove("PROXY_DATA_DIR");
            command.env("PORT", "0").current_dir("/");
            command
        };
        for words in before {
            assert!(prepare(words).status().unwrap().success(), "{words:?}");
        }
        Server::spawn(prepare(serve))
    };
    let data = home.join(".local/share/codex-completions");
    assert!(!data.exists());
    let server = start();
    assert!(server.get("/readyz").starts_with("HTTP/1.1 200"));
    drop(server);
    let file = data.join(".env");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::metadata(&data).unwrap().permissions().mode() & 0o777, 0o700);

    std::fs::write(&file, "PROXY_API_KEY=sk-of-the-file\n").unwrap();
    let server = start();
    let models = |key: &str| {
        let line = format!("authorization: Bearer {key}");
        server.send("GET /v1/models", &[&line], "")
    };
    assert!(models("sk-of-the-file").starts_with("HTTP/1.1 200"));
    // Read by the server itself, and not by systemd: it may change.
    std::fs::write(&file, "PROXY_API_KEY=sk-of-later\n").unwrap();
    let is_read = || models("sk-of-later").starts_with("HTTP/1.1 200");
    blocking_until("the file is read again", is_read);
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
    let processes = descendants(terminal.id());
    terminal.kill().unwrap();
    terminal.wait().unwrap();
    until_gone(&processes).await;
}
