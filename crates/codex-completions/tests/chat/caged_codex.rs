//! The real child of a real server: what it is given, and that nothing runs whatever a model asks for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use testkit::process::{descendants, process_group};

use crate::altered_codex::AlteredCodex;
use crate::asking::{ask, call, items, streamed, tools, with, with_tools};
use crate::proxy::Proxy;
use crate::reply::Reply;

/// What every child sees, beside what says how to reach the network.
const OWN: [&str; 7] =
    ["CODEX_HOME", "HOME", "LOG_FORMAT", "NO_COLOR", "NO_PROXY", "PATH", "RUST_LOG"];

/// What is passed on if the server has it.
const PASSED_ON: [(&str, &str); 11] = [
    ("LANG", "C.UTF-8"),
    ("LC_ALL", "C.UTF-8"),
    ("TZ", "UTC"),
    ("TMPDIR", "/tmp"),
    ("HTTP_PROXY", "http://127.0.0.1:9"),
    ("HTTPS_PROXY", "http://127.0.0.1:9"),
    ("ALL_PROXY", "http://127.0.0.1:9"),
    ("http_proxy", "http://127.0.0.1:9"),
    ("https_proxy", "http://127.0.0.1:9"),
    ("all_proxy", "http://127.0.0.1:9"),
    ("SSL_CERT_DIR", "/etc/ssl/certs"),
];

/// What is not.
const KEPT_BACK: [(&str, &str); 6] = [
    ("NOTIFY_SOCKET", "/run/systemd/notify"),
    ("OPENAI_API_KEY", "sk-of-the-owner"),
    ("AWS_SECRET_ACCESS_KEY", "of-the-owner"),
    ("CODEX_HOME", "/home/of/the/owner"),
    ("PROXY_UPSTREAM_API_KEY", "sk-upstream"),
    ("PROXY_TIMEOUT_MS", "60000"),
];

fn environment(process: u32) -> BTreeMap<String, String> {
    let file = std::fs::read(format!("/proc/{process}/environ")).unwrap();
    let entries = file.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let pairs = entries.filter_map(|entry| {
        entry.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()))
    });
    pairs.collect()
}

#[tokio::test]
async fn row_7_the_child_has_nothing_of_ours() {
    let proxy = Proxy::start(&[&PASSED_ON[..], &KEPT_BACK].concat()).await;
    let [child] = proxy.children()[..] else { panic!("{:?}", proxy.children()) };
    let home = proxy.folder().join("codex-home");
    let seen = environment(child);
    let mut expected: Vec<_> = PASSED_ON.into_iter().map(|(name, _)| name).chain(OWN).collect();
    expected.sort_unstable();
    assert_eq!(seen.keys().map(String::as_str).collect::<Vec<_>>(), expected);
    // It finds no program.
    for (name, value) in [("HOME", &home), ("CODEX_HOME", &home), ("PATH", &home.join("empty"))] {
        assert_eq!(Path::new(&seen[name]), value);
    }
    for (name, value) in PASSED_ON {
        assert_eq!(seen[name], value);
    }

    let folder = std::fs::read_link(format!("/proc/{child}/cwd")).unwrap();
    assert_eq!(folder, home.join("empty"));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    assert_eq!(process_group(child), child, "it leads a group of its own");
    assert_ne!(process_group(proxy.process_id()), child);

    let config = std::fs::read_to_string(home.join("config.toml")).unwrap();
    for line in ["approval_policy = \"never\"", "sandbox_mode = \"read-only\""] {
        assert!(config.lines().any(|found| found == line), "no {line} in {config}");
    }
}

/// Everything that Codex has ever called a tool of its own, and names that look like one.
const BUILT_IN: [&str; 30] = [
    "apply_patch",
    "close_agent",
    "code_mode",
    "container.exec",
    "create_goal",
    "exec",
    "exec_command",
    "grep_files",
    "image_generation",
    "js_repl",
    "list_dir",
    "list_mcp_resources",
    "local_shell",
    "mcp__files__write",
    "multi_tool_use.parallel",
    "python",
    "read_file",
    "read_mcp_resource",
    "request_permissions",
    "request_user_input",
    "send_input",
    "shell",
    "shell_command",
    "spawn_agent",
    "tool_search",
    "unified_exec",
    "update_plan",
    "view_image",
    "wait",
    "write_stdin",
];

/// Arguments that would make any of them leave the file behind.
fn wish_for(file: &Path) -> String {
    let file = file.to_str().unwrap();
    let touch = format!("touch {file}");
    let patch = format!("*** Begin Patch\n*** Add File: {file}\n+x\n*** End Patch");
    json!({
        "cmd": touch, "command": ["sh", "-c", touch], "script": touch, "chars": touch,
        "code": format!("await tools.exec_command({{cmd: {touch:?}}})"), "input": patch,
        "patch": patch, "path": file, "content": "x", "workdir": "/", "timeout_ms": 1000,
        "with_escalated_permissions": true, "justification": "please", "message": touch,
    })
    .to_string()
}

#[tokio::test]
async fn row_7_whatever_the_model_asks_for_nothing_runs() {
    let proxy = Proxy::start(&[]).await;
    let child = proxy.children()[0];
    let folder = tempfile::tempdir().unwrap();
    let file: PathBuf = folder.path().join("made-by-the-model");
    let arguments = wish_for(&file);
    for name in BUILT_IN {
        let wish = json!({"name": name, "arguments": arguments});
        let request = ask(&items(&[wish]));
        // Unknown to the client, and declared by it under that very name.
        let declared = with(request.clone(), json!({"tools": tools(&[name])}));
        for request in [streamed(with_tools(request)), declared] {
            let reply = Reply::of(&proxy.chat(&request).await);
            assert_eq!(reply.choice().called(), [(name, arguments.as_str())]);
            assert_eq!(reply.choice().finish.as_deref(), Some("tool_calls"));
        }
    }
    // Items of other kinds than a function's call.
    for kind in ["shell", "local-shell", "custom"] {
        let request = with_tools(ask(&format!("[[{kind}:{}]]", file.display())));
        let reply = Reply::of(&proxy.chat(&streamed(request)).await);
        assert_eq!(reply.choice().calls.len(), 1, "{kind}: {reply:?}");
    }
    assert!(!file.exists());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!(descendants(child), [0_u32; 0], "the child has started something");
    assert_eq!(proxy.children(), [child]);
    assert_eq!(proxy.counter("codex_declined_requests_total").await, 0);
}

#[tokio::test]
async fn row_7_no_model_is_offered_a_tool_that_the_client_has_not_declared() {
    let proxy = Proxy::start(&[]).await;
    let models = proxy.get("/v1/models").await.json();
    let models: Vec<_> = models["data"].as_array().unwrap().iter().map(|m| &m["id"]).collect();
    assert!(models.len() > 10, "{models:?}");
    for model in models {
        let mut request = ask("[[text:fine]]");
        request["model"] = model.clone();
        // The demo is asked elsewhere.
        if model != "demo" {
            let declared = with_tools(request.clone());
            for (request, names) in
                [(request, &[][..]), (declared, &["get_weather", "get_time", "lookup"])]
            {
                assert_eq!(Reply::of(&proxy.chat(&request).await).choice().text(), "fine");
                let sent = proxy.model.last_request().unwrap().body;
                assert_eq!(tools_of(&sent), names, "{model}: {sent}");
            }
        }
    }
}

/// The names of the tools in a request to the model, wherever they stand.
fn tools_of(body: &Value) -> Vec<&str> {
    let input = body["input"].as_array().into_iter().flatten();
    std::iter::once(body).chain(input).flat_map(tools_in).collect()
}

/// Those below one object; a namespace is no tool itself.
fn tools_in(holder: &Value) -> Vec<&str> {
    let tools = holder["tools"].as_array().into_iter().flatten();
    let names = tools.flat_map(|tool| match tool["type"].as_str() {
        Some("namespace") => tools_in(tool),
        _ => vec![tool["name"].as_str().unwrap_or("unnamed")],
    });
    names.collect()
}

#[tokio::test]
async fn row_7_requests_for_approval_are_declined_and_counted() {
    const APPROVAL: &str = r#"s/^.*\(item\/[a-zA-Z]*\/requestApproval\|mcpServer\/elicitation\/request\).*$/{"method":"\1","id":777,"params":{}}\n&/"#;
    let codex = AlteredCodex::new(&[APPROVAL]).await;
    let proxy = Proxy::start(&[("CODEX_BIN", codex.path())]).await;
    let methods = [
        ("item/commandExecution/requestApproval", r#"{"decision":"decline"}"#),
        ("item/fileChange/requestApproval", r#"{"decision":"decline"}"#),
        ("item/permissions/requestApproval", r#"{"permissions":{}}"#),
        ("mcpServer/elicitation/request", r#"{"action":"decline"}"#),
    ];
    for (asked, (method, refusal)) in (1..).zip(methods) {
        let reply = Reply::of(&proxy.chat(&ask(&format!("{method}[[echo-whole]]"))).await);
        assert_eq!(reply.choice().text(), method);
        assert_eq!(proxy.counter("codex_declined_requests_total").await, asked);
        let heard = codex.heard();
        let last = heard.lines().rfind(|line| line.starts_with(r#"{"id":777,"#));
        assert_eq!(last, Some(format!(r#"{{"id":777,"result":{refusal}}}"#).as_str()));
    }
    // And the child is none the worse for it.
    let reply = Reply::of(&proxy.chat(&with_tools(ask(&items(&[call("get_time", "Rome")])))).await);
    assert_eq!(reply.choice().calls.len(), 1);
}
