//! Results and notifications that we read.

use std::borrow::Cow;

use model_turn::{MessagePhase, TokenUsage};
use serde::Deserialize;
use serde::de::DeserializeOwned;
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
    pub thread: Identified,
}

/// Result of `turn/start`.
#[derive(Debug, Deserialize)]
pub struct TurnStartResult {
    /// The new turn.
    pub turn: Identified,
}

/// Something of which only the id matters.
#[derive(Debug, Deserialize)]
pub struct Identified {
    /// Its id.
    pub id: String,
}

/// The result of a request that makes something with an id.
pub(crate) trait MakesId: DeserializeOwned {
    /// How Codex begins it.
    const START: &'static str;

    fn into_id(self) -> String;

    /// Reads the id where Codex puts it: the rest is long, and was found to be JSON when its line
    /// was read.
    fn read_id(result: &str) -> Result<String, serde_json::Error> {
        match result.strip_prefix(Self::START).and_then(|id| id.split_once('"')) {
            Some((id, _)) if !id.contains('\\') => Ok(id.to_owned()),
            _ => serde_json::from_str::<Self>(result).map(Self::into_id),
        }
    }
}

impl MakesId for ThreadStarted {
    const START: &'static str = r#"{"thread":{"id":""#;

    fn into_id(self) -> String {
        self.thread.id
    }
}

impl MakesId for TurnStartResult {
    const START: &'static str = r#"{"turn":{"id":""#;

    fn into_id(self) -> String {
        self.turn.id
    }
}

/// Result of `thread/loaded/list`.
#[derive(Debug, Deserialize)]
pub struct LoadedThreads {
    /// Ids of the loaded threads.
    pub data: Vec<String>,
}

/// Result of `model/list`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Models {
    /// The models, best first.
    pub data: Vec<Model>,
    /// Where the next page begins, if there is one.
    pub next_cursor: Option<String>,
}

/// A model of the catalog.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Model {
    /// Its slug.
    pub id: String,
    /// Its name for people.
    pub display_name: String,
    /// What it is good for.
    pub description: String,
    /// Whether Codex keeps it out of its own lists.
    pub hidden: bool,
    /// Whether Codex takes it when nobody chooses.
    pub is_default: bool,
    /// Reasoning effort where none is chosen.
    pub default_reasoning_effort: String,
    /// Reasoning efforts to choose from.
    pub supported_reasoning_efforts: Vec<ReasoningEffortOption>,
    /// `text`, `image`, ….
    pub input_modalities: Vec<String>,
}

/// A reasoning effort that a model supports.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReasoningEffortOption {
    /// Its name.
    pub reasoning_effort: String,
}

/// Result of `account/read`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountRead {
    /// Who is signed in.
    pub account: Option<AccountInfo>,
}

/// The fields of an account, whatever its type.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountInfo {
    /// `apiKey`, `chatgpt`, ….
    pub r#type: String,
    /// Of a ChatGPT account.
    pub email: Option<String>,
    /// Of a ChatGPT account.
    pub plan_type: Option<String>,
    /// Of a ChatGPT account.
    pub workspace_name: Option<String>,
}

/// Result of `account/login/start`, whatever its type.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoginStarted {
    /// Names the login until it has ended.
    pub login_id: Option<String>,
    /// The page that starts a login in the browser.
    pub auth_url: Option<String>,
    /// The page that asks for the code.
    pub verification_url: Option<String>,
    /// The code.
    pub user_code: Option<String>,
}

/// `account/login/completed`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoginCompleted {
    /// Which login.
    pub login_id: Option<String>,
    /// Whether somebody is signed in now.
    pub success: bool,
    /// Why not.
    pub error: Option<String>,
}

/// `account/updated`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountUpdated {
    /// `apikey`, `chatgpt`, …, or nothing after a logout.
    pub auth_mode: Option<String>,
    /// Of a ChatGPT account.
    pub plan_type: Option<String>,
}

/// `modelProvider/authRecoveryStarted` and `modelProvider/authRecoveryCompleted`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthRecovery {
    /// What Codex does about it.
    pub message: String,
}

/// Result of `account/rateLimits/read`, and `account/rateLimits/updated`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RateLimitsRead {
    /// The limits of Codex itself.
    pub rate_limits: RateLimitSnapshot,
}

/// How much of an account's allowance is used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RateLimitSnapshot {
    /// Of the short window.
    pub primary: Option<RateLimitWindow>,
    /// Of the long window.
    pub secondary: Option<RateLimitWindow>,
    /// Credits beyond the plan.
    pub credits: Option<CreditsSnapshot>,
    /// The plan.
    pub plan_type: Option<String>,
    /// Which limit is reached, if one is.
    pub rate_limit_reached_type: Option<String>,
}

/// One window of an allowance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RateLimitWindow {
    /// Used part, in percent.
    pub used_percent: i32,
    /// Its length.
    pub window_duration_mins: Option<i64>,
    /// When it begins anew, in seconds since 1970.
    pub resets_at: Option<i64>,
}

/// Credits beyond the plan.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreditsSnapshot {
    /// Whether there are any.
    pub has_credits: bool,
    /// Whether they never end.
    pub unlimited: bool,
    /// How many, as Codex writes it.
    pub balance: Option<String>,
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
    /// What kind of message an agent message is.
    #[serde(borrow)]
    pub phase: Option<Text<'a>>,
}

// === impl ThreadItem ===

impl ThreadItem<'_> {
    pub(crate) fn phase(&self) -> Option<MessagePhase> {
        self.phase.as_ref().and_then(|phase| MessagePhase::named(&phase.0))
    }
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
    /// The item's id.
    #[serde(borrow)]
    pub id: Option<Text<'a>>,
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
    /// Reasoning, written for people.
    pub summary: Option<Vec<SummaryPart>>,
    /// Reasoning that only the upstream can read.
    #[serde(borrow)]
    pub encrypted_content: Option<Text<'a>>,
}

/// A part of a reasoning summary.
#[derive(Debug, Deserialize)]
pub struct SummaryPart {
    /// What it says.
    pub text: Option<String>,
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
    /// The upstream's id of the call; other requests that are read so have none.
    #[serde(borrow)]
    pub call_id: Option<Cow<'a, str>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_id_is_read_wherever_it_stands() {
        for (result, id) in [
            (r#"{"thread":{"id":"t-1","turns":[{"id":"x"}]},"model":"m"}"#, Some("t-1")),
            (r#"{"model":"m","thread":{"preview":"","id":"t-3"}}"#, Some("t-3")),
            (r#"{"thread":{"id":"t\u002d4"}}"#, Some("t-4")),
            (r#"{"turn":{"id":"t-1"}}"#, None),
            (r#"{"thread":{"name":"x"}}"#, None),
            ("null", None),
        ] {
            assert_eq!(ThreadStarted::read_id(result).ok().as_deref(), id, "{result}");
        }
        assert_eq!(TurnStartResult::read_id(r#"{"turn":{"id":"t","items":[]}}"#).unwrap(), "t");
    }
}
