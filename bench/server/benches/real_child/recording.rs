//! What our client sends to a child, written down to be played again.
//!
//! So the direct turns have the client's own bytes, and its child's environment, without a second
//! list of anything here.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use codex_app_server::{Client, ClientConfig, CodexBinary, Direction};
use serde_json::Value;
use testkit::Outcome;

use crate::case::Case;

/// Stand for the ids of the thread and of the turn.
const THREAD: &str = "<thread>";
const TURN: &str = "<turn>";

/// A request without its id, which is put in front of it.
pub(crate) struct Template(String);

/// The requests of one kind of turn.
pub(crate) struct Play {
    pub(crate) thread_start: Template,
    pub(crate) inject_items: Template,
    pub(crate) turn_start: Template,
    /// Only a turn with calls has one.
    pub(crate) interrupt: Option<Template>,
    pub(crate) unsubscribe: Template,
}

/// How the child was started, its handshake, and one turn of each case.
pub(crate) struct Recording {
    binary: PathBuf,
    environment: Vec<(OsString, OsString)>,
    working_folder: PathBuf,
    /// Both lines of it.
    pub(crate) handshake: String,
    pub(crate) plays: Vec<Play>,
}

type Lines = Arc<Mutex<Vec<String>>>;

// === impl Recording ===

impl Recording {
    /// Runs each case once in `home`, which a direct child can use afterwards.
    pub(crate) async fn make(binary: &CodexBinary, home: &Path, cases: &[Case]) -> Self {
        let lines = Lines::default();
        let mut config = ClientConfig::new(binary.clone(), home);
        config.tap = Some(Arc::new({
            let lines = Arc::clone(&lines);
            move |direction, line| {
                if direction == Direction::ToCodex {
                    let line = String::from_utf8_lossy(line).into_owned();
                    lines.lock().expect("a poisoned recording").push(line);
                }
            }
        }));
        let client = Client::start(config).await.expect("the child to record does not start");
        let process = client.process_id().expect("no process to record");
        let handshake = take(&lines).into_iter().map(|line| line + "\n").collect();
        let mut plays = Vec::new();
        for case in cases {
            let turn = client.start_turn(case.request.clone()).expect("an invalid turn");
            case.check(&Outcome::of(turn).await);
            plays.push(Play::from_lines(&lines).await);
        }
        let recording = Self {
            binary: binary.path().to_owned(),
            environment: environment_of(process),
            working_folder: fs::read_link(format!("/proc/{process}/cwd")).expect("no folder"),
            handshake,
            plays,
        };
        client.shutdown().await;
        recording
    }

    /// Starts a child exactly as the client did.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .arg("app-server")
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.working_folder);
        command
    }
}

// === impl Play ===

impl Play {
    /// The turn that was just recorded; its last line may still be on its way.
    async fn from_lines(lines: &Lines) -> Self {
        let is_last = |line: &String| line.contains(r#""method":"thread/unsubscribe""#);
        while !lines.lock().expect("a poisoned recording").iter().any(is_last) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let lines = take(lines);
        let parsed: Vec<Value> =
            lines.iter().map(|line| serde_json::from_str(line).expect("not JSON")).collect();
        let id = |name: &str| parsed.iter().find_map(|line| line["params"][name].as_str());
        let (thread, turn) = (id("threadId").expect("no thread"), id("turnId"));
        let template = |method: &str| {
            let at = parsed.iter().position(|line| line["method"] == method)?;
            let members = lines[at].split_once(',').expect("a request with an id").1;
            let members = members.replace(thread, THREAD);
            Some(Template(turn.map_or(members.clone(), |turn| members.replace(turn, TURN))))
        };
        let needed = |method: &str| template(method).unwrap_or_else(|| panic!("no {method}"));
        Self {
            thread_start: needed("thread/start"),
            inject_items: needed("thread/inject_items"),
            turn_start: needed("turn/start"),
            interrupt: template("turn/interrupt"),
            unsubscribe: needed("thread/unsubscribe"),
        }
    }
}

// === impl Template ===

impl Template {
    /// The request as a line.
    pub(crate) fn line(&self, id: u64, thread: &str, turn: &str) -> String {
        let members = self.0.replace(THREAD, thread).replace(TURN, turn);
        format!("{{\"id\":{id},{members}\n")
    }
}

fn take(lines: &Lines) -> Vec<String> {
    std::mem::take(&mut *lines.lock().expect("a poisoned recording"))
}

fn environment_of(process: u32) -> Vec<(OsString, OsString)> {
    let block = fs::read(format!("/proc/{process}/environ")).expect("no environment");
    block
        .split(|byte| *byte == 0)
        .filter_map(|entry| {
            let at = entry.iter().position(|byte| *byte == b'=')?;
            let text = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
            Some((text(&entry[..at]), text(&entry[at + 1..])))
        })
        .collect()
}
