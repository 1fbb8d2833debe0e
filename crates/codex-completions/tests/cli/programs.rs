//! Coding agents as people use them, in front of the real Codex and the scripted model, which plays
//! their model: it writes a file, makes two calls, and reports what they returned.
//!
//! The programs are in `tests/programs` at the root; `run` in each folder has its settings.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use scripted_model::ScriptedModel;
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;

use crate::server::Server;
use crate::user::{User, err, out};

const KEY: &str = "the-key-of-the-programs";
/// Longer than `run` waits itself.
const PATIENCE: Duration = Duration::from_secs(80);
/// What the agent writes, and how its report begins.
const LINE: &str = "Written by the agent.";
const DONE: &str = "The agent is done.";
/// What the agent's command prints.
const ANSWER: &str = "answer 42";
/// A proxy that is not there: a program that asks for more than the server fails at once.
const NOWHERE: &str = "http://127.0.0.1:9";

/// Numbers of results in the requests of a task whose two calls come back together.
const TOGETHER: &[usize] = &[0, 1, 3];
/// The same where the program takes one call at a time.
const ONE_BY_ONE: &[usize] = &[0, 1, 2, 3];

/// A program, and what it has to make of the task.
struct Task {
    program: &'static str,
    variant: &'static str,
    model: &'static str,
    /// The tools that are called, in order.
    calls: [&'static str; 3],
    /// Numbers of results in its requests.
    results: &'static [usize],
    /// What the report quotes of the last call.
    quote: &'static str,
}

/// What a run has left.
struct Done {
    output: Output,
    /// Of the server, without those of its successes.
    refusals: String,
    folder: TempDir,
    model: ScriptedModel,
}

impl Task {
    async fn check(self) {
        let done = self.run().await;
        let facts = done.facts();
        assert!(done.output.status.success(), "the program failed\n{facts}");
        let written = std::fs::read_to_string(done.folder.path().join("work/agent.txt"));
        assert_eq!(written.ok().as_deref().map(str::trim_end), Some(LINE), "the file\n{facts}");
        assert_eq!(done.calls(), self.calls, "the calls\n{facts}");
        let wanted = self.results.iter().copied().collect();
        assert_eq!(done.numbers_of_results(), wanted, "results in each request\n{facts}");
        let printed = out(&done.output);
        let report = printed.split_once(DONE).map_or("", |(_, report)| report);
        assert!(report.contains(LINE), "the first quote\n{facts}");
        assert!(report.contains(self.quote), "the second quote\n{facts}");
    }

    /// Runs the program with homes and folders of its own, and nothing of our environment.
    async fn run(&self) -> Done {
        let user = User::new().await;
        let model = ScriptedModel::start().await.unwrap();
        let base_url = model.base_url();
        let settings = [
            ("PROXY_API_KEY", KEY),
            ("PROXY_UPSTREAM_BASE_URL", base_url.as_str()),
            // Without retries a failure shows.
            ("PROXY_UPSTREAM_RETRIES", "0"),
        ];
        let server = Server::start(&user, &settings);
        let folder = tempfile::tempdir().unwrap();
        let [home, work, temporary] = ["home", "work", "tmp"].map(|name| folder.path().join(name));
        for each in [&home, &work, &temporary] {
            std::fs::create_dir(each).unwrap();
        }
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs");
        let mut command = Command::new(programs.join(self.program).join("run"));
        command
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .env("HOME", home)
            .env("WORK", work)
            .env("TMPDIR", temporary)
            .env("CODEX_BIN", &user.codex)
            .env("BASE_URL", format!("http://{}/v1", server.address))
            .env("API_KEY", KEY)
            .env("MODEL", self.model)
            .env("VARIANT", self.variant)
            .envs(["HTTP_PROXY", "HTTPS_PROXY"].map(|name| (name, NOWHERE)))
            .env("NO_PROXY", "127.0.0.1,localhost")
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let ended = tokio::time::timeout(PATIENCE, command.output()).await;
        let output = ended.expect("`run` has a deadline").expect("`run` is a program");
        let metrics = server.send("GET /metrics", &[&format!("authorization: Bearer {KEY}")], "");
        let is_refusal =
            |line: &&str| line.starts_with("requests_total{") && !line.contains("status=\"200\"");
        let refusals = metrics.lines().filter(is_refusal).collect::<Vec<_>>().join("\n");
        Done { output, refusals, folder, model }
    }
}

impl Done {
    /// All that helps with a failure. Programs print what the server refused, with the field.
    fn facts(&self) -> String {
        format!(
            "requests that the server refused:\n{}\nstdout:\n{}\nstderr:\n{}",
            self.refusals,
            out(&self.output),
            err(&self.output)
        )
    }

    /// The input items of each request for the agent; titles and the like have no tools.
    fn requests(&self) -> Vec<Vec<Value>> {
        let items = |body: &Value| body["input"].as_array().cloned().unwrap_or_default();
        let recorded = self.model.recorded();
        recorded.iter().map(|request| items(&request.body)).collect()
    }

    /// Names of all calls, as the longest request has them, without what aliases add.
    fn calls(&self) -> Vec<String> {
        let longest = self.requests().into_iter().max_by_key(Vec::len).unwrap_or_default();
        let calls = longest.iter().filter(|item| is_of_kind(item, "_call"));
        calls.filter_map(|item| item["name"].as_str()).map(unaliased).collect()
    }

    fn numbers_of_results(&self) -> BTreeSet<usize> {
        let requests = self.requests();
        let results = |items: &Vec<Value>| {
            items.iter().filter(|item| is_of_kind(item, "_call_output")).count()
        };
        requests.iter().map(results).collect()
    }
}

fn is_of_kind(item: &Value, ending: &str) -> bool {
    item["type"].as_str().is_some_and(|kind| kind.ends_with(ending))
}

/// The client's name for a tool that Codex gets under another name: `t_NAME_HASH`.
fn unaliased(name: &str) -> String {
    let own = name.strip_prefix("t_").and_then(|rest| rest.rsplit_once('_'));
    own.map_or(name, |(own, _)| own).to_owned()
}

/// The usual task of Codex CLI.
const CODEX: Task = Task {
    program: "codex",
    variant: "responses",
    model: "gpt-5.5",
    calls: ["apply_patch", "exec_command", "exec_command"],
    results: TOGETHER,
    quote: ANSWER,
};

/// The same with a model that writes code to call tools, one call at a time.
const CODEX_GPT_6: Task =
    Task { model: "gpt-6.1-sol", calls: ["exec", "exec", "exec"], results: ONE_BY_ONE, ..CODEX };

/// What the tool of the MCP server returns.
const NOTE: &str = "NOTE ON TEA";

/// Its patches are free-form text.
#[tokio::test]
async fn codex_cli_with_gpt_5() {
    CODEX.check().await;
}

/// Code that calls tools, in a tool that comes as an item of the input.
#[tokio::test]
async fn codex_cli_with_gpt_6() {
    CODEX_GPT_6.check().await;
}

/// Tools of a namespace beside the code.
#[tokio::test]
async fn codex_cli_with_gpt_6_and_a_namespace() {
    let calls = ["exec", "exec", "list_agents"];
    Task { variant: "namespace", calls, quote: "/root", ..CODEX_GPT_6 }.check().await;
}

/// Code reaches the tools of an MCP server.
#[tokio::test]
async fn codex_cli_with_gpt_6_and_an_mcp_server() {
    Task { variant: "mcp", quote: NOTE, ..CODEX_GPT_6 }.check().await;
}

/// A namespace has the tools of an MCP server.
#[tokio::test]
async fn codex_cli_with_gpt_5_and_an_mcp_server() {
    let calls = ["apply_patch", "exec_command", "look_up"];
    Task { variant: "mcp", calls, quote: NOTE, ..CODEX }.check().await;
}

/// With a model that it does not know, nothing is free-form.
#[tokio::test]
async fn codex_cli_with_another_model_and_an_mcp_server() {
    let calls = ["exec_command", "exec_command", "look_up"];
    let task = Task { variant: "mcp", model: "another-model", calls, quote: NOTE, ..CODEX };
    task.check().await;
}

#[tokio::test]
async fn copilot_cli_with_chat_completions() {
    copilot_cli("chat").await;
}

#[tokio::test]
async fn copilot_cli_with_responses() {
    copilot_cli("responses").await;
}

/// The upgrade is refused; the program continues over HTTP.
#[tokio::test]
async fn copilot_cli_with_websockets() {
    copilot_cli("websockets").await;
}

async fn copilot_cli(variant: &'static str) {
    let task = Task {
        program: "copilot",
        variant,
        model: "gpt-5.5",
        calls: ["apply_patch", "view", "bash"],
        results: TOGETHER,
        quote: ANSWER,
    };
    task.check().await;
}

#[tokio::test]
async fn cline_with_its_compatible_provider() {
    cline("compatible").await;
}

/// It sends a tool of OpenAI's own with each request.
#[tokio::test]
async fn cline_with_its_native_provider() {
    cline("native").await;
}

async fn cline(variant: &'static str) {
    let task = Task {
        program: "cline",
        variant,
        model: "gpt-5.5",
        calls: ["apply_patch", "read_files", "run_commands"],
        results: TOGETHER,
        quote: ANSWER,
    };
    task.check().await;
}

/// The agent of Obsidian Copilot 4 where a server of one's own is set.
#[tokio::test]
async fn opencode_with_its_compatible_provider() {
    let task = Task {
        program: "opencode",
        variant: "chat",
        model: "gpt-5.5",
        calls: ["apply_patch", "read", "bash"],
        results: TOGETHER,
        quote: ANSWER,
    };
    task.check().await;
}
