//! `key`: who may use the server, and whom it then lets in.

use std::fs::Permissions;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use testkit::blocking_until;

use crate::server::Server;
use crate::user::{User, err, out};

/// Keys need no Codex. A folder that only we can read gives no reason to warn.
fn user() -> User {
    let private = Permissions::from_mode(0o700);
    let folder = tempfile::Builder::new().permissions(private).tempdir().unwrap();
    User { folder, codex: "/nowhere/codex".into() }
}

/// What a command prints that makes a key.
fn new_key(output: &Output) -> String {
    assert!(output.status.success(), "{}", err(output));
    let printed = out(output);
    let key = printed.strip_suffix('\n').unwrap();
    assert!(key.starts_with("sk-proxy-") && key.len() == 52, "{printed:?}");
    assert!(!err(output).contains(key));
    key.to_owned()
}

/// What `key list --json` shows, but for the times and the ids.
fn list(user: &User) -> Value {
    let output = user.run(&["key", "list", "--json"]);
    assert_eq!(err(&output), "");
    let mut json: Value = serde_json::from_slice(&output.stdout).unwrap();
    for key in json["keys"].as_array_mut().unwrap() {
        let since = key.as_object_mut().unwrap().remove("since").unwrap();
        assert_eq!(since.as_str().map(str::len), Some("2026-01-01T00:00:00Z".len()));
        let id = key.as_object_mut().unwrap().remove("id").unwrap();
        let is_right = id.as_str().is_some_and(|id| id == "default" || id.starts_with("key_"));
        assert!(is_right, "{id}");
    }
    json
}

fn bearer(key: &str) -> String {
    format!("authorization: Bearer {key}")
}

/// What a request with this key is answered.
fn status(server: &Server, key: &str) -> u16 {
    let answer = server.send("GET /v1/models", &[&bearer(key)], "");
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

fn until_status(server: &Server, key: &str, wanted: u16) {
    blocking_until(&format!("the status is {wanted}"), || status(server, key) == wanted);
}

/// One turn of the model that needs no account.
fn chat(server: &Server, key: &str) -> String {
    let body = json!({"model": "demo", "messages": [{"role": "user", "content": "Hello"}]});
    let lines = [&bearer(key), "content-type: application/json"];
    server.send("POST /v1/chat/completions", &lines, &body.to_string())
}

#[test]
fn row_5_keys_are_added_listed_rotated_and_revoked() {
    let user = user();
    let folder = user.folder.path();
    let in_list = format!("{} (a hash of it)", folder.join("keys.json").display());
    let in_file = folder.join("api-key").display().to_string();
    assert_eq!(list(&user), json!({"keys": []}));
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0);

    let added = user.run(&["key", "add", "phone"]);
    let phone = new_key(&added);
    assert_eq!(
        err(&added),
        "This is the new key of phone, shown only here. Clients send it as bearer key.\n"
    );
    let laptop = new_key(&user.run(&["key", "add", "laptop"]));
    assert_eq!(
        list(&user),
        json!({"keys": [
            {"name": "phone", "kept": in_list},
            {"name": "laptop", "kept": in_list},
        ]})
    );
    let rotated = user.run(&["key", "rotate"]);
    let default = new_key(&rotated);
    assert_eq!(
        err(&rotated),
        format!(
            "This is the new key of default, kept in {in_file}. Clients send it as bearer key.\n"
        )
    );
    assert_eq!(std::fs::read_to_string(&in_file).unwrap(), format!("{default}\n"));

    let other_phone = new_key(&user.run(&["key", "rotate", "phone"]));
    let revoked = user.run(&["key", "revoke", "laptop"]);
    assert_eq!((out(&revoked).as_str(), err(&revoked).as_str()), ("laptop is revoked.\n", ""));
    let keys = json!({"keys": [
        {"name": "default", "kept": in_file},
        {"name": "phone", "kept": in_list},
    ]});
    assert_eq!(list(&user), keys);
    let table = out(&user.run(&["key", "list"]));
    let lines: Vec<Vec<&str>> =
        table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!((lines[0][0], lines[0][2]), ("default", in_file.as_str()));
    assert_eq!((lines[1][0], lines[1][2..].join(" ")), ("phone", in_list));
    // Of a named key nothing is kept that would be worth stealing.
    let kept = std::fs::read_to_string(folder.join("keys.json")).unwrap();
    for secret in [&phone, &laptop, &other_phone] {
        let random = secret.trim_start_matches("sk-proxy-");
        assert!(!kept.contains(random) && !table.contains(random), "{kept}");
    }
}

#[test]
fn what_cannot_be_done_is_explained_and_changes_nothing() {
    let user = user();
    new_key(&user.run(&["key", "add", "phone"]));
    let file = user.folder.path().join("keys.json");
    let before = std::fs::read(&file).unwrap();
    for (arguments, code, words) in [
        (&["add", "phone"][..], 1, "there is a key named phone already"),
        (&["add", "default"], 1, "default is the name of the server's own key"),
        (&["add", "my phone"], 2, "a key's name has 1 to 64 of the characters"),
        (&["revoke", "laptop"], 1, "there is no key named laptop; there are: phone\n"),
        (&["rotate", "laptop"], 1, "there is no key named laptop; there are: phone\n"),
        (&["revoke", "default"], 1, "only replaced: `codex-completions key rotate`\n"),
    ] {
        let output = user.run(&[&["key"], arguments].concat());
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        assert!(err(&output).contains(words), "{}", err(&output));
        assert_eq!(out(&output), "");
        assert_eq!(std::fs::read(&file).unwrap(), before, "{arguments:?}");
    }

    std::fs::write(&file, "damaged").unwrap();
    for arguments in [&["add", "laptop"][..], &["revoke", "phone"], &["list"]] {
        let output = user.run(&[&["key"], arguments].concat());
        assert_eq!((output.status.code(), out(&output).as_str()), (Some(1), ""));
        assert!(err(&output).contains("put a good copy in its place"), "{}", err(&output));
        assert_eq!(std::fs::read(&file).unwrap(), b"damaged");
    }
}

#[test]
fn a_key_that_is_a_setting_is_changed_where_it_is_set() {
    let user = user();
    let dotenv = user.folder.path().join(".env");
    std::fs::write(&dotenv, "PROXY_API_KEY=canary-canary\n").unwrap();
    let run = |arguments: &[&str]| {
        let mut command = user.command(arguments);
        let output = command.arg("--env-file").arg(&dotenv).output().unwrap();
        assert!(!format!("{}{}", out(&output), err(&output)).contains("canary"));
        output
    };
    let output = run(&["key", "rotate"]);
    let place = format!("(from: {})", dotenv.display());
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        err(&output),
        format!(
            "error: the key default is the value of PROXY_API_KEY; change it there, or remove it \
             there first {place}\n"
        )
    );
    let output = run(&["key", "list", "--json"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let kept = format!("PROXY_API_KEY {place}");
    let key = json!({"id": "default", "name": "default", "since": null, "kept": kept});
    assert_eq!(json, json!({"keys": [key]}));
}

#[test]
fn no_key_is_lost_when_several_commands_run_at_once() {
    let user = user();
    let names = ["a", "b", "c", "d", "e", "f"];
    let running = names.map(|name| {
        user.command(&["key", "add", name]).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
    });
    for process in running {
        assert!(process.unwrap().wait().unwrap().success());
    }
    let json = list(&user);
    let mut listed: Vec<_> =
        json["keys"].as_array().unwrap().iter().map(|key| key["name"].as_str().unwrap()).collect();
    listed.sort_unstable();
    assert_eq!(listed, names);
}

/// What the server says when it is ready, as far as the key.
fn greeting(user: &User) -> String {
    let mut process = user
        .command(&["serve", "--port", "0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let _server = Server::of(process, "");
    let said: Vec<_> = lines
        .map_while(Result::ok)
        .take_while(|line| !line.trim_start().starts_with("login"))
        .collect();
    said.join("\n")
}

#[tokio::test]
async fn row_5_the_default_key_is_generated_once_and_shown_once() {
    let user = User::new().await;
    let first = greeting(&user);
    let file = user.folder.path().join("api-key");
    let key = std::fs::read_to_string(&file).unwrap();
    assert_eq!(first.matches(key.trim()).count(), 1, "{first}");
    assert!(first.contains(&format!("(new; kept in {})", file.display())), "{first}");

    let second = greeting(&user);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), key);
    assert!(second.contains(&format!("API key   in {}", file.display())), "{second}");
    assert!(!second.contains(key.trim()), "{second}");
}

#[tokio::test]
async fn row_5_a_running_server_takes_up_new_keys_and_drops_old_ones() {
    let user = User::new().await;
    let server = Server::start(&user, &[]);
    let default = std::fs::read_to_string(user.folder.path().join("api-key")).unwrap();
    let phone = new_key(&user.run(&["key", "add", "phone"]));
    until_status(&server, &phone, 200);
    let new_default = new_key(&user.run(&["key", "rotate"]));
    until_status(&server, &new_default, 200);
    assert_eq!(status(&server, default.trim()), 401);
    assert_eq!(status(&server, &phone), 200);
    assert!(user.run(&["key", "revoke", "phone"]).status.success());
    until_status(&server, &phone, 401);
    assert_eq!(status(&server, &new_default), 200);

    // Also while something else is wrong.
    let laptop = new_key(&user.run(&["key", "add", "laptop"]));
    until_status(&server, &laptop, 200);
    std::fs::write(user.folder.path().join("half.toml"), "half = [").unwrap();
    std::fs::rename(user.folder.path().join("keys.json"), user.folder.path().join("kept")).unwrap();
    std::fs::rename(user.folder.path().join("half.toml"), user.folder.path().join("config.toml"))
        .unwrap();
    until_status(&server, &laptop, 401);
    std::fs::rename(user.folder.path().join("kept"), user.folder.path().join("keys.json")).unwrap();
    until_status(&server, &laptop, 200);
}

/// Nobody is locked out, and nobody is let in again.
#[tokio::test]
async fn files_that_are_lost_or_damaged_change_nothing_in_a_running_server() {
    let user = User::new().await;
    let phone = new_key(&user.run(&["key", "add", "phone"]));
    let mut server = Server::start_with_log(&user, &[], Stdio::piped());
    let mut log = BufReader::new(server.process.stderr.take().unwrap()).lines();
    let mut until_told = |words: &str| {
        let told = |line: &String| line.contains("stay as they were") && line.contains(words);
        assert!(log.by_ref().map_while(Result::ok).any(|line| told(&line)));
    };
    let file = user.folder.path().join("api-key");
    let default = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    until_told("is not there");
    assert_eq!((status(&server, default.trim()), status(&server, &phone)), (200, 200));
    assert!(!file.exists());

    let default = new_key(&user.run(&["key", "rotate"]));
    until_status(&server, &default, 200);
    std::fs::write(user.folder.path().join("keys.json"), "damaged").unwrap();
    until_told("is no list of keys");
    assert_eq!((status(&server, &default), status(&server, &phone)), (200, 200));
}

#[tokio::test]
async fn row_5_the_server_lets_named_keys_in_until_they_are_revoked() {
    let user = User::new().await;
    let phone = new_key(&user.run(&["key", "add", "phone"]));
    let laptop = new_key(&user.run(&["key", "add", "laptop"]));
    let settings = [("PROXY_API_KEY", "the-default-key"), ("PROXY_LOG", "info")];

    let mut server = Server::start_with_log(&user, &settings, Stdio::piped());
    let log = BufReader::new(server.process.stderr.take().unwrap()).lines();
    let mut turns = log
        .map_while(Result::ok)
        .map(|line| serde_json::from_str::<Value>(&line).unwrap())
        .filter(|line| line["target"] == "turn");
    for (key, name) in
        [(phone.as_str(), "phone"), (&laptop, "laptop"), ("the-default-key", "default")]
    {
        let answer = chat(&server, key);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert_eq!(turns.next().unwrap()["key"], name);
    }
    drop(server);

    assert!(user.run(&["key", "revoke", "phone"]).status.success());
    let new_laptop = new_key(&user.run(&["key", "rotate", "laptop"]));
    let server = Server::start(&user, &settings);
    let refusal = |line: &str| {
        let same_id = [line, "x-request-id: same", "content-type: application/json"];
        let answer = server.send("POST /v1/chat/completions", &same_id, "{}");
        assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
        let steady = answer.lines().filter(|line| !line.starts_with("date:"));
        steady.collect::<Vec<_>>().join("\n")
    };
    let missing = refusal("x-other: 1");
    for key in [phone.as_str(), &laptop, "wrong", ""] {
        assert_eq!(refusal(&bearer(key)), missing, "{key}");
    }
    for key in [new_laptop.as_str(), "the-default-key"] {
        assert!(chat(&server, key).starts_with("HTTP/1.1 200"));
    }
}

/// The ids of all keys, as `key list --json` shows them.
fn ids(user: &User) -> Vec<String> {
    let output = user.run(&["key", "list", "--json"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let keys = json["keys"].as_array().unwrap().iter();
    keys.map(|key| key["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn row_22_the_list_shows_the_id_which_rotation_keeps() {
    let user = user();
    for name in ["phone", "laptop"] {
        new_key(&user.run(&["key", "add", name]));
    }
    new_key(&user.run(&["key", "rotate"]));
    let before = ids(&user);
    assert_eq!(before[0], "default");
    new_key(&user.run(&["key", "rotate"]));
    new_key(&user.run(&["key", "rotate", "phone"]));
    assert_eq!(ids(&user), before);
    assert!(user.run(&["key", "revoke", "phone"]).status.success());
    new_key(&user.run(&["key", "add", "phone"]));
    let after = ids(&user);
    assert_eq!(after[..2], [before[0].clone(), before[2].clone()]);
    assert!(!before.contains(&after[2]));
}

/// The id of a response that this key has stored.
fn stored_response(server: &Server, key: &str) -> String {
    let lines = [&bearer(key), "content-type: application/json"];
    let body = json!({"model": "demo", "input": "My secret is 4711."}).to_string();
    let answer = server.send("POST /v1/responses", &lines, &body);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
    let response: Value = serde_json::from_str(body).unwrap();
    assert_eq!(response["store"], true, "{response}");
    response["id"].as_str().unwrap().to_owned()
}

/// The status of a stored response when this key asks for it.
fn status_of(server: &Server, key: &str, id: &str) -> u16 {
    let answer = server.send(&format!("GET /v1/responses/{id}"), &[&bearer(key)], "");
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn row_22_a_new_key_under_a_revoked_name_reads_no_response_of_the_old_key() {
    let user = User::new().await;
    let server = Server::start(&user, &[]);
    let phone = new_key(&user.run(&["key", "add", "phone"]));
    until_status(&server, &phone, 200);
    let id = stored_response(&server, &phone);
    assert_eq!(status_of(&server, &phone, &id), 200);

    let rotated = new_key(&user.run(&["key", "rotate", "phone"]));
    until_status(&server, &rotated, 200);
    assert_eq!((status(&server, &phone), status_of(&server, &rotated, &id)), (401, 200));

    assert!(user.run(&["key", "revoke", "phone"]).status.success());
    let new = new_key(&user.run(&["key", "add", "phone"]));
    until_status(&server, &new, 200);
    assert_eq!((status(&server, &rotated), status_of(&server, &new, &id)), (401, 404));
}
