//! A running server, looked at from outside.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::user::{User, processes_of};

/// A port that nobody listens on, for a server that is asked before it tells its own.
pub(crate) fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A server that is killed if the test fails.
pub(crate) struct Server {
    pub(crate) process: Child,
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
    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let address = lines
            .map_while(Result::ok)
            .find_map(|line| Some(line.trim().strip_prefix("base URL")?.trim().to_owned()))
            .expect("the server tells its address once it is ready");
        let address = address.trim_start_matches("http://").trim_end_matches("/v1").to_owned();
        Self { process, address }
    }

    /// Asks until the answer is as wanted.
    pub(crate) fn until(&self, path: &str, wanted: impl Fn(&str) -> bool) -> String {
        loop {
            let answer = self.get(path);
            if wanted(&answer) {
                return answer;
            }
        }
    }

    pub(crate) fn get(&self, path: &str) -> String {
        self.send(&format!("GET {path}"), &[], "")
    }

    /// Sends a request with these lines besides, and gives its whole answer.
    pub(crate) fn send(&self, request_line: &str, lines: &[&str], body: &str) -> String {
        // A server that is just starting does not listen yet.
        let mut stream = loop {
            if let Ok(stream) = TcpStream::connect(&self.address) {
                break stream;
            }
        };
        let lines: String = lines.iter().flat_map(|line| [line, "\r\n"]).collect();
        write!(
            stream,
            "{request_line} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\
             content-length: {}\r\n{lines}\r\n{body}",
            self.address,
            body.len(),
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// The Codex children.
    pub(crate) fn children(&self) -> Vec<u32> {
        let mut processes = self.processes();
        processes.retain(|pid| {
            let program = std::fs::read_link(format!("/proc/{pid}/exe"));
            program.is_ok_and(|program| program.ends_with("codex"))
        });
        processes
    }

    pub(crate) fn processes(&self) -> Vec<u32> {
        processes_of(&self.process)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
