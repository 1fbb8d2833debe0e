//! The model receives the client's messages and tools, and nothing of Codex's own: whole request
//! bodies, compared with an allow-list.

use std::collections::BTreeSet;

use codex_app_server::turn::event::TurnEnd;
use codex_app_server::{ContentPart, DEMO_MODEL, HistoryItem, Role, ToolOutput, TurnRequest};
use serde_json::{Value, json};
use testkit::{TestCodex, tools};

const PIXEL: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// What stands in the place of a value that differs from turn to turn, or between machines.
const ANY: &str = "(any)";

/// The only values of a body, or of the metadata in it, that are not compared.
const NOT_COMPARED: [&str; 13] = [
    "prompt_cache_key",
    "thread_id",
    "session_id",
    "turn_id",
    "root_turn_id",
    "window_id",
    "context_window_id",
    "installation_id",
    "x-codex-window-id",
    "x-codex-installation-id",
    "turn_started_at_unix_ms",
    // Differs between Linux and macOS.
    "sandbox",
    // Copied from the catalog of the installed Codex.
    "node_repl_auto_review_required",
];

/// Header names of every request.
const HEADERS: [&str; 13] = [
    "accept",
    "content-length",
    "content-type",
    "host",
    "originator",
    "session-id",
    "thread-id",
    "user-agent",
    "x-client-request-id",
    "x-codex-beta-features",
    "x-codex-turn-metadata",
    "x-codex-window-id",
    "x-openai-internal-codex-responses-lite",
];

/// How Codex speaks to a model.
struct Model {
    slug: &'static str,
    /// The newer dialect, with the tools inside the input.
    lite: bool,
    /// Effort if the client names none.
    effort: Option<&'static str>,
    /// Summary if the client names none.
    summary: Option<&'static str>,
    verbosity: Option<&'static str>,
}

const MODELS: [Model; 4] = [
    // Ships as code-mode-only.
    Model {
        slug: "gpt-6.1-sol",
        lite: true,
        effort: Some("low"),
        summary: None,
        verbosity: Some("low"),
    },
    Model {
        slug: "gpt-5.5",
        lite: false,
        effort: Some("medium"),
        summary: None,
        verbosity: Some("low"),
    },
    Model {
        slug: DEMO_MODEL,
        lite: false,
        effort: Some("low"),
        summary: None,
        verbosity: Some("low"),
    },
    // In no catalog.
    Model {
        slug: "my-local-model",
        lite: false,
        effort: None,
        summary: Some("auto"),
        verbosity: None,
    },
];

// === impl Model ===

impl Model {
    /// The whole body for a request without any wishes.
    fn plain_body(&self, input: &[Value]) -> Value {
        let mut body = json!({
            "model": self.slug,
            "stream": true,
            "input": input,
            "tool_choice": "auto",
            "parallel_tool_calls": !self.lite,
            "reasoning": {},
            "store": false,
            "include": ["reasoning.encrypted_content"],
            "prompt_cache_key": ANY,
            "client_metadata": {
                "thread_id": ANY,
                "session_id": ANY,
                "turn_id": ANY,
                "root_turn_id": ANY,
                "x-codex-window-id": ANY,
                "x-codex-installation-id": ANY,
                "x-codex-turn-metadata": {
                    "installation_id": ANY,
                    "session_id": ANY,
                    "thread_id": ANY,
                    "agent_name": "/root",
                    "turn_id": ANY,
                    "root_turn_id": ANY,
                    "window_id": ANY,
                    "window_number": 0,
                    "context_window_id": ANY,
                    "request_kind": "turn",
                    "history_initialization": "new",
                    "sandbox": ANY,
                    "sandbox_mode": "read-only",
                    "auto_review_enabled": false,
                    "node_repl_auto_review_required": ANY,
                    "node_repl_disabled": false,
                    "turn_started_at_unix_ms": ANY,
                    "analytics_enabled": false,
                    "model": self.slug,
                },
            },
        });
        if self.lite {
            body["reasoning"]["context"] = "all_turns".into();
        } else {
            body["tools"] = json!([]);
        }
        if let Some(effort) = self.effort {
            set_effort(&mut body, effort);
        }
        if let Some(summary) = self.summary {
            body["reasoning"]["summary"] = summary.into();
        }
        if let Some(verbosity) = self.verbosity {
            body["text"]["verbosity"] = verbosity.into();
        }
        body
    }

    /// The whole body for [`full_request`].
    fn full_body(&self) -> Value {
        let mut body = self.plain_body(&full_input());
        set_effort(&mut body, "high");
        body["reasoning"]["summary"] = "detailed".into();
        body["text"]["format"] = json!({
            "type": "json_schema",
            "strict": true,
            "name": "codex_output_schema",
            "schema": answer_schema(),
        });
        let tools = [function("get_weather"), function("get_time")];
        if self.lite {
            let input = body["input"].as_array_mut().expect("input");
            input.insert(
                0,
                json!({
                    "type": "additional_tools",
                    "id": ANY,
                    "role": "developer",
                    "tools": [{
                        "type": "namespace",
                        "name": "functions",
                        "description": "",
                        "tools": tools,
                    }],
                }),
            );
        } else {
            body["tools"] = json!(tools);
        }
        body
    }

    fn headers(&self) -> BTreeSet<&'static str> {
        let lite_only = |name: &&str| self.lite || !name.ends_with("responses-lite");
        HEADERS.into_iter().filter(lite_only).collect()
    }
}

fn set_effort(body: &mut Value, effort: &str) {
    body["reasoning"]["effort"] = effort.into();
    body["client_metadata"]["x-codex-turn-metadata"]["reasoning_effort"] = effort.into();
}

/// A tool of [`tools`], as the model sees it.
fn function(name: &str) -> Value {
    json!({
        "type": "function",
        "name": name,
        "description": format!("Runs {name}"),
        "strict": false,
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    })
}

fn answer_schema() -> Value {
    json!({
        "type": "object",
        "properties": {"answer": {"type": "string"}},
        "required": ["answer"],
        "additionalProperties": false,
    })
}

fn for_model(model: &str, mut request: TurnRequest) -> TurnRequest {
    model.clone_into(&mut request.model);
    request
}

/// Everything that a client can say.
fn full_request(codex: &TestCodex, model: &str) -> TurnRequest {
    let history = vec![
        HistoryItem::text(Role::Developer, "Answer in German."),
        HistoryItem::text(Role::User, "What is the weather?"),
        HistoryItem::text(Role::Assistant, "Let me see."),
        HistoryItem::ToolCall {
            call_id: "call_1".to_owned(),
            name: "get_weather".to_owned(),
            arguments: r#"{"city": "Paris"}"#.to_owned(),
        },
        HistoryItem::ToolOutput {
            call_id: "call_1".to_owned(),
            output: ToolOutput::Text("rain".to_owned()),
        },
        HistoryItem::Message {
            role: Role::User,
            content: vec![
                ContentPart::Text("[[text]]And here?".to_owned()),
                ContentPart::Image { url: PIXEL.to_owned() },
            ],
        },
    ];
    TurnRequest {
        instructions: "Be brief.".to_owned(),
        history,
        tools: tools(&["get_weather", "get_time"]),
        effort: Some("high".to_owned()),
        summary: Some("detailed".to_owned()),
        output_schema: Some(answer_schema()),
        ..for_model(model, codex.ask(""))
    }
}

/// The history of [`full_request`], as the model sees it.
///
/// The ids are derived from the content: a change of them loses the prompt cache of every user.
fn full_input() -> Vec<Value> {
    let message = |id: &str, role: &str, content: Value| json!({"type": "message", "id": id, "role": role, "content": content});
    let input_text = |text: &str| json!({"type": "input_text", "text": text});
    vec![
        message(
            "msg_a652231f20ba037819fa314041c826f6",
            "developer",
            json!([input_text("Be brief.")]),
        ),
        message(
            "msg_549f9986b9a5724a9fca92fa3cee809d",
            "developer",
            json!([input_text("Answer in German.")]),
        ),
        message(
            "msg_aba6239da4ce34d8fd0053dfe90a06b3",
            "user",
            json!([input_text("What is the weather?")]),
        ),
        message(
            "msg_e2e4071e6fdfbad330c518be0f4c23eb",
            "assistant",
            json!([{"type": "output_text", "text": "Let me see."}]),
        ),
        json!({
            "type": "function_call",
            "id": "fc_3f2255e149f2140aa65049d44b66740f",
            "call_id": "call_1",
            "name": "get_weather",
            "arguments": r#"{"city": "Paris"}"#,
        }),
        json!({
            "type": "function_call_output",
            "id": "fco_e514366c36ca5a5b9958cd3582811450",
            "call_id": "call_1",
            "output": "rain",
        }),
        message(
            "msg_723439ba8937147405e7f3c3882be695",
            "user",
            json!([
                input_text("[[text]]And here?"),
                {"type": "input_image", "image_url": PIXEL},
            ]),
        ),
    ]
}

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
        if NOT_COMPARED.contains(&name.as_str()) {
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
fn tools_seen(body: &Value) -> Vec<Value> {
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
    let always = ["CODEX_HOME", "HOME", "NO_PROXY", "PATH", "RUST_LOG"];
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
    let originals = ["mcp__git__log", "a.b", "two words", "exec_command", &long];
    for model in &MODELS {
        let mut request = for_model(model.slug, codex.ask("[[parallel:5]]"));
        request.tools = tools(&originals);
        let outcome = codex.run(request.clone()).await;
        assert_eq!(outcome.end, Ok(TurnEnd::ToolCalls));
        let called: Vec<_> = outcome.calls.iter().map(|call| call.name.as_str()).collect();
        assert_eq!(called, originals, "{}", model.slug);

        let seen = tools_seen(&last_body(&codex));
        let aliases = names(&seen);
        assert_eq!(aliases.len(), originals.len());
        for (alias, original) in aliases.iter().zip(originals) {
            let taken = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
            assert!(alias.len() <= 128 && alias.bytes().all(taken), "{alias}");
            assert_ne!(*alias, original);
        }

        for call in outcome.calls {
            request.history.push(HistoryItem::ToolCall {
                call_id: call.call_id.clone(),
                name: call.name,
                arguments: call.arguments,
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

#[tokio::test]
async fn every_bundled_model_sees_the_one_tool_of_the_client() {
    let codex = TestCodex::start().await;
    let catalog = std::fs::read(codex.home.path().join("models.json")).expect("a catalog");
    let catalog: Value = serde_json::from_slice(&catalog).expect("a catalog in JSON");
    let models = catalog["models"].as_array().expect("models");
    let slugs: Vec<_> = models.iter().filter_map(|model| model["slug"].as_str()).collect();
    assert!(slugs.len() > 12, "the bundled models and demo, not {slugs:?}");
    for slug in slugs {
        let mut request = for_model(slug, codex.ask("[[text]]Hello"));
        request.tools = tools(&["get_weather"]);
        complete(&codex, request).await;
        let seen = tools_seen(&last_body(&codex));
        assert_eq!(seen, [function("get_weather")], "{slug}");
    }
    codex.client.shutdown().await;
}
