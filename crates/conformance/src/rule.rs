//! The rules: what a server must do, and who breaks where it does not.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::scenario::Unreadable;

/// The name of a rule, which never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the rule's own sentence says what each is")]
pub enum RuleId {
    KeyRefused,
    UnknownPath,
    ModelsList,
    ChatAnswers,
    ChatTolerant,
    ChatLenient,
    ChatToolResults,
    ChatContentType,
    ChatSseFrames,
    ChatRoleFirst,
    ChatEnvelope,
    ChatTextExact,
    ChatTextApart,
    ChatOneCallAFrame,
    ChatCallBeginsOnce,
    ChatCallOrder,
    ChatCallsComplete,
    ChatCallIds,
    ChatDeclaredCalls,
    ChatArgumentsExact,
    ChatNoArguments,
    ChatCustomFrames,
    ChatCustomExact,
    ChatCustomWhole,
    ChatCustomResults,
    ChatHostedTools,
    ChatFinishFrame,
    ChatFinishStop,
    ChatFinishToolCalls,
    ChatFinishLength,
    ChatNothingAfterFinish,
    ChatDoneOnce,
    ChatDoneAfterError,
    ChatInTime,
    ChatUsageAsked,
    ChatUsageUnasked,
    ChatSilence,
    ChatErrorStatus,
    ChatBadRequest,
    ChatErrorFrame,
    ChatFailureIsNoSuccess,
    ChatWholeShape,
    ChatWholeUsage,
    ChatWholeExact,
    ChatSameEitherWay,
    ChatDisconnect,
    ResponsesAnswers,
    ResponsesToolResults,
    ResponsesRepeatedOutput,
    ResponsesContentType,
    ResponsesEventNames,
    ResponsesSequence,
    ResponsesBeginAndEnd,
    ResponsesOneOpenItem,
    ResponsesMessageEvents,
    ResponsesTextExact,
    ResponsesCallEvents,
    ResponsesCallsComplete,
    ResponsesArgumentsExact,
    ResponsesNoArguments,
    ResponsesDeclaredCalls,
    ResponsesCustomEvents,
    ResponsesCustomExact,
    ResponsesCustomWhole,
    ResponsesCustomResults,
    ResponsesHostedTools,
    ResponsesUnknownTools,
    ResponsesRepeatsItems,
    ResponsesUsage,
    ResponsesLength,
    ResponsesInTime,
    ResponsesSilence,
    ResponsesErrorStatus,
    ResponsesBadRequest,
    ResponsesErrorEvent,
    ResponsesErrorEveryForm,
    ResponsesFailureIsNoSuccess,
    ResponsesWholeShape,
    ResponsesWholeExact,
    ResponsesSameEitherWay,
    ResponsesDisconnect,
}

/// How much depends on a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// OpenAI's API keeps it, and clients depend on it.
    Contract,
    /// It spares some clients trouble, but OpenAI's API does not keep it, or clients that break on it
    /// are not known.
    Advice,
}

/// A rule, as `conformance/rules.json` has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Its name.
    pub id: RuleId,
    /// How much depends on it.
    pub level: Level,
    /// What it is about: the heading that it stands under.
    pub group: String,
    /// What must be so.
    pub rule: String,
    /// Which real clients break without it, and how.
    pub breaks: String,
}

/// All rules, in the order in which a report has them.
///
/// # Errors
/// If the data are not as they should be, which a test would have told.
pub fn rules() -> Result<Vec<Rule>, Unreadable> {
    let text = include_str!("../../../conformance/rules.json");
    serde_json::from_str(text).map_err(|source| Unreadable { file: "rules.json", source })
}

// === impl RuleId ===

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl std::str::FromStr for RuleId {
    type Err = serde::de::value::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        use serde::de::IntoDeserializer as _;
        Self::deserialize(text.into_deserializer())
    }
}
