//! A key is sent only to our own server: never to a process that has taken its address.

use std::io::{BufRead as _, BufReader};
use std::process::{Output, Stdio};

use testkit::blocking_until;
use testkit::process::signal;

use crate::impostor::Impostor;
use crate::server::{Server, free_port};
use crate::terminal::Terminal;
use crate::user::{User, err, out};

const CHOSEN_KEY: &str = "sk-chosen-by-the-owner-0123";

fn start(user: &User, port: u16) -> Server {
    Server::spawn(user.command(&["serve", "--port", &port.to_string()]))
}

/// The key that the server has made.
fn stored_key(user: &User) -> String {
    std::fs::read_to_string(user.folder.path().join("api-key")).unwrap().trim().to_owned()
}

/// A command against the server of the settings, which have this port.
fn run(user: &User, port: u16, arguments: &[&str], key: Option<&str>) -> Output {
    let mut command = user.command(arguments);
    command.env("PORT", port.to_string());
    if let Some(key) = key {
        command.env("PROXY_API_KEY", key);
    }
    command.output().unwrap()
}

/// Nothing of a key or of a session is in what it has received.
fn assert_no_key(received: &str, key: &str) {
    assert!(!received.contains(key) && !received.contains("authorization"), "{received}");
}

#[tokio::test]
async fn row_19_an_impostor_on_the_port_gets_no_key_from_any_command() {
    let user = User::new().await;
    let port = free_port();
    let server = start(&user, port);
    let proved = run(&user, port, &["smoke"], None);
    assert!(proved.status.success(), "{}{}", out(&proved), err(&proved));
    // It is killed, so that its secret stays behind.
    drop(server);
    let key = stored_key(&user);
    let impostor = Impostor::start("127.0.0.1", port, None);
    for chosen in [None, Some(CHOSEN_KEY)] {
        for arguments in [&["top"][..], &["smoke"], &["smoke", "--key", CHOSEN_KEY]] {
            let refused = run(&user, port, arguments, chosen);
            let said = out(&refused) + &err(&refused);
            assert!(!refused.status.success(), "{arguments:?}: {said}");
            assert!(said.contains("did not prove"), "{arguments:?}: {said}");
        }
        let url = format!("http://127.0.0.1:{port}/v1");
        let refused = run(&user, 0, &["top", "--base-url", &url], chosen);
        assert!(err(&refused).contains("did not prove"), "{}", err(&refused));

        let status = out(&run(&user, port, &["status"], chosen));
        assert!(status.contains("has not proved that it is the server"), "{status}");
        let doctor = run(&user, port, &["doctor"], chosen);
        assert!(!doctor.status.success() && out(&doctor).contains("is in use"), "{}", out(&doctor));
        let serve = run(&user, port, &["serve"], chosen);
        let said = err(&serve);
        assert!(said.contains("is in use") && !said.contains("running there already"), "{said}");
    }
    let received = impostor.end();
    assert!(received.contains("/identity?nonce="), "{received}");
    assert_no_key(&received, &key);
    assert_no_key(&received, CHOSEN_KEY);
}

#[tokio::test]
async fn row_19_top_sends_no_key_when_an_impostor_is_there_instead() {
    let user = User::new().await;
    let port = free_port();
    let server = start(&user, port);
    let mut command = user.command(&["top", "--json"]);
    let mut top = command.env("PORT", port.to_string()).stdout(Stdio::piped()).spawn().unwrap();
    let mut events = BufReader::new(top.stdout.take().unwrap()).lines();
    assert!(events.next().unwrap().unwrap().contains("turns"));
    drop(server);
    let mut impostor = Impostor::start("127.0.0.1", port, None);
    // It has connected again, and asked for a proof.
    assert!(impostor.next()["url"].as_str().unwrap().starts_with("/identity?nonce="));
    impostor.next();
    let received = impostor.end();
    assert_no_key(&received, &stored_key(&user));
    // The real one is found again.
    let _server = start(&user, port);
    assert!(events.any(|event| event.unwrap().contains("\"turns\"")));
    signal(top.id(), "-TERM");
    assert!(top.wait().unwrap().success());
}

/// Row 20: a file with settings may name any address, but the key of the data folder is for its server.
#[tokio::test]
async fn row_20_a_stored_key_is_not_sent_to_an_address_that_a_file_has_chosen() {
    let user = User::new().await;
    let port = free_port();
    drop(start(&user, port));
    let impostor = Impostor::start("127.0.0.1", port, None);
    let file = user.folder.path().join("hostile.env");
    std::fs::write(&file, format!("PROXY_HOST=127.0.0.1\nPORT={port}\n")).unwrap();
    for command in ["top", "smoke", "status", "doctor"] {
        let refused = user.run(&["--env-file", file.to_str().unwrap(), command]);
        let said = out(&refused) + &err(&refused);
        assert!(said.contains(&port.to_string()), "{command}: {said}");
    }
    let received = impostor.end();
    assert!(received.contains("/identity?nonce="), "{received}");
    assert_no_key(&received, &stored_key(&user));
}

/// An impostor can ask a real server for proofs, and pass them on.
#[tokio::test]
async fn row_19_a_proof_that_is_passed_on_is_none() {
    let user = User::new().await;
    let port = free_port();
    drop(start(&user, port));
    let other = start(&user, free_port());
    let impostor = Impostor::start("127.0.0.1", port, Some(&other.address));
    let refused = run(&user, port, &["top"], None);
    assert!(err(&refused).contains("did not prove"), "{}", err(&refused));
    assert_no_key(&impostor.end(), &stored_key(&user));

    // On the same port of another address: there the secret is the same.
    let mut command = user.command(&["serve", "--port", &port.to_string()]);
    command.env("PROXY_HOST", "127.0.0.1");
    let server = Server::spawn(command);
    let impostor = Impostor::start("::1", port, Some(&server.address));
    let there = format!("http://[::1]:{port}/v1");
    let refused = run(&user, 0, &["smoke", "--base-url", &there], None);
    assert!(out(&refused).contains("did not prove"), "{}", out(&refused));
    let received = impostor.end();
    assert!(received.contains("/identity"), "{received}");
    assert_no_key(&received, &stored_key(&user));
    let here = format!("http://127.0.0.1:{port}/v1");
    let proved = run(&user, 0, &["smoke", "--base-url", &here], None);
    assert!(proved.status.success(), "{}", out(&proved));
}

#[tokio::test]
async fn row_19_a_key_and_an_address_that_are_given_together_are_used_as_given() {
    let user = User::new().await;
    let port = free_port();
    let url = format!("http://127.0.0.1:{port}/v1");
    let mut impostor = Impostor::start("127.0.0.1", port, None);
    run(&user, 0, &["smoke", "--base-url", &url, "--key", CHOSEN_KEY], None);
    let request = impostor.next();
    assert_eq!(request["headers"]["authorization"], format!("Bearer {CHOSEN_KEY}"));
    user.type_in(&["smoke", "--base-url", &url, "--key", "-"], "sk-from-a-pipe\n");
    let asked = || impostor.next()["headers"]["authorization"] == "Bearer sk-from-a-pipe";
    blocking_until("the key from the pipe", asked);
}

#[tokio::test]
async fn row_19_servers_of_one_data_folder_have_secrets_of_their_own() {
    let user = User::new().await;
    let servers = [start(&user, free_port()), start(&user, free_port())];
    for server in &servers {
        let url = format!("http://{}/v1", server.address);
        let proved = user.run(&["smoke", "--base-url", &url]);
        assert!(proved.status.success(), "{}", out(&proved));
    }
    let [first, _second] = servers;
    let mut first = first;
    signal(first.process.id(), "-TERM");
    assert!(first.process.wait().unwrap().success());
    let secrets = std::fs::read_dir(user.folder.path().join("run")).unwrap();
    assert_eq!(secrets.count(), 1, "a server that ends takes its secret with it");
}

#[tokio::test]
async fn row_19b_status_prints_a_link_to_its_own_server_on_a_terminal() {
    let user = User::new().await;
    let server = Server::start(&user, &[]);
    let (_, port) = server.address.rsplit_once(':').unwrap();
    let mut command = user.command(&["status"]);
    let terminal = Terminal::of(&mut command);
    let mut status = command.env("PORT", port).spawn().unwrap();
    drop(command);
    let said = terminal.read_to_end();
    assert!(status.wait().unwrap().success(), "{said}");
    let (_, code) = said.split_once("/#code=").unwrap_or_else(|| panic!("{said}"));
    let code = code.split_whitespace().next().unwrap();
    let open = |code: &str| {
        let line = format!("authorization: Bearer {code}");
        server.send("POST /v1/proxy/session", &[&line], "")
    };
    let opened = open(code);
    assert!(opened.starts_with("HTTP/1.1 200") && opened.contains("session-"), "{opened}");
    assert!(open(code).starts_with("HTTP/1.1 401"));
}

/// To a browser an origin without a past: whatever an impostor has left behind belongs to another.
#[tokio::test]
async fn row_19b_the_page_has_another_name_in_each_run() {
    let user = User::new().await;
    let port = free_port();
    let page = |server: &Server| {
        let line = format!("authorization: Bearer {}", stored_key(&user));
        let answer = server.send("POST /v1/proxy/code", &[&line], "");
        let (_, rest) =
            answer.split_once("\"page\":\"http://").unwrap_or_else(|| panic!("{answer}"));
        rest.split('/').next().unwrap().to_owned()
    };
    let open_at = |server: &Server, host: &str| {
        let request = format!("GET / HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        let answer = server.send_raw(&request);
        answer.split(' ').nth(1).unwrap().to_owned()
    };
    let server = start(&user, port);
    let first = page(&server);
    assert!(first.ends_with(&format!(".localhost:{port}")), "{first}");
    assert_eq!(open_at(&server, &first), "200");
    drop(server);
    let server = start(&user, port);
    let second = page(&server);
    assert_ne!(first, second);
    assert_eq!((open_at(&server, &second), open_at(&server, &first)), ("200".into(), "403".into()));
    drop(server);

    // With one loopback address alone the name could lead to the other one, which is not ours.
    let mut command = user.command(&["serve", "--port", &port.to_string()]);
    let server = Server::spawn({
        command.env("PROXY_HOST", "127.0.0.1");
        command
    });
    let line = format!("authorization: Bearer {}", stored_key(&user));
    let answer = server.send("POST /v1/proxy/code", &[&line], "");
    assert!(answer.contains("\"page\":null"), "{answer}");
}

#[tokio::test]
async fn row_19b_codes_and_sessions_end_with_the_key() {
    let user = User::new().await;
    let server = Server::start(&user, &[]);
    let send = |line: &str, credential: &str| {
        server.send(line, &[&format!("authorization: Bearer {credential}")], "")
    };
    let member = |answer: &str, start: &str| {
        let (_, rest) = answer.split_once(start).unwrap_or_else(|| panic!("{answer}"));
        format!("{start}{}", rest.split('"').next().unwrap())
    };
    let key = stored_key(&user);
    let code = member(&send("POST /v1/proxy/code", &key), "code-");
    let session = member(&send("POST /v1/proxy/session", &key), "session-");
    let other = member(&send("POST /v1/proxy/session", &key), "session-");
    assert!(send("GET /v1/proxy/status", &session).starts_with("HTTP/1.1 200"));
    assert!(send("DELETE /v1/proxy/session", &other).starts_with("HTTP/1.1 200"));
    assert!(send("GET /v1/proxy/status", &other).starts_with("HTTP/1.1 401"));
    assert!(send("GET /v1/proxy/status", &code).starts_with("HTTP/1.1 401"), "a code is no key");
    assert!(user.run(&["key", "rotate"]).status.success());
    let is_old = || !send("GET /v1/proxy/status", &key).starts_with("HTTP/1.1 200");
    blocking_until("the old key is refused", is_old);
    assert!(send("GET /v1/proxy/status", &session).starts_with("HTTP/1.1 401"));
    assert!(send("POST /v1/proxy/session", &code).starts_with("HTTP/1.1 401"));
}
