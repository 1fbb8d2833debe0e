//! Results and notifications that we read.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// A string that is borrowed where it holds no escapes, also inside an `Option`.
///
/// Serde borrows a bare `Cow`, but copies an `Option<Cow>`.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct Text<'a>(#[serde(borrow)] pub Cow<'a, str>);

/// Result of `initialize`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Initialized {
    /// `name/version (…)`.
    pub user_agent: String,
}

/// Result of `thread/start`.
#[derive(Debug, Deserialize)]
pub struct ThreadStarted {
    /// The new thread.
    pub thread: Thread,
}

/// A thread.
#[derive(Debug, Deserialize)]
pub struct Thread {
    /// Its id.
    pub id: String,
}

/// Result of `turn/start`.
#[derive(Debug, Deserialize)]
pub struct TurnStartResult {
    /// The new turn.
    pub turn: TurnState,
}

/// Result of `thread/loaded/list`.
#[derive(Debug, Deserialize)]
pub struct LoadedThreads {
    /// Ids of the loaded threads.
    pub data: Vec<String>,
}

/// Result of `model/list`.
#[derive(Debug, Deserialize)]
pub struct Models {
    /// The models, best first.
    pub data: Vec<Model>,
}

/// A model of the catalog.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Model {
    /// Its slug.
    pub id: String,
    /// Whether Codex takes it when nobody chooses.
    pub is_default: bool,
}

/// A turn as Codex sees it.
#[derive(Debug, Deserialize)]
pub struct TurnState {
    /// Its id.
    pub id: String,
    /// Where it stands.
    pub status: TurnStatus,
    /// Why it failed.
    pub error: Option<TurnError>,
}

/// Status of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TurnStatus {
    /// Still running.
    InProgress,
    /// Ended by itself.
    Completed,
    /// Ended by `turn/interrupt`.
    Interrupted,
    /// Ended by a failure.
    Failed,
}

/// Why a turn failed, in Codex's words.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnError {
    /// For people; sometimes the upstream's whole JSON body.
    pub message: String,
    /// A name, or an object with a name and an HTTP status.
    #[serde(default)]
    pub codex_error_info: Option<serde_json::Value>,
    /// More words.
    #[serde(default)]
    pub additional_details: Option<String>,
}

/// `turn/started` and `turn/completed`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnNotification<'a> {
    /// The thread.
    #[serde(borrow)]
    pub thread_id: Cow<'a, str>,
    /// The turn.
    pub turn: TurnState,
}

/// `item/agentMessage/delta`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentMessageDelta<'a> {
    /// The thread.
    #[serde(borrow)]
    pub thread_id: Cow<'a, str>,
    /// The turn.
    #[serde(borrow)]
    pub turn_id: Cow<'a, str>,
    /// New text.
    #[serde(borrow)]
    pub delta: Cow<'a, str>,
}

/// `item/reasoning/summaryTextDelta`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReasoningSummaryDelta<'a> {
    /// The thread.
    #[serde(borrow)]
    pub thread_id: Cow<'a, str>,
    /// The turn.
    #[serde(borrow)]
    pub turn_id: Cow<'a, str>,
    /// New text.
    #[serde(borrow)]
    pub delta: Cow<'a, str>,
    /// Which part of the summary it continues.
    pub summary_index: u32,
}

/// `item/reasoning/textDelta`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReasoningTextDelta<'a> {
    /// The thread.
    #[serde(borrow)]
    pub thread_id: Cow<'a, str>,
    /// The turn.
    #[serde(borrow)]
    pub turn_id: Cow<'a, str>,
    /// New text.
    #[serde(borrow)]
    pub delta: Cow<'a, str>,
    /// Which part of the content it continues.
    pub content_index: u32,
}

/// `item/started` and `item/completed`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemNotification<'a> {
    /// The thread.
    #[serde(borrow)]
    pub thread_id: Cow<'a, str>,
    /// The turn.
    #[serde(borrow)]
    pub turn_id: Cow<'a, str>,
    /// The item.
    #[serde(borrow)]
    pub item: ThreadItem<'a>,
}

/// The fields of a thread item that matter to us, whatever its type.
#[derive(Debug, Deserialize)]
pub struct ThreadItem<'a> {
    /// `agentMessage`, `reasoning`, `dynamicToolCall`, ….
    #[serde(borrow)]
    pub r#type: Cow<'a, str>,
    /// Its id.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// Whole text of an agent message.
    #[serde(borrow)]
    pub text: Option<Text<'a>>,
}

/// `rawResponseItem/completed`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RawItemNotification<'a> {
    /// The thread.
    #[serde(borrow)]
    pub thread_id: Cow<'a, str>,
    /// The turn.
    #[serde(borrow)]
    pub turn_id: Cow<'a, str>,
    /// The item exactly as the upstream sent it.
    #[serde(borrow)]
    pub item: &'a RawValue,
}

/// The fields of a raw Responses item that matter to us, whatever its type.
#[derive(Debug, Deserialize)]
pub struct RawItem<'a> {
    /// `message`, `function_call`, `custom_tool_call`, ….
    #[serde(borrow)]
    pub r#type: Cow<'a, str>,
    /// Name of the called tool.
    #[serde(borrow)]
    pub name: Option<Text<'a>>,
    /// Group of the called tool.
    #[serde(borrow)]
    pub namespace: Option<Text<'a>>,
    /// Exact argument text of a function call, as a JSON string.
    #[serde(borrow)]
    pub arguments: Option<&'a RawValue>,
    /// Exact input of a custom call.
    #[serde(borrow)]
    pub input: Option<Text<'a>>,
    /// The call's id.
    #[serde(borrow)]
    pub call_id: Option<Text<'a>>,
}

/// `rawResponse/completed`: the upstream's response has ended, whatever Codex does next.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RawResponseCompleted<'a> {
    /// The thread.
    #[serde(borrow)]
    pub thread_id: Cow<'a, str>,
    /// The turn.
    #[serde(borrow)]
    pub turn_id: Cow<'a, str>,
    /// The upstream's id of the response.
    pub response_id: String,
    /// Token counts, if the upstream sent any.
    pub usage: Option<TokenUsage>,
}

/// Token counts of one response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenUsage {
    /// Prompt, cached part included.
    pub input_tokens: u64,
    /// Part of the prompt that came from the cache.
    pub cached_input_tokens: u64,
    /// Answer, reasoning included.
    pub output_tokens: u64,
    /// Part of the answer that was reasoning.
    pub reasoning_output_tokens: u64,
    /// Sum.
    pub total_tokens: u64,
}

/// `error`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ErrorNotification<'a> {
    /// The thread.
    #[serde(borrow)]
    pub thread_id: Cow<'a, str>,
    /// The turn.
    #[serde(borrow)]
    pub turn_id: Cow<'a, str>,
    /// What happened.
    pub error: TurnError,
    /// Codex asks the upstream again by itself.
    pub will_retry: bool,
}

/// Parameters of the server request `item/tool/call`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCallRequest<'a> {
    /// The thread.
    #[serde(borrow)]
    pub thread_id: Cow<'a, str>,
    /// The turn.
    #[serde(borrow)]
    pub turn_id: Cow<'a, str>,
}
