//! Requests that we send.

use std::borrow::Cow;

use model_turn::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// What a request is asked with.
pub trait Params {
    /// Appends it as JSON.
    ///
    /// # Errors
    /// If it cannot be written.
    fn write(&self, line: &mut Vec<u8>) -> serde_json::Result<()>;
}

impl<P: Serialize + ?Sized> Params for P {
    fn write(&self, line: &mut Vec<u8>) -> serde_json::Result<()> {
        serde_json::to_writer(line, self)
    }
}

/// A request's method and the shape of its parameters.
pub trait Request: Params {
    /// The JSON-RPC method.
    const METHOD: &'static str;
}

macro_rules! requests {
    ($($params:ty => $method:literal;)*) => {
        $(impl Request for $params { const METHOD: &'static str = $method; })*
    };
}

requests! {
    Initialize<'_> => "initialize";
    ThreadStart<'_> => "thread/start";
    ThreadInjectItems<'_> => "thread/inject_items";
    TurnStart<'_> => "turn/start";
    TurnInterrupt<'_> => "turn/interrupt";
    ThreadUnsubscribe<'_> => "thread/unsubscribe";
    ThreadLoadedList => "thread/loaded/list";
    ModelList<'_> => "model/list";
    AccountRead => "account/read";
    LoginStart<'_> => "account/login/start";
    LoginCancel<'_> => "account/login/cancel";
    Logout => "account/logout";
    RateLimitsRead => "account/rateLimits/read";
}

/// The first request of a connection.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Initialize<'a> {
    /// Who we are; the name becomes the `originator` header upstream.
    pub client_info: ClientInfo<'a>,
    /// What we ask of the server.
    pub capabilities: Capabilities<'a>,
}

/// Name and version of the client.
#[derive(Debug, Serialize)]
pub struct ClientInfo<'a> {
    /// Machine-readable name.
    pub name: &'a str,
    /// Name for people.
    pub title: &'a str,
    /// Version of the client.
    pub version: &'a str,
}

/// Capabilities of the client.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Capabilities<'a> {
    /// Needed for dynamic tools, raw events and empty environments.
    pub experimental_api: bool,
    /// We cannot attest anything.
    pub request_attestation: bool,
    /// Exact names of notifications that we do not want.
    pub opt_out_notification_methods: &'a [&'a str],
}

/// Starts a thread. Its `config` may hold a key.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ThreadStart<'a> {
    /// Slug of the model.
    pub model: &'a str,
    /// Empty folder of our own.
    pub cwd: &'a str,
    /// No rollout on disk.
    pub ephemeral: bool,
    /// Always empty: no shell, no files.
    pub environments: [Value; 0],
    /// Replaces Codex's own prompt; empty means none.
    pub base_instructions: &'a str,
    /// Always `never`.
    pub approval_policy: &'a str,
    /// Always `read-only`.
    pub sandbox: &'a str,
    /// Raw items carry the exact argument text, and the end of the response.
    pub experimental_raw_events: bool,
    /// The client's tools.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub dynamic_tools: &'a [DynamicTool<'a>],
    /// How the upstream should process its turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<&'a str>,
    /// Overrides of the configuration for this thread.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub config: Map<String, Value>,
}

/// What the client offers to the model. Names are such as Codex accepts, and descriptions may be empty.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum DynamicTool<'a> {
    /// A function.
    Function {
        /// Its name.
        name: &'a str,
        /// What it is for.
        description: Cow<'a, str>,
        /// JSON schema of the parameters.
        input_schema: &'a JsonSchema,
    },
    /// Functions that belong together.
    Namespace {
        /// Its name.
        name: &'a str,
        /// What it is for.
        description: Cow<'a, str>,
        /// Its functions, at least one.
        tools: Vec<DynamicTool<'a>>,
    },
}

/// Appends raw Responses items to the history that the model sees.
#[derive(Debug)]
pub struct ThreadInjectItems<'a> {
    /// The thread.
    pub thread_id: &'a str,
    /// The items, at least one, each in JSON.
    pub items: &'a [&'a str],
}

/// By hand: serde takes JSON that is written already only after it has read all of it again, and a
/// history can be long.
impl Params for ThreadInjectItems<'_> {
    fn write(&self, line: &mut Vec<u8>) -> serde_json::Result<()> {
        let text: usize = self.items.iter().map(|item| item.len() + 1).sum();
        line.reserve(text + 64);
        line.extend_from_slice(br#"{"threadId":"#);
        self.thread_id.write(line)?;
        line.extend_from_slice(br#","items":["#);
        for (index, item) in self.items.iter().enumerate() {
            if index > 0 {
                line.push(b',');
            }
            line.extend_from_slice(item.as_bytes());
        }
        line.extend_from_slice(b"]}");
        Ok(())
    }
}

/// Starts the turn of a thread.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnStart<'a> {
    /// The thread.
    pub thread_id: &'a str,
    /// Always empty: what is new was injected.
    pub input: [Value; 0],
    /// Reasoning effort.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<&'a str>,
    /// Reasoning summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<&'a str>,
    /// JSON schema of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<&'a Value>,
}

/// Stops a running turn and drops its upstream connection.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnInterrupt<'a> {
    /// The thread.
    pub thread_id: &'a str,
    /// The turn.
    pub turn_id: &'a str,
}

/// Lets Codex unload a thread.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ThreadUnsubscribe<'a> {
    /// The thread.
    pub thread_id: &'a str,
}

/// Asks which threads are loaded: a cheap request that touches no disk.
#[derive(Debug, Serialize)]
pub struct ThreadLoadedList {}

/// Asks for the models of the catalog.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelList<'a> {
    /// Those too that Codex keeps out of its own lists.
    pub include_hidden: bool,
    /// Where the page begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<&'a str>,
}

/// Asks who is signed in.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountRead {
    /// Refreshes the tokens first.
    pub refresh_token: bool,
}

/// Signs in.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum LoginStart<'a> {
    /// With a key, at once.
    ApiKey {
        /// The key.
        api_key: &'a str,
    },
    /// In a browser on this machine.
    Chatgpt,
    /// In any browser, with a code.
    ChatgptDeviceCode,
}

/// Gives a login up.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoginCancel<'a> {
    /// Which one.
    pub login_id: &'a str,
}

/// Signs out.
#[derive(Debug, Serialize)]
pub struct Logout;

/// Asks how much of the allowance is used.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RateLimitsRead {
    /// Saves Codex one more request to the upstream.
    pub exclude_reset_credit_details: bool,
}

/// The answer to a request of Codex for approval or input, which is always no.
///
/// `None` for a method that has no way to say no: it is answered with an error instead.
pub fn refusal(method: &str) -> Option<&'static str> {
    match method {
        "item/commandExecution/requestApproval" | "item/fileChange/requestApproval" => {
            Some(r#"{"decision":"decline"}"#)
        }
        "applyPatchApproval" | "execCommandApproval" => {
            Some(r#"{"decision":{"denied":{"rejection":"not allowed here"}}}"#)
        }
        "mcpServer/elicitation/request" => Some(r#"{"action":"decline"}"#),
        "item/tool/requestUserInput" => Some(r#"{"answers":{}}"#),
        "item/permissions/requestApproval" => Some(r#"{"permissions":{}}"#),
        _ => None,
    }
}
