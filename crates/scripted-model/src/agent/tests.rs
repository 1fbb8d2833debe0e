use serde_json::{Value, json};

use super::Task;
use crate::answer::Step;
use crate::ids::Ids;
use crate::request::Request;
use crate::scenario::answer;

/// A program's request, after so many results.
struct Program {
    body: Value,
}

impl Program {
    fn new(prompt: &str, tools: &Value) -> Self {
        let user = json!({"type": "message", "role": "user",
            "content": [{"type": "input_text", "text": prompt}]});
        Self { body: json!({"input": [user], "tools": tools}) }
    }

    fn result(mut self, output: &str) -> Self {
        let items = self.body["input"].as_array_mut().unwrap();
        items.push(json!({"type": "function_call_output", "call_id": "c", "output": output}));
        self
    }

    fn items(&self) -> Vec<Value> {
        let script = answer(Request::new(&self.body), u64::MAX, &Ids::new(1), 1_000, |_| 1);
        let steps = script.unwrap_or_else(|error| panic!("{error:?}"));
        let done = steps.filter_map(|step| match step {
            Step::Event(event) if event["type"] == "response.output_item.done" => {
                Some(event["item"].clone())
            }
            _ => None,
        });
        done.collect()
    }

    /// Name and arguments of each call.
    fn calls(&self) -> Vec<(String, Value)> {
        let call = |item: &Value| {
            let arguments = serde_json::from_str(item["arguments"].as_str().unwrap()).unwrap();
            (item["name"].as_str().unwrap().to_owned(), arguments)
        };
        self.items().iter().map(call).collect()
    }

    fn text(&self) -> String {
        let items = self.items();
        assert_eq!(items.len(), 1);
        items[0]["content"][0]["text"].as_str().unwrap().to_owned()
    }
}

fn function(name: &str, properties: &Value, required: &[&str]) -> Value {
    json!({"type": "function", "name": name, "parameters":
        {"type": "object", "properties": properties, "required": required}})
}

fn text(name: &str) -> Value {
    function(name, &json!({"input": {"type": "string"}}), &["input"])
}

fn shell(name: &str) -> Value {
    let properties = json!({"cmd": {"type": "string"}, "workdir": {"type": "string"}});
    function(name, &properties, &["cmd"])
}

fn called(name: &str, arguments: Value) -> (String, Value) {
    (name.to_owned(), arguments)
}

#[test]
fn a_patch_a_command_and_another_one_make_the_task_of_codex() {
    let tools = json!([shell("t_exec_command_0123456789abcdef"), text("apply_patch")]);
    let program = Program::new("[[agent]] go", &tools);
    let patch = "*** Begin Patch\n*** Add File: agent.txt\n+Written by the agent.\n*** End Patch\n";
    assert_eq!(program.calls(), [called("apply_patch", json!({"input": patch}))]);
    let program = program.result("Done");
    let name = "t_exec_command_0123456789abcdef";
    let second = called(name, json!({"cmd": "echo answer $((6 * 7))"}));
    assert_eq!(program.calls(), [called(name, json!({"cmd": "cat agent.txt"})), second.clone()]);
    let program = program.result("Written\n by the agent.");
    assert_eq!(program.calls(), [second]);
    let program = program.result("answer 42\n");
    let report = "The agent is done.\n- Written by the agent.\n- answer 42";
    assert_eq!(program.text(), report);
}

#[test]
fn an_absolute_path_is_used_where_the_task_names_a_folder() {
    let write = json!({"file_path": {"type": "string"}, "content": {"type": "string"}});
    let read = json!({"absolute_path": {"type": "string"}, "limit": {"type": ["integer", "null"]}});
    let list = json!({"path": {"type": "string"}});
    let tools = json!([
        function("write_file", &write, &["file_path", "content"]),
        function("read_file", &read, &["absolute_path", "limit"]),
        function("list_directory", &list, &["path"]),
    ]);
    let program = Program::new("[[agent:/w]]", &tools);
    let content = "Written by the agent.\n";
    let written = json!({"file_path": "/w/agent.txt", "content": content});
    assert_eq!(program.calls(), [called("write_file", written)]);
    assert_eq!(
        program.result("ok").calls(),
        [
            called("read_file", json!({"absolute_path": "/w/agent.txt", "limit": null})),
            called("list_directory", json!({"path": "/w"})),
        ]
    );
}

#[test]
fn an_editor_is_told_what_to_do_and_words_of_a_command_are_a_list() {
    let editor = json!({
        "command": {"type": "string", "enum": ["view", "create"]},
        "path": {"type": "string"},
        "file_text": {"type": "string"},
    });
    let shell = json!({
        "command": {"type": "array", "items": {"type": "string"}},
        "is_background": {"type": "boolean"},
        "timeout_ms": {"type": "integer", "maximum": 20_000},
        "description": {"type": "string"},
    });
    let tools = json!([
        function("str_replace_editor", &editor, &["command", "path"]),
        function("developer__shell", &shell, &["command", "is_background", "timeout_ms"]),
    ]);
    let program = Program::new("[[agent]]", &tools);
    let created = json!({"command": "create", "path": "agent.txt",
        "file_text": "Written by the agent.\n"});
    assert_eq!(program.calls(), [called("str_replace_editor", created)]);
    let viewed = json!({"command": "view", "path": "agent.txt"});
    let run = json!({"command": ["bash", "-c", "echo answer $((6 * 7))"],
        "is_background": false, "timeout_ms": 20_000});
    assert_eq!(
        program.result("ok").calls(),
        [called("str_replace_editor", viewed), called("developer__shell", run)]
    );
}

#[test]
fn a_name_may_begin_with_that_of_a_plugin() {
    let properties = json!({"path": {"type": "string"}, "content": {"type": "string"}});
    let write = function("Files-write_file", &properties, &["path", "content"]);
    let calls = Program::new("[[agent]]", &json!([write])).calls();
    let arguments = json!({"path": "agent.txt", "content": "Written by the agent.\n"});
    assert_eq!(calls, [called("Files-write_file", arguments)]);
}

#[test]
fn a_user_message_that_is_repeated_starts_no_new_task() {
    let read = function("read_file", &json!({"path": {"type": "string"}}), &["path"]);
    let mut program = Program::new("[[agent]]", &json!([read])).result("written").result("one");
    let items = program.body["input"].as_array_mut().unwrap();
    items.insert(2, items[0].clone());
    assert!(program.result("two").text().ends_with("- one\n- two"));
}

#[test]
fn lists_of_objects_are_filled_inside() {
    let file = json!({"type": "object", "properties": {"path": {"type": "string"}},
        "required": ["path"]});
    let read = json!({"files": {"type": "array", "items": file}});
    let run = json!({"commands": {"type": "array", "items": {"type": "string"}}});
    let tools = json!([
        function("run_commands", &run, &["commands"]),
        function("read_files", &read, &["files"]),
    ]);
    let program = Program::new("[[agent]]", &tools);
    let command = "echo 'Written by the agent.' > agent.txt";
    assert_eq!(program.calls(), [called("run_commands", json!({"commands": [command]}))]);
    let (name, arguments) = program.result("ok").calls().swap_remove(0);
    assert_eq!(
        (name.as_str(), arguments),
        ("read_files", json!({"files": [{"path": "agent.txt"}]}))
    );
}

#[test]
fn a_tool_that_the_task_names_is_called() {
    // Codex takes no name that begins with `mcp__`, so that it comes with an alias.
    let alias = "t_mcp__notes_0123456789abcdef";
    let namespace = json!({"type": "namespace", "name": alias,
        "tools": [function("look_up", &json!({"topic": {"type": "string"}}), &["topic"])]});
    let tools = json!([shell("bash"), namespace]);
    let mark = r#"[[agent:mcp__notes__look_up,{"topic":"tea"}]]"#;
    let items = Program::new(mark, &tools).result("ok").items();
    assert_eq!(items.len(), 2);
    assert_eq!(items[1]["name"], "look_up");
    assert_eq!(items[1]["namespace"], alias);
    assert_eq!(items[1]["arguments"], r#"{"topic":"tea"}"#);
}

#[test]
fn code_calls_the_tools_that_are_inside_of_it() {
    let mut exec = text("exec");
    exec["description"] = json!("…\n### `apply_patch`");
    let mark = r#"[[agent:mcp__notes__look_up,{"topic":"tea"}]]"#;
    let program = Program::new(mark, &json!([exec]));
    let (name, arguments) = program.calls().swap_remove(0);
    assert_eq!(name, "exec");
    assert!(arguments["input"].as_str().unwrap().starts_with("text(await tools.apply_patch(\"***"));
    let nested: Vec<Value> =
        program.result("ok").calls().into_iter().map(|(_, arguments)| arguments).collect();
    let both = "for (const done of await Promise.all([tools.exec_command({cmd: \"cat agent.txt\"}), \
        tools.exec_command({cmd: \"echo answer $((6 * 7))\"})])) text(done.output);";
    let named = "text(await tools.mcp__notes__look_up({\"topic\":\"tea\"}));";
    assert_eq!(nested, [json!({"input": both}), json!({"input": named})]);
}

#[test]
fn a_tool_that_ends_the_task_gets_the_report_once() {
    let end = function("attempt_completion", &json!({"result": {"type": "string"}}), &["result"]);
    let program = Program::new("[[agent]]", &json!([shell("bash"), end]));
    let program = program.result("ok").result("one").result("two");
    let report = "The agent is done.\n- one\n- two";
    assert_eq!(program.calls(), [called("attempt_completion", json!({"result": report}))]);
    assert_eq!(program.result("ended").text(), report);
}

#[test]
fn a_request_without_tools_gets_words_only() {
    assert_eq!(Program::new("[[agent]]", &json!([])).text(), "The agent is done.");
}

#[test]
fn each_part_of_a_task_may_be_absent() {
    let task = |folder, tool, arguments| Task { folder, tool, arguments };
    assert_eq!(Task::parse(""), task(None, None, None));
    assert_eq!(Task::parse("/w"), task(Some("/w"), None, None));
    assert_eq!(Task::parse("a__b"), task(None, Some("a__b"), None));
    assert_eq!(
        Task::parse(r#"/w, a, {"x": 1, "y": 2}"#),
        task(Some("/w"), Some("a"), Some(r#"{"x": 1, "y": 2}"#))
    );
}
