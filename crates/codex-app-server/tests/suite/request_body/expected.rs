//! The whole body that each model should receive.

use std::collections::BTreeSet;

use codex_app_server::DEMO_MODEL;
use model_turn::{ContentPart, HistoryItem, Role, ToolOutput, TurnRequest};
use serde_json::{Value, json};
use testkit::{TestCodex, tools};

const PIXEL: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// What stands in the place of a value that differs from turn to turn, or between machines.
pub(super) const ANY: &str = "(any)";

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
pub(super) struct Model {
    pub(super) slug: &'static str,
    /// The newer dialect, with the tools inside the input.
    pub(super) lite: bool,
    /// Effort if the client names none.
    pub(super) effort: Option<&'static str>,
    /// Summary if the client names none.
    pub(super) summary: Option<&'static str>,
}

pub(super) const MODELS: [Model; 4] = [
    // Ships as code-mode-only.
    Model { slug: "gpt-6.1-sol", lite: true, effort: Some("low"), summary: None },
    Model { slug: "gpt-5.5", lite: false, effort: Some("medium"), summary: None },
    Model { slug: DEMO_MODEL, lite: false, effort: Some("low"), summary: None },
    // In no catalog.
    Model { slug: "my-local-model", lite: false, effort: None, summary: Some("auto") },
];

// === impl Model ===

impl Model {
    /// The whole body for a request without any wishes.
    pub(super) fn plain_body(&self, input: &[Value]) -> Value {
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
        body
    }

    /// The whole body for [`full_request`].
    pub(super) fn full_body(&self) -> Value {
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

    pub(super) fn headers(&self) -> BTreeSet<&'static str> {
        let lite_only = |name: &&str| self.lite || !name.ends_with("responses-lite");
        HEADERS.into_iter().filter(lite_only).collect()
    }
}

fn set_effort(body: &mut Value, effort: &str) {
    body["reasoning"]["effort"] = effort.into();
    body["client_metadata"]["x-codex-turn-metadata"]["reasoning_effort"] = effort.into();
}

/// A tool of [`tools`], as the model sees it.
pub(super) fn function(name: &str) -> Value {
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

pub(super) fn for_model(model: &str, mut request: TurnRequest) -> TurnRequest {
    model.clone_into(&mut request.model);
    request
}

/// Everything that a client can say.
pub(super) fn full_request(codex: &TestCodex, model: &str) -> TurnRequest {
    let history = vec![
        HistoryItem::text(Role::Developer, "Answer in German."),
        HistoryItem::text(Role::User, "What is the weather?"),
        HistoryItem::text(Role::Assistant, "Let me see."),
        HistoryItem::function_call("call_1", "get_weather", r#"{"city": "Paris"}"#),
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
            phase: None,
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
