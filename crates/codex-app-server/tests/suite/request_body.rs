//! The model receives the client's messages and tools, and nothing of Codex's own: whole request
//! bodies, compared with an allow-list.

mod expected;

use std::collections::BTreeSet;

use model_turn::{
    CallInput, HistoryItem, Tool, ToolInput, ToolName, ToolOutput, TurnEnd, TurnRequest,
};
use serde_json::{Value, json};
use testkit::{OF_THE_TURN, TestCodex, tools};

use expected::{ANY, MODELS, for_model, full_request, function};

/// The only values of a body, or of the metadata in it, that are not compared beside those of the turn.
const NOT_COMPARED: [&str; 2] = [
    // Differs between Linux and macOS.
    "sandbox",
    // Copied from the catalog of the installed Codex.
    "node_repl_auto_review_required",
];

async fn complete(codex: &TestCodex, request: TurnRequest) {
    let outcome = codex.run(request).await;
    assert_eq!(outcome.end, Ok(TurnEnd::Completed));
}

fn last_body(codex: &TestCodex) -> Value {
    codex.model.last_request().expect("a request").body
}

/// The body with its metadata readable, and without the values that are not compared.
fn comparable(mut body: Value) -> Value {
    let metadata = &mut body["client_metadata"]["x-codex-turn-metadata"];
    let text = metadata.as_str().expect("metadata as text");
    *metadata = serde_json::from_str(text).expect("metadata as JSON");
    forget_values(&mut body);
    forget_values(&mut body["client_metadata"]);
    forget_values(&mut body["client_metadata"]["x-codex-turn-metadata"]);
    forget_id_of_tools(&mut body);
    body
}

fn forget_values(object: &mut Value) {
    for (name, value) in object.as_object_mut().expect("an object") {
        if OF_THE_TURN.contains(&name.as_str()) || NOT_COMPARED.contains(&name.as_str()) {
            *value = ANY.into();
        }
    }
}

/// Codex gives a new id to the tools of every lite request.
fn forget_id_of_tools(body: &mut Value) {
    let first = &mut body["input"][0];
    if first["type"] == "additional_tools" {
        first["id"] = ANY.into();
    }
}

/// The tools that a model sees, in either dialect.
pub(crate) fn tools_seen(body: &Value) -> Vec<Value> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let inside = list(&body["input"])
        .iter()
        .flat_map(|item| list(&item["tools"]))
        .flat_map(|namespace| list(&namespace["tools"]))
        .collect::<Vec<_>>();
    [list(&body["tools"]), inside].concat()
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
}

#[tokio::test]
async fn the_model_sees_a_full_request_and_nothing_else() {
    let codex = TestCodex::start().await;
    for model in &MODELS {
        complete(&codex, full_request(&codex, model.slug)).await;
        assert_eq!(comparable(last_body(&codex)), model.full_body(), "{}", model.slug);
    }
    codex.client.shutdown().await;
}

#[tokio::test]
async fn the_model_sees_a_single_message_and_nothing_else() {
    let codex = TestCodex::start().await;
    let message = json!({
        "type": "message",
        "id": "msg_d6a514b11ff1f4567c26b5275e5c2c7a",
        "role": "user",
        "content": [{"type": "input_text", "text": "[[text]]Hello"}],
    });
    for model in &MODELS {
        complete(&codex, for_model(model.slug, codex.ask("[[text]]Hello"))).await;
        let expected = model.plain_body(std::slice::from_ref(&message));
        assert_eq!(comparable(last_body(&codex)), expected, "{}", model.slug);
    }
    codex.client.shutdown().await;
}

#[tokio::test]
async fn the_headers_are_known_and_carry_the_key_of_the_upstream_only() {
    let codex = TestCodex::start().await;
    for model in &MODELS {
        for key in [None, Some("sk-own")] {
            let mut request = for_model(model.slug, codex.ask("[[text]]"));
            let upstream = request.upstream.as_mut().expect("an upstream");
            upstream.api_key = key.map(str::to_owned);
            complete(&codex, request).await;

            let sent = codex.model.last_request().expect("a request");
            let authorization = key.map(|key| format!("Bearer {key}"));
            assert_eq!(sent.header("authorization"), authorization.as_deref());
            let names: BTreeSet<_> = sent.headers.iter().map(|(name, _)| name.as_str()).collect();
            let mut expected = model.headers();
            expected.extend(key.map(|_| "authorization"));
            assert_eq!(names, expected, "{}", model.slug);
            assert_eq!(
                sent.header("x-codex-turn-metadata"),
                sent.body["client_metadata"]["x-codex-turn-metadata"].as_str(),
            );
        }
    }
    codex.client.shutdown().await;
}

#[tokio::test]
async fn nothing_of_our_environment_reaches_the_model() {
    let codex = TestCodex::start().await;
    complete(&codex, full_request(&codex, "gpt-5.5")).await;
    let sent = format!("{:?}", codex.model.last_request().expect("a request"));
    let home = codex.home.path().to_string_lossy().into_owned();
    // The first is set by cargo, which runs this test.
    let ours = ["CARGO_MANIFEST_DIR", "PATH"].map(|name| std::env::var(name).expect(name));
    for private in ours.iter().chain([&home]) {
        assert!(!sent.contains(private.as_str()), "{private} in {sent}");
    }
    codex.client.shutdown().await;
}

/// What the child does not have, it cannot tell.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_child_has_a_minimal_environment() {
    let codex = TestCodex::start().await;
    let process = codex.client.process_id().expect("a process");
    let environment = std::fs::read(format!("/proc/{process}/environ")).expect("readable");
    let names: BTreeSet<_> = environment
        .split(|byte| *byte == 0)
        .filter_map(|entry| std::str::from_utf8(entry).ok()?.split_once('='))
        .map(|(name, _)| name)
        .collect();
    let always = ["CODEX_HOME", "HOME", "LOG_FORMAT", "NO_COLOR", "NO_PROXY", "PATH", "RUST_LOG"];
    assert!(names.is_superset(&always.into()), "{names:?}");
    let ours = ["CARGO_MANIFEST_DIR", "CARGO_PKG_NAME"];
    assert!(ours.iter().all(|name| std::env::var_os(name).is_some()));
    let passed_on = |name: &str| {
        let name = name.to_ascii_uppercase();
        let network = ["_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "CODEX_CA_CERTIFICATE"];
        network.iter().any(|ending| name.ends_with(ending))
            || ["LANG", "LC_ALL", "TZ", "TMPDIR", "SYSTEMROOT"].contains(&name.as_str())
    };
    let unexpected: Vec<_> =
        names.iter().filter(|name| !always.contains(name) && !passed_on(name)).collect();
    assert_eq!(unexpected, [&""; 0]);
    codex.client.shutdown().await;
}

#[tokio::test]
async fn two_fresh_turns_with_the_same_history_send_the_same_bytes() {
    let codex = TestCodex::start().await;
    for model in &MODELS {
        let mut sent = Vec::new();
        for _ in 0..2 {
            complete(&codex, full_request(&codex, model.slug)).await;
            let mut body = last_body(&codex);
            forget_id_of_tools(&mut body);
            sent.push((body["input"].to_string(), body["tools"].to_string()));
        }
        assert_eq!(sent[0], sent[1], "{}", model.slug);
    }
    codex.client.shutdown().await;
}

#[tokio::test]
async fn a_tool_whose_name_codex_does_not_take_has_an_alias_in_both_directions() {
    let codex = TestCodex::start().await;
    let long = "n".repeat(200);
    let originals = ["mcp__git__log", "a.b", "two words", "exec_command", "shell_command", &long];
    for model in &MODELS {
        let mut request = for_model(model.slug, codex.ask("[[parallel:6]]"));
        request.tools = tools(&originals);
        let outcome = codex.run(request.clone()).await;
        assert_eq!(outcome.end, Ok(TurnEnd::ToolCalls));
        let called: Vec<_> = outcome.calls.iter().map(|call| call.name.name.as_str()).collect();
        assert_eq!(called, originals, "{}", model.slug);

        let seen = tools_seen(&last_body(&codex));
        let aliases = names(&seen);
        assert_eq!(aliases.len(), originals.len());
        for (alias, original) in aliases.iter().zip(originals) {
            let taken = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
            assert!(alias.len() <= 128 && alias.bytes().all(taken), "{alias}");
            assert_ne!(*alias, original);
        }
        // The model still knows what a prompt means by the original name.
        for (tool, original) in seen.iter().zip(originals) {
            let words = format!("This is the tool `{original}`. Runs {original}");
            assert_eq!(tool["description"], words);
        }

        for call in outcome.calls {
            request.history.push(HistoryItem::ToolCall {
                call_id: call.call_id.clone(),
                name: call.name,
                input: CallInput::Arguments(call.arguments),
            });
            request.history.push(HistoryItem::ToolOutput {
                call_id: call.call_id,
                output: ToolOutput::Text("done".to_owned()),
            });
        }
        complete(&codex, request).await;
        let body = last_body(&codex);
        assert_eq!(names(&tools_seen(&body)), aliases);
        let items = body["input"].as_array().expect("input");
        let called = items.iter().filter(|item| item["type"] == "function_call");
        let called: Vec<_> = called.filter_map(|call| call["name"].as_str()).collect();
        assert_eq!(called, aliases, "{}", model.slug);
    }
    codex.client.shutdown().await;
}

/// A namespace of one function, as it is offered and as the model sees it.
fn namespace(name: &str, tool: &Value) -> Value {
    json!({"type": "namespace", "name": name, "description": "Notes", "tools": [tool]})
}

#[tokio::test]
async fn a_long_description_of_a_namespace_stands_with_its_first_tool() {
    let codex = TestCodex::start().await;
    let [first, second] = &tools(&["get_weather", "search"])[..] else { panic!("two tools") };
    for (length, is_long) in [(1_024, false), (1_025, true)] {
        let long = "é".repeat(length);
        let inside = |tool: &Tool| Tool {
            name: ToolName { namespace: Some("notes".to_owned()), ..tool.name.clone() },
            namespace_description: long.as_str().into(),
            ..tool.clone()
        };
        let request = codex.ask("[[text]]Hello");
        let tools = vec![inside(first), inside(second)];
        complete(&codex, TurnRequest { tools, ..request }).await;
        let seen = &tools_seen(&last_body(&codex))[0];
        let of = |tool: &Value| tool["description"].as_str().expect("a description").to_owned();
        assert_eq!(of(seen) == long, !is_long);
        assert_eq!(of(&seen["tools"][0]).contains(&long), is_long);
        assert!(!of(&seen["tools"][1]).contains(&long));
    }
    codex.client.shutdown().await;
}

#[tokio::test]
async fn the_model_sees_tools_of_other_kinds_verbosity_and_tier() {
    let codex = TestCodex::start().await;
    let inside = |namespace: &str, tool: Tool| Tool {
        name: ToolName { namespace: Some(namespace.to_owned()), ..tool.name },
        namespace_description: "Notes".into(),
        ..tool
    };
    let [weather, search] = &tools(&["get_weather", "search"])[..] else { panic!("two tools") };
    let patch = Tool { input: ToolInput::Text, ..Tool::function("patch", "Patches", json!({})) };
    let patch_seen = json!({
        "type": "function", "name": "patch", "description": "Patches", "strict": false,
        "parameters": {
            "type": "object",
            "properties": {
                "input": {"type": "string", "description": "The whole input, as it is."},
            },
            "required": ["input"],
            "additionalProperties": false,
        },
    });
    let name = ToolName { namespace: Some("notes".to_owned()), name: "search".to_owned() };
    for model in &MODELS {
        let mut request = for_model(model.slug, codex.ask("[[text]]Hello"));
        request.tools = vec![
            weather.clone(),
            inside("notes", search.clone()),
            // Where the model sees tools without a namespace anyway.
            inside("functions", patch.clone()),
        ];
        request.verbosity = Some("high".to_owned());
        request.service_tier = Some("priority".to_owned());
        let call = |id: &str, name: &ToolName, input| HistoryItem::ToolCall {
            call_id: id.to_owned(),
            name: name.clone(),
            input,
        };
        let output = |id: &str| HistoryItem::ToolOutput {
            call_id: id.to_owned(),
            output: ToolOutput::Text("done".to_owned()),
        };
        let question = request.history.remove(0);
        request.history.extend([
            call("call_1", &name, CallInput::Arguments("{}".to_owned())),
            output("call_1"),
            call("call_2", &"patch".into(), CallInput::Text("a\nb".to_owned())),
            output("call_2"),
            question,
        ]);
        complete(&codex, request).await;

        let mut body = comparable(last_body(&codex));
        let mut items = body["input"].as_array().expect("items").clone();
        let plain = json!([function("get_weather"), patch_seen]);
        let seen = if model.lite {
            let functions = json!({
                "type": "namespace", "name": "functions", "description": "", "tools": plain,
            });
            let declared = items.remove(0);
            assert_eq!(declared["type"], "additional_tools");
            body["tools"] = declared["tools"].clone();
            json!([functions, namespace("notes", &function("search"))])
        } else {
            json!([function("get_weather"), namespace("notes", &function("search")), patch_seen])
        };
        assert_eq!(body["tools"], seen, "{}", model.slug);
        for item in &mut items {
            item.as_object_mut().expect("an item").remove("id");
        }
        let expected = json!([
            {"type": "function_call", "name": "search", "namespace": "notes", "arguments": "{}", "call_id": "call_1"},
            {"type": "function_call_output", "call_id": "call_1", "output": "done"},
            {"type": "custom_tool_call", "call_id": "call_2", "name": "patch", "input": "a\nb"},
            {"type": "custom_tool_call_output", "call_id": "call_2", "output": "done"},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "[[text]]Hello"}]},
        ]);
        assert_eq!(json!(items), expected, "{}", model.slug);

        let mut whole = model.plain_body(&[]);
        whole["text"]["verbosity"] = "high".into();
        whole["service_tier"] = "priority".into();
        for member in ["input", "tools"] {
            for body in [&mut whole, &mut body] {
                body.as_object_mut().expect("a body").remove(member);
            }
        }
        assert_eq!(body, whole, "{}", model.slug);
    }
    codex.client.shutdown().await;
}

#[tokio::test]
async fn every_bundled_model_sees_the_one_tool_of_the_client() {
    let codex = TestCodex::start().await;
    let catalog = std::fs::read(codex.home.path().join("models.json")).expect("a catalog");
    let catalog: Value = serde_json::from_slice(&catalog).expect("a catalog in JSON");
    let models = catalog["models"].as_array().expect("models");
    let slugs: Vec<_> = models.iter().filter_map(|model| model["slug"].as_str()).collect();
    assert!(slugs.len() > 12, "the bundled models and demo, not {slugs:?}");
    // The entry for all models that have none has no name that could be asked for.
    let known = slugs.into_iter().filter(|slug| !slug.is_empty());
    for slug in known.chain(["of-nobody-knows"]) {
        let mut request = for_model(slug, codex.ask("[[text]]Hello"));
        request.tools = tools(&["get_weather"]);
        complete(&codex, request).await;
        let seen = tools_seen(&last_body(&codex));
        assert_eq!(seen, [function("get_weather")], "{slug}");
    }
    codex.client.shutdown().await;
}
