//! A running server, looked at from outside.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use testkit::blocking_until;
use testkit::http::blocking::Connection;
use testkit::process::{KilledOnDrop, codex_children, descendants};
use testkit::server_process::ServerProcess;

use crate::user::User;

/// A port that is not in use, for a server that is asked before its greeting.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A server that is killed if the test fails.
pub(crate) struct Server {
    pub(crate) process: KilledOnDrop,
    pub(crate) address: String,
}

impl Server {
    pub(crate) fn start(user: &User, more: &[(&str, &str)]) -> Self {
        Self::start_with_log(user, more, Stdio::inherit())
    }

    pub(crate) fn start_with_log(user: &User, more: &[(&str, &str)], log: Stdio) -> Self {
        let mut command = user.command(&["serve", "--port", "0"]);
        command.envs(more.iter().copied()).stderr(log);
        Self::spawn(command)
    }

    /// Runs a command that serves.
    pub(crate) fn spawn(command: Command) -> Self {
        let server = ServerProcess::spawn(command).unwrap();
        let address = server.blocking_ready().unwrap().to_string();
        Self { process: server.process, address }
    }

    /// A process whose output is read elsewhere, if it is.
    pub(crate) fn of(process: Child, address: impl Into<String>) -> Self {
        Self { process: KilledOnDrop(process), address: address.into() }
    }

    /// Asks until the answer is as wanted.
    pub(crate) fn until(&self, path: &str, wanted: impl Fn(&str) -> bool) -> String {
        let look = || Some(self.get(path)).filter(|answer| wanted(answer));
        blocking_until(&format!("another answer to {path}"), look)
    }

    pub(crate) fn get(&self, path: &str) -> String {
        self.send(&format!("GET {path}"), &[], "")
    }

    /// Sends a request with these lines besides, and returns its whole answer.
    pub(crate) fn send(&self, request_line: &str, lines: &[&str], body: &str) -> String {
        let lines: String = lines.iter().flat_map(|line| [line, "\r\n"]).collect();
        let host = &self.address;
        let length = body.len();
        self.send_raw(&format!(
            "{request_line} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\
             content-length: {length}\r\n{lines}\r\n{body}",
        ))
    }

    /// Sends a request as it is, and returns its whole answer.
    pub(crate) fn send_raw(&self, request: &str) -> String {
        // A server that is just starting does not listen yet.
        let what = format!("a connection to {}", self.address);
        let mut connection = blocking_until(&what, || Connection::open(&self.address).ok());
        connection.begin(request.as_bytes()).unwrap();
        connection.rest().unwrap()
    }

    /// The Codex children.
    pub(crate) fn children(&self) -> Vec<u32> {
        codex_children(self.process.id())
    }

    pub(crate) fn processes(&self) -> Vec<u32> {
        descendants(self.process.id())
    }
}
