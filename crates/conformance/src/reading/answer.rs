//! What a client has of an answer, whichever way it came.

/// What was said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// Its text.
    pub text: String,
    /// Its calls.
    pub calls: Vec<Call>,
    /// Why it ended, in the words of chat completions: `stop`, `tool_calls`, `length` or others.
    pub finish: Option<String>,
    /// It says that something went wrong, whatever else it says of its end.
    pub has_failed: bool,
}

/// A whole call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Call {
    /// What kind of tool is called.
    pub kind: CallKind,
    /// The id that its result refers to; the legacy form has none.
    pub id: String,
    /// The namespace of the tool.
    pub namespace: Option<String>,
    /// The name of the tool.
    pub name: String,
    /// Of a custom tool, its input.
    pub arguments: String,
}

/// What kind of tool is called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CallKind {
    /// A function, whose arguments are JSON.
    #[default]
    Function,
    /// A custom tool, whose input is any text.
    Custom,
    /// A function, in the form that chat completions had before tools.
    Legacy,
}

/// What a part of a streamed chat completion adds.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// Text of a choice.
    Text(u64, String),
    /// A refusal of a choice.
    Refusal(u64, String),
    /// Reasoning of a choice.
    Reasoning(u64, String),
    /// The beginning of a call of a choice, or more of its arguments.
    Call {
        /// The choice.
        choice: u64,
        /// The place of the call in the choice.
        index: usize,
        /// The call where it begins.
        begun: Option<Call>,
        /// What is added to its arguments.
        arguments: String,
    },
    /// Why a choice ended.
    Finish(u64, String),
    /// The `error` of an error frame.
    Error(serde_json::Value),
    /// What our own server says about the calls.
    Telemetry(super::Telemetry),
}

/// How the body of an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ending {
    /// As HTTP wants it.
    #[default]
    Whole,
    /// The connection broke.
    Broken,
    /// Nothing more came for too long.
    Silent,
    /// It went on for longer than an answer may take.
    TimedOut,
    /// It is longer than what is read of an answer.
    TooLong,
}

// === impl Answer ===

impl Answer {
    /// How it ended, in a word.
    pub fn end_in_words(&self) -> &str {
        match (&self.finish, self.has_failed) {
            (Some(reason), _) => reason,
            (None, true) => "a failure",
            (None, false) => "none",
        }
    }
}

// === impl Ending ===

impl Ending {
    /// What happened.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Whole => "the answer ended",
            Self::Broken => "the connection broke",
            Self::Silent => "nothing more came for too long",
            Self::TimedOut => "the answer had no end within the time limit",
            Self::TooLong => "the answer is longer than what is read of one (4 MiB)",
        }
    }
}
